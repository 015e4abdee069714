#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/coding.h"

// A column of integers as planes of bytes: the differences to the smallest one, in as few bytes as
// the largest of them needs, all lowest bytes first, then all second bytes, and so on. The highest
// plane is alike in itself and compresses; those below it look random. So they are written, and
// lie, apart. Every value is read at once, whatever comes before it.
namespace stele::catalog {

// Appends to each: the smallest value and how many planes there are, the highest plane, the others.
void PutPlanes(const std::vector<std::uint64_t>& values, std::string& head, std::string& high,
               std::string& low);

// The bytes are borrowed.
class PlaneColumn {
 public:
  // The three steps, in this order. What is not there is the reader's error; false when the head
  // makes no sense.
  bool TakeHead(ByteReader& head);
  void TakeHigh(ByteReader& high, std::uint64_t count);
  void TakeLow(ByteReader& low, std::uint64_t count);

  // Requires: i < the count, and no reader had an error. Sums go around at 64 bits.
  std::uint64_t operator[](std::uint64_t i) const {
    if (planes_ == 0) return smallest_;
    std::uint64_t above = static_cast<unsigned char>(high_[i]);
    for (std::size_t plane = planes_ - 1; plane-- > 0;) {
      above = above << 8 | static_cast<unsigned char>(low_[plane * high_.size() + i]);
    }
    return smallest_ + above;
  }

 private:
  std::uint64_t smallest_ = 0;
  std::size_t planes_ = 0;
  std::string_view high_;
  std::string_view low_;
};

}  // namespace stele::catalog
