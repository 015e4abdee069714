#include "util/checksum.h"

#include <xxhash.h>

namespace stele {

std::uint64_t ChecksumOf(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace stele
