#pragma once

#include <cstdint>
#include <string_view>

namespace stele {

// XXH3 with 64 bits: finds accidents of the disk at the speed of memory. No protection against
// people; digests are for that. `seed` makes equal bytes in different places differ.
std::uint64_t ChecksumOf(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace stele
