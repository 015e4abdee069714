#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "util/ascii.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace stele::html {

// What CopyWords() makes of a byte: white space becomes a space.
struct FoldSpace {
  char operator()(char c) const { return IsAsciiSpace(c) ? ' ' : c; }
#ifdef __SSE2__
  __m128i operator()(__m128i bytes) const {
    // Signed comparison: bytes of 128 and above are below '\t'.
    const __m128i control = _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8('\t' - 1)),
                                          _mm_cmplt_epi8(bytes, _mm_set1_epi8('\r' + 1)));
    return _mm_or_si128(_mm_andnot_si128(control, bytes),
                        _mm_and_si128(control, _mm_set1_epi8(' ')));
  }
#endif
};

// Letters and digits of ASCII, letters in lower case; all else becomes a space. Requires: ASCII.
struct FoldAsciiWord {
  char operator()(char c) const {
    const char lower = ToAsciiLower(c);
    return IsAsciiLower(lower) || IsAsciiDigit(lower) ? lower : ' ';
  }
#ifdef __SSE2__
  __m128i operator()(__m128i bytes) const {
    const auto between = [](__m128i value, char first, char last) {
      return _mm_and_si128(_mm_cmpgt_epi8(value, _mm_set1_epi8(static_cast<char>(first - 1))),
                           _mm_cmplt_epi8(value, _mm_set1_epi8(static_cast<char>(last + 1))));
    };
    const __m128i space = _mm_set1_epi8(' ');
    const __m128i lower = _mm_or_si128(bytes, space);  // also of digits, which have that bit
    const __m128i keeps = _mm_or_si128(between(lower, 'a', 'z'), between(bytes, '0', '9'));
    return _mm_or_si128(_mm_and_si128(keeps, lower), _mm_andnot_si128(keeps, space));
  }
#endif
};

// Copies `text` to `to`, where there is room for all of it: each byte as `fold` makes it, and of
// spaces that follow each other, or one that stands before (`after_space`), only the first. Returns
// the end. Sixteen bytes go over at a time, up to where a space is too much.
template <typename Fold>
char* CopyWords(std::string_view text, bool after_space, char* to, const Fold& fold) {
#ifdef __SSE2__
  constexpr std::size_t kGroup = 16;
  while (text.size() >= kGroup) {
    const __m128i folded = fold(_mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data())));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), folded);
    const auto spaces =
        static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(folded, _mm_set1_epi8(' '))));
    const std::uint32_t too_many = spaces & (spaces << 1 | (after_space ? 1 : 0));
    if (too_many == 0) {
      to += kGroup;
      text.remove_prefix(kGroup);
      after_space = (spaces >> (kGroup - 1) & 1) != 0;
      continue;
    }
    const auto kept = static_cast<std::size_t>(std::countr_zero(too_many));
    to += kept;
    text.remove_prefix(kept + static_cast<std::size_t>(std::countr_one(spaces >> kept)));
    after_space = true;
  }
#endif
  for (const char c : text) {
    const char folded = fold(c);
    *to = folded;
    to += static_cast<int>(folded != ' ') | static_cast<int>(!after_space);
    after_space = folded == ' ';
  }
  return to;
}

}  // namespace stele::html
