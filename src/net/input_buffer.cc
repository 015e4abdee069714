#include "net/input_buffer.h"

#include <algorithm>
#include <cstring>

namespace stele::net {

std::span<char> InputBuffer::Room(std::size_t size_min) {
  if (empty()) Clear();
  if (capacity_ - end_ < size_min) {
    const std::size_t held = end_ - begin_;
    if (begin_ >= held && capacity_ - held >= size_min) {
      // Moving at most as much as was consumed keeps the work linear.
      std::memmove(data_.get(), data_.get() + begin_, held);
    } else {
      const std::size_t capacity = std::max(2 * held, held + size_min);
      std::unique_ptr<char[]> larger(new char[capacity]);
      if (held > 0) std::memcpy(larger.get(), data_.get() + begin_, held);
      data_ = std::move(larger);
      capacity_ = capacity;
    }
    begin_ = 0;
    end_ = held;
  }
  return {data_.get() + end_, capacity_ - end_};
}

void InputBuffer::Shrink(std::size_t size) {
  if (capacity_ <= size) return;
  data_.reset();
  capacity_ = begin_ = end_ = 0;
}

}  // namespace stele::net
