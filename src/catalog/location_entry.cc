#include "catalog/location_entry.h"

#include <limits>

#include "util/base_encoding.h"
#include "util/digest.h"

namespace stele::catalog {
namespace {

constexpr std::size_t kSuffixSize = 1 + 8 + 4 + 4;  // '\0', time, batch, serial

void PutBigEndian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out += static_cast<char>(value >> shift);
  }
}

std::uint64_t BigEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

// Turned so that times sort as unsigned numbers.
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint32_t kMost = 0xFFFF'FFFF;

}  // namespace

std::string LocationKey(std::string_view sort_key) {
  if (sort_key.size() <= kLocationKeyMax) return std::string(sort_key);
  const Digest digest = DigestOf(DigestAlgorithm::kSha256, sort_key);
  std::string key(sort_key.substr(0, kLocationKeyKept));
  key += '~';
  key += HexEncode(digest.bytes().substr(0, 16));
  return key;
}

std::string EncodePosition(const LocationEntry& entry) {
  std::string bytes;
  bytes.reserve(entry.key.size() + kSuffixSize);
  bytes += entry.key;
  bytes += '\0';
  PutBigEndian(bytes, static_cast<std::uint64_t>(entry.time.milliseconds) ^ kSign, 8);
  PutBigEndian(bytes, entry.id.batch, 4);
  PutBigEndian(bytes, entry.id.serial, 4);
  return bytes;
}

bool DecodePosition(std::string_view bytes, LocationEntry& entry) {
  if (bytes.size() < kSuffixSize) return false;
  entry.key = bytes.substr(0, bytes.size() - kSuffixSize);
  const std::string_view suffix = bytes.substr(entry.key.size());
  entry.time.milliseconds = static_cast<std::int64_t>(BigEndian(suffix.substr(1, 8)) ^ kSign);
  entry.id.batch = static_cast<std::uint32_t>(BigEndian(suffix.substr(9, 4)));
  entry.id.serial = static_cast<std::uint32_t>(BigEndian(suffix.substr(13, 4)));
  return suffix[0] == '\0';
}

LocationEntry FirstOf(std::string_view key) {
  return {key, {std::numeric_limits<std::int64_t>::min()}, {0, 0}};
}

LocationEntry LastOf(std::string_view key) {
  return {key, {std::numeric_limits<std::int64_t>::max()}, {kMost, kMost}};
}

bool StepBack(LocationEntry& entry) {
  if (entry == FirstOf(entry.key)) return false;
  if (entry.id.serial-- != 0) return true;
  if (entry.id.batch-- != 0) return true;
  --entry.time.milliseconds;
  return true;
}

}  // namespace stele::catalog
