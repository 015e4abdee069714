#include "io/random.h"

#include <sys/random.h>

#include "util/check.h"

namespace stele::io {

std::uint64_t SystemRandom::Next() {
  if (left_ == 0) {
    // Requests of up to 256 bytes are never cut short.
    static_assert(sizeof values_ <= 256);
    Check(::getrandom(values_.data(), sizeof values_, 0) == static_cast<ssize_t>(sizeof values_));
    left_ = values_.size();
  }
  return values_[--left_];
}

std::string NewUuid(Random& random) {
  const std::uint64_t high = (random.Next() & ~0xf000ULL) | 0x4000ULL;
  const std::uint64_t low = (random.Next() & ~(3ULL << 62)) | 2ULL << 62;
  std::string uuid = "00000000-0000-0000-0000-000000000000";
  int shift = 124;
  for (char& c : uuid) {
    if (c == '-') continue;
    c = "0123456789abcdef"[(shift >= 64 ? high >> (shift - 64) : low >> shift) & 0xf];
    shift -= 4;
  }
  return uuid;
}

}  // namespace stele::io
