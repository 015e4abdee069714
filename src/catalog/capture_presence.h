#pragma once

#include <algorithm>
#include <cstdint>

#include "catalog/capture.h"
#include "util/coding.h"

// The flags of a capture as files have them: with bits for what is there at all.
namespace stele::catalog {

inline constexpr std::uint32_t kFlagsMask = 0xFF;
inline constexpr std::uint32_t kHasText = 1 << 8;
inline constexpr std::uint32_t kHasSha256 = 1 << 9;
inline constexpr std::uint32_t kHasSha1 = 1 << 10;
inline constexpr std::uint32_t kHasKey = 1 << 11;
inline constexpr std::uint32_t kStoredFlagsMask = 0xFFF;

inline std::uint32_t StoredFlags(const Capture& capture) {
  return (capture.flags & kFlagsMask) | (capture.text_digest != 0 ? kHasText : 0) |
         (capture.sha256 ? kHasSha256 : 0) | (capture.sha1 ? kHasSha1 : 0) |
         (capture.key.empty() ? 0 : kHasKey);
}

// An array of bytes from the front; of zeros when they are not there.
template <typename Array>
Array BytesOf(ByteReader& reader) {
  Array array = {};
  const std::string_view bytes = reader.Bytes(array.size());
  std::copy(bytes.begin(), bytes.end(), array.begin());
  return array;
}

}  // namespace stele::catalog
