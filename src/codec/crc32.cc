// With Z(c, n) for what a checksum c becomes when n zero bytes follow, crc(AB) is Z(crc(A), |B|)
// xor crc(B). So crc(BC) of three parts gives crc(B) when Z is undone for C, which is a shift of
// the register the other way.
#include "codec/crc32.h"

#include <libdeflate.h>
#include <zlib.h>

namespace stele::codec {
namespace {

constexpr std::uint32_t kPolynomial = 0xedb88320;  // its bits mirrored, as in the register

std::uint32_t WithoutFourZeroBytes(std::uint32_t crc) {
  for (int bit = 0; bit < 32; ++bit) {
    const bool carried = crc >> 31 != 0;
    crc = carried ? (crc ^ kPolynomial) << 1 | 1 : crc << 1;
  }
  return crc;
}

}  // namespace

std::uint32_t Crc32(std::uint32_t crc, std::string_view piece) {
  return libdeflate_crc32(crc, piece.data(), piece.size());
}

std::uint32_t Crc32OfBoth(std::uint32_t first, std::uint32_t second, std::uint64_t second_size) {
  return static_cast<std::uint32_t>(
      crc32_combine(first, second, static_cast<z_off_t>(second_size)));
}

std::uint32_t Crc32OfMiddle(std::uint32_t whole, std::uint32_t first, std::uint64_t middle_size,
                            std::uint32_t last) {
  const std::uint32_t front = WithoutFourZeroBytes(whole ^ last);
  return front ^
         static_cast<std::uint32_t>(crc32_combine(first, 0, static_cast<z_off_t>(middle_size)));
}

}  // namespace stele::codec
