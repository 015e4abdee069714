#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

// Percent-encoding with the named sets of the WHATWG URL standard. Bytes above 126 belong to every
// set, so text that is not UTF-8 survives as %XX of the very bytes it had.
namespace stele::url {

enum class EncodeSet : std::uint8_t {
  kC0Control = 1,
  kFragment = 2,
  kQuery = 4,
  kSpecialQuery = 8,
  kPath = 16,
  kUserinfo = 32,
};

namespace internal {

// One table of 256 bytes answers every membership question: a bit for each percent-encode set and
// one for each kind of forbidden host byte.
inline constexpr std::uint8_t kForbiddenHost = 64;
inline constexpr std::uint8_t kForbiddenDomain = 128;

constexpr std::array<std::uint8_t, 256> MakeByteTable() {
  std::array<std::uint8_t, 256> table{};
  auto add = [&table](std::string_view bytes, unsigned bits) {
    for (char c : bytes) {
      auto& entry = table[static_cast<unsigned char>(c)];
      entry = static_cast<std::uint8_t>(entry | bits);
    }
  };
  constexpr unsigned kEverySet = 1 | 2 | 4 | 8 | 16 | 32;
  for (unsigned c = 0; c < 256; ++c) {
    if (c < 0x20 || c > 0x7E) table[c] = kEverySet;
    if (c < 0x20 || c == 0x7F) table[c] |= kForbiddenDomain;
  }
  add(" \"<>`", 2);                // fragment
  add(" \"#<>", 4 | 8 | 16 | 32);  // query, and all sets built upon it
  add("'", 8);                     // special-query
  add("?^`{}", 16 | 32);           // path, userinfo
  add("/:;=@[\\]|", 32);           // userinfo
  constexpr std::string_view kHostBytes{"\0\t\n\r #/:<>?@[\\]^|", 17};
  add(kHostBytes, kForbiddenHost | kForbiddenDomain);
  add("%", kForbiddenDomain);
  return table;
}

inline constexpr std::array<std::uint8_t, 256> kByteTable = MakeByteTable();

constexpr bool HasBit(char byte, std::uint8_t bit) {
  return (kByteTable[static_cast<unsigned char>(byte)] & bit) != 0;
}

}  // namespace internal

// True where `byte` must be written as %XX within `set`.
constexpr bool NeedsEncoding(char byte, EncodeSet set) {
  return internal::HasBit(byte, static_cast<std::uint8_t>(set));
}

// What may not stand in an opaque host, and what may not stand in a domain.
constexpr bool IsForbiddenInHost(char byte) {
  return internal::HasBit(byte, internal::kForbiddenHost);
}
constexpr bool IsForbiddenInDomain(char byte) {
  return internal::HasBit(byte, internal::kForbiddenDomain);
}

// Hexadecimal digits come out in upper case; '%' itself is left alone.
void AppendPercentEncoded(std::string& out, std::string_view text, EncodeSet set);

// One pass. A '%' without two hexadecimal digits after it stays.
std::string PercentDecode(std::string_view text);

}  // namespace stele::url
