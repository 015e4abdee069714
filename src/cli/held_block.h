#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "io/file_system.h"
#include "util/result.h"

namespace stele::cli {

// The block of one record, kept until all of it has been seen: whether it is whole, how long it is
// and which digests it has is known only then, and must be known before its head is written. Small
// blocks are kept in memory, larger ones in a temporary file. Not thread-safe. Borrows `fs`.
class HeldBlock {
 public:
  static constexpr std::size_t kMemoryBytesMax = 4 << 20;

  // The temporary file is `spill_path`; it is made when first needed and goes away with the object.
  HeldBlock(io::FileSystem& fs, std::string spill_path, std::size_t memory_max = kMemoryBytesMax);
  ~HeldBlock();
  HeldBlock(const HeldBlock&) = delete;
  HeldBlock& operator=(const HeldBlock&) = delete;

  // Empty again, for the next record.
  void Clear();
  Status Append(std::string_view piece);
  std::uint64_t size() const { return size_; }
  bool in_memory() const { return file_ == nullptr; }

  // Gives all bytes from `from` on to `take`, piece by piece, until it fails. Errors: those of
  // `take` and of reading the temporary file.
  using Take = std::function<Status(std::string_view)>;
  Status ForEach(const Take& take, std::uint64_t from = 0) const;

 private:
  Status Spill();

  io::FileSystem& fs_;
  const std::string spill_path_;
  const std::size_t memory_max_;
  std::string memory_;  // all of the block; of a larger one, what is not yet in the file
  std::unique_ptr<io::WritableFile> file_;
  std::uint64_t size_ = 0;
};

}  // namespace stele::cli
