#pragma once

#include <cstdint>
#include <string_view>

// The checksum of gzip.
namespace stele::codec {

// Of bytes that come in pieces: 0 first, then what the piece before gave.
std::uint32_t Crc32(std::uint32_t crc, std::string_view piece);

// Of two parts after each other, of which the second has `second_size` bytes, by those of each.
std::uint32_t Crc32OfBoth(std::uint32_t first, std::uint32_t second, std::uint64_t second_size);

// Of the middle of three parts, which has `middle_size` bytes, where those of the whole and of the
// other two are known. Nothing is read: the checksum is linear. Requires: `last` has four bytes.
std::uint32_t Crc32OfMiddle(std::uint32_t whole, std::uint32_t first, std::uint64_t middle_size,
                            std::uint32_t last);

}  // namespace stele::codec
