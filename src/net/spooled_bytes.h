#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/file_system.h"
#include "io/stream.h"
#include "util/result.h"

namespace stele::net {

// Bytes that came over the network: in memory while they are few, the rest in a file without a
// name, which is gone with them. Moves, does not copy. Complete once it is handed out: any number
// of threads may read it.
class SpooledBytes {
 public:
  SpooledBytes() = default;
  explicit SpooledBytes(std::string bytes) : memory_(std::move(bytes)) {}
  SpooledBytes(std::string first, std::unique_ptr<io::ReadableFile> rest, std::uint64_t rest_size)
      : memory_(std::move(first)), file_(std::move(rest)), file_size_(rest_size) {}

  std::uint64_t size() const { return memory_.size() + file_size_; }
  bool empty() const { return size() == 0; }

  // All of them, where no file was needed.
  std::optional<std::string_view> InMemory() const {
    if (file_ != nullptr) return std::nullopt;
    return std::string_view(memory_);
  }
  // The first bytes, those in memory.
  std::string_view front() const { return memory_; }

  // Fills `out`; fewer bytes only at the end. Errors: kIo.
  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const;
  // From `offset` to `end`, or to the end. Borrows this.
  std::unique_ptr<io::Source> Open(std::uint64_t offset = 0, std::uint64_t end = UINT64_MAX) const;

 private:
  std::string memory_;
  std::unique_ptr<io::ReadableFile> file_;  // what comes after `memory_`
  std::uint64_t file_size_ = 0;
};

}  // namespace stele::net
