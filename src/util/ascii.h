#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// ASCII as protocols use it: no locale, bytes above 127 are left alone.
namespace stele {

constexpr bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsAsciiUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsAsciiLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsAsciiAlpha(char c) { return IsAsciiUpper(c) || IsAsciiLower(c); }
constexpr bool IsAsciiAlnum(char c) { return IsAsciiAlpha(c) || IsAsciiDigit(c); }
constexpr bool IsAsciiHexDigit(char c) {
  return IsAsciiDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
// Space, tab, line feed, vertical tab, form feed, carriage return.
constexpr bool IsAsciiSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr char ToAsciiLower(char c) { return IsAsciiUpper(c) ? static_cast<char>(c | 0x20) : c; }
constexpr char ToAsciiUpper(char c) { return IsAsciiLower(c) ? static_cast<char>(c & ~0x20) : c; }

// The value of a hexadecimal digit, or -1.
constexpr int HexValue(char c) {
  if (IsAsciiDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string AsciiLower(std::string_view text);
bool EqualsIgnoreCase(std::string_view a, std::string_view b);
bool StartsWithIgnoreCase(std::string_view text, std::string_view prefix);

// Both ends, all of IsAsciiSpace.
std::string_view TrimSpace(std::string_view text);

// "a,,b" by ',' is {"a", "", "b"}; "" is {""}. The views point into `text`.
std::vector<std::string_view> Split(std::string_view text, char separator);

// Decimal digits only, all of them; nothing for "", signs, spaces or overflow.
std::optional<std::uint64_t> ParseDecimal(std::string_view digits);

}  // namespace stele
