#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace stele::net {

// Bytes that came from a connection and were not yet used.
class InputBuffer {
 public:
  // Room for at least `size_min` more bytes. May move what is held.
  std::span<char> Room(std::size_t size_min);
  void Added(std::size_t size) { end_ += size; }
  void Consume(std::size_t size) { begin_ += size; }
  void Clear() { begin_ = end_ = 0; }
  // Gives memory beyond `size` back. Requires: nothing is held.
  void Shrink(std::size_t size);

  std::string_view view() const { return {data_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace stele::net
