#include "util/base_encoding.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "util/ascii.h"

namespace stele {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Bits are taken from the left, `width` at a time; the last digit is filled with zero bits.
std::string Encode(std::string_view bytes, std::string_view digits, int width) {
  std::string text;
  text.reserve(bytes.size() * 8 / static_cast<std::size_t>(width) + 1);
  std::uint32_t pending = 0;
  int bits = 0;
  for (const char byte : bytes) {
    pending = pending << 8 | static_cast<std::uint8_t>(byte);
    bits += 8;
    while (bits >= width) {
      bits -= width;
      text += digits[pending >> bits & ((1u << width) - 1)];
    }
  }
  if (bits > 0) text += digits[pending << (width - bits) & ((1u << width) - 1)];
  return text;
}

std::optional<std::string> Decode(std::string_view text, std::string_view digits, int width,
                                  bool ignore_case) {
  std::array<std::int8_t, 256> value;
  value.fill(-1);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    value[static_cast<std::uint8_t>(digits[i])] = static_cast<std::int8_t>(i);
    if (ignore_case) {
      value[static_cast<std::uint8_t>(ToAsciiLower(digits[i]))] = static_cast<std::int8_t>(i);
      value[static_cast<std::uint8_t>(ToAsciiUpper(digits[i]))] = static_cast<std::int8_t>(i);
    }
  }
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() * static_cast<std::size_t>(width) / 8);
  std::uint32_t pending = 0;
  int bits = 0;
  for (const char c : text) {
    const int digit = value[static_cast<std::uint8_t>(c)];
    if (digit < 0) return std::nullopt;
    pending = pending << width | static_cast<std::uint32_t>(digit);
    bits += width;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(pending >> bits);
    }
  }
  if (bits >= width) return std::nullopt;  // a digit too many
  return bytes;
}

}  // namespace

std::string HexEncode(std::string_view bytes) { return Encode(bytes, kHex, 4); }
std::optional<std::string> HexDecode(std::string_view text) {
  return Decode(text, kHex, 4, /*ignore_case=*/true);
}

std::string Base32Encode(std::string_view bytes) { return Encode(bytes, kBase32, 5); }
std::optional<std::string> Base32Decode(std::string_view text) {
  return Decode(text, kBase32, 5, /*ignore_case=*/true);
}

std::string Base64Encode(std::string_view bytes) {
  std::string text = Encode(bytes, kBase64, 6);
  while (text.size() % 4 != 0) text += '=';
  return text;
}
std::optional<std::string> Base64Decode(std::string_view text) {
  std::string standard(text);
  std::replace(standard.begin(), standard.end(), '-', '+');
  std::replace(standard.begin(), standard.end(), '_', '/');
  return Decode(standard, kBase64, 6, /*ignore_case=*/false);
}

}  // namespace stele
