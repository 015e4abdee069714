#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "archive/container_rows.h"
#include "formats/archive_file/archive_file.h"
#include "util/result.h"

namespace stele::archive {

struct ScanOptions {
  // Where in the container its records begin, when it is in a part of it.
  std::uint64_t base = 0;
  // Told where in the file we are, now and then.
  std::function<void(std::uint64_t position)> progress;
  // Whether what was captured at this URL and time is a page. Empty: that is judged by what request
  // and crawler's notes say, else HTML with status 200 is one.
  std::function<bool(std::string_view url, Timestamp time)> is_page;
  // SHA-256 of the only payload that there is, where it is known and need not be computed.
  std::optional<catalog::Sha256Bytes> payload_sha256 = {};
  // Archive files in a WACZ file that are passed over.
  std::set<std::string> left_out = {};
  // Asked when all was read, before rows get their name; its error leaves those that were there.
  std::function<Status(ContainerSummary& summary)> check;
};

// Reads an archive file of any format from begin to end and writes down what is in it; `rows` is
// not finished, and `summary` is added to. Damaged places are in the summary's losses. Computes
// SHA-256 of every payload, and SHA-1 where the record claims no digest that index files use.
// Bounded memory. Errors: kIo, and those of `rows`.
Status ScanContainer(archive_file::ArchiveFile& file, const ScanOptions& options,
                     ContainerRowsSink& rows, ContainerSummary& summary);

// The same for the file at `path`, with rows that are durable at `rows_path`. In a WACZ file all
// archive files are read, and its own list says which captures are pages. Rows that were there stay
// until the new ones are whole. Errors: also those of opening the file.
Result<ContainerSummary> WriteContainerRows(io::FileSystem& fs, const std::string& path,
                                            const ScanOptions& options,
                                            const std::string& rows_path);

}  // namespace stele::archive
