#include "io/random.h"

#include <fmt/format.h>
#include <sys/random.h>

#include "util/check.h"

namespace stele::io {

std::uint64_t SystemRandom::Next() {
  std::uint64_t value = 0;
  // Requests of up to 256 bytes are never cut short.
  Check(::getrandom(&value, sizeof value, 0) == static_cast<ssize_t>(sizeof value));
  return value;
}

std::string NewUuid(Random& random) {
  const std::uint64_t high = (random.Next() & ~0xf000ULL) | 0x4000ULL;
  const std::uint64_t low = (random.Next() & ~(3ULL << 62)) | 2ULL << 62;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffffULL);
}

}  // namespace stele::io
