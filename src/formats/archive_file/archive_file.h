#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "formats/record/record_reader.h"
#include "io/file_system.h"
#include "io/stream.h"
#include "util/result.h"

namespace stele::archive_file {

// An archive file of any format and compression, open for reading.
class ArchiveFile {
 public:
  // The file at `path`; "-" is standard input. Errors: those of opening it; kInvalid when it holds
  // nothing that we could read: the text says what it seems to be instead. A file whose begin is
  // damaged is opened when a record can be found further on.
  static Result<std::unique_ptr<ArchiveFile>> Open(io::FileSystem& fs, const std::string& path);
  // The same for bytes from elsewhere; `name` is for messages.
  static Result<std::unique_ptr<ArchiveFile>> Open(std::unique_ptr<io::Source> source,
                                                   std::string_view name);

  record::RecordReader& reader() { return *reader_; }
  // In bytes; nothing for pipes.
  std::optional<std::uint64_t> size() const { return size_; }
  // No byte at all, also where it is compressed: an archive file without records.
  bool empty() const { return empty_; }

 private:
  ArchiveFile() = default;

  std::unique_ptr<io::Source> source_;
  std::unique_ptr<record::RecordReader> reader_;
  std::optional<std::uint64_t> size_;
  bool empty_ = false;
};

}  // namespace stele::archive_file
