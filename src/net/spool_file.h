#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/file_system.h"
#include "util/result.h"

namespace stele::net {

// A file that loses its name as soon as it is there: it is gone with whoever has it open, also when
// the process is killed. May wait. Not thread-safe.
class SpoolFile {
 public:
  static Result<std::unique_ptr<SpoolFile>> Make(io::FileSystem& fs, const std::string& path);

  Status Append(std::string_view bytes);
  std::uint64_t size() const { return size_; }
  std::unique_ptr<io::ReadableFile> TakeReader() { return std::move(reader_); }

 private:
  SpoolFile(std::unique_ptr<io::WritableFile> writer, std::unique_ptr<io::ReadableFile> reader)
      : writer_(std::move(writer)), reader_(std::move(reader)) {}

  std::unique_ptr<io::WritableFile> writer_;
  std::unique_ptr<io::ReadableFile> reader_;
  std::uint64_t size_ = 0;
};

}  // namespace stele::net
