#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "util/check.h"

namespace stele::codec {

// Bytes whose memory is reused from one stream to the next and never filled with zeros, which is
// what std::string does on each resize. Moves, does not copy.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept
      : bytes_(std::move(other.bytes_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  char* data() { return bytes_.get(); }
  const char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::string_view view() const { return {bytes_.get(), size_}; }

  // Keeps the memory.
  void Clear() { size_ = 0; }

  // Bytes beyond the former size are whatever the memory held. Requires: size <= capacity().
  void SetSize(std::size_t size) {
    Check(size <= capacity_);
    size_ = size;
  }

  // Room for at least `capacity` bytes. Keeps the size() bytes there are.
  void Reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(bytes.get(), bytes_.get(), size_);
    bytes_ = std::move(bytes);
    capacity_ = capacity;
  }

  // Grows by doubling.
  void Append(std::string_view more) {
    if (more.empty()) return;
    if (more.size() > capacity_ - size_) Reserve(std::max(size_ + more.size(), 2 * capacity_));
    std::memcpy(bytes_.get() + size_, more.data(), more.size());
    size_ += more.size();
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace stele::codec
