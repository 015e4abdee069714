// A log is a row of blocks of 32 KiB, and a record is one or more fragments, none of which crosses
// the border of a block:
//
//   4 bytes  masked CRC-32C of type and payload, little-endian
//   2 bytes  length of the payload, little-endian
//   1 byte   type: 1 the whole record, 2 its first fragment, 3 one in the middle, 4 the last
//            0 with length 0: nothing follows in this block
//
// Where a fragment cannot be read, its length cannot be believed either. The next record is then
// looked for at every byte of the block.
#include "store/rocks_log.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace stele::store {
namespace {

constexpr std::size_t kBlockBytes = 32 << 10;
constexpr std::size_t kHeaderBytes = 7;
constexpr std::uint32_t kMaskDelta = 0xa282ead8;

constexpr std::array<std::uint32_t, 256> MakeCrcTable() {
  std::array<std::uint32_t, 256> table = {};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78U : 0U);
    }
    table[i] = value;
  }
  return table;
}

std::uint32_t MaskedCrc32c(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = MakeCrcTable();
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + kMaskDelta;
}

std::uint32_t NumberAt(std::string_view bytes, std::size_t offset, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[offset + i])) << (8 * i);
  }
  return number;
}

enum class Fragment { kBad, kBegin, kFurther, kPadding };

// What stands at the begin of `bytes`, the rest of a block; its size comes back in `size`.
Fragment ReadFragment(std::string_view bytes, std::size_t& size) {
  const std::uint32_t length = NumberAt(bytes, 4, 2);
  const int type = bytes[6];
  size = kHeaderBytes + length;
  if (type == 0 && length == 0) return Fragment::kPadding;
  if (type < 1 || type > 4 || size > bytes.size()) return Fragment::kBad;
  if (NumberAt(bytes, 0, 4) != MaskedCrc32c(bytes.substr(6, length + 1))) return Fragment::kBad;
  return type <= 2 ? Fragment::kBegin : Fragment::kFurther;
}

// What is known of a log up to some place.
struct Reading {
  bool damaged = false;
  std::size_t readable_bytes = 0;  // up to the damage
};

// Does a record begin behind damage? `reading` is of the log before this block, which begins at
// `offset`.
bool BeginsBehindDamage(std::string_view block, std::size_t offset, Reading& reading) {
  const std::size_t end = offset + block.size();
  bool& damaged = reading.damaged;
  while (block.size() >= kHeaderBytes) {
    std::size_t size = 0;
    const Fragment fragment = ReadFragment(block, size);
    if (fragment == Fragment::kPadding && !damaged) return false;
    if (fragment == Fragment::kBegin && damaged) return true;
    const bool is_whole = fragment == Fragment::kBegin || fragment == Fragment::kFurther;
    damaged = damaged || fragment == Fragment::kBad;
    block.remove_prefix(is_whole ? size : 1);
    if (is_whole && !damaged) reading.readable_bytes = end - block.size();
  }
  return false;
}

}  // namespace

bool OnlyTheEndIsDamaged(std::span<const std::string> logs) {
  Reading reading;
  for (const std::string_view log : logs) {
    for (std::size_t at = 0; at < log.size(); at += kBlockBytes) {
      if (BeginsBehindDamage(log.substr(at, kBlockBytes), at, reading)) return false;
    }
  }
  return reading.damaged;
}

std::size_t ReadableBytes(std::string_view log) {
  Reading reading;
  for (std::size_t at = 0; at < log.size() && !reading.damaged; at += kBlockBytes) {
    BeginsBehindDamage(log.substr(at, kBlockBytes), at, reading);
  }
  return reading.readable_bytes;
}

}  // namespace stele::store
