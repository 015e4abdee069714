#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stele::html {

// Copies `text` to `to`, where there is room for all of it: each byte as fold() makes it, and of
// spaces that follow each other, or one that stands before (`after_space`), only the first. Returns
// the end. Most groups of eight bytes have no two spaces side by side and go over whole; in the
// others nothing branches, since where words end cannot be foreseen.
template <typename Fold>
char* CopyWords(std::string_view text, bool after_space, char* to, const Fold& fold) {
  constexpr std::size_t kGroup = 8;
  constexpr std::uint64_t kSpaces = 0x2020202020202020;
  constexpr std::uint64_t kLow = 0x7F7F7F7F7F7F7F7F;
  const auto copy_one = [&](char folded) {
    *to = folded;
    to += static_cast<int>(folded != ' ') | static_cast<int>(!after_space);
    after_space = folded == ' ';
  };
  std::array<char, kGroup> group;
  while (std::endian::native == std::endian::little && text.size() >= kGroup) {
    for (std::size_t i = 0; i < kGroup; ++i) group[i] = fold(text[i]);
    text.remove_prefix(kGroup);
    const std::uint64_t apart = std::bit_cast<std::uint64_t>(group) ^ kSpaces;
    const std::uint64_t spaces = ~(((apart & kLow) + kLow) | apart | kLow);  // the high bit of each
    if ((spaces & (spaces << 8 | (after_space ? 0x80 : 0))) != 0) {
      for (const char folded : group) copy_one(folded);
      continue;
    }
    std::memcpy(to, group.data(), kGroup);
    to += kGroup;
    after_space = spaces >> 63 != 0;
  }
  for (const char c : text) copy_one(fold(c));
  return to;
}

}  // namespace stele::html
