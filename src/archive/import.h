#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "archive/archive_writer.h"
#include "io/stream.h"

namespace stele::archive {

struct ImportOptions {
  bool in_place = false;  // the file stays where it is, and must not change or go away
  bool again = false;     // also a file that was here, and of which something was purged
  // Of the file that this one was made from, in hexadecimal digits; empty: of none.
  std::string origin_sha256;
  // Told how many more bytes of the file were worked on: each byte twice, once when it is copied
  // and once when it is read.
  std::function<void(std::uint64_t bytes)> progress;
};

struct ImportOutcome {
  bool is_new = false;       // false: the archive has a file with the same bytes, `known`
  Container container;       // the new one, or that one
  ContainerSummary summary;  // of a new one
  // What a new WACZ file says of itself, and is not so.
  std::vector<std::string> complaints;
};

// That a file has no record, and what to do. kInvalid.
Error EmptyFile(const std::string& path);

// Brings an archive file of any format into the archive, bit for bit and under its name. `path` may
// be "-", the standard input. Archive files in a WACZ file that are here are not listed again. An
// error leaves the archive as it was. Safe to call from several threads. Errors: those of reading
// it; kInvalid when it is no archive file, or has no record, or was here and something was purged
// of it; those of ArchiveWriter::Add().
Result<ImportOutcome> ImportFile(ArchiveWriter& archive, std::uint32_t run, const std::string& path,
                                 const ImportOptions& options);

}  // namespace stele::archive
