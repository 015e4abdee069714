#pragma once

#include <array>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>

#include <bit>
#endif

// Byte loops of the tokenizer's hot states, sixteen bytes at a time where the machine can.
namespace stele::html {

// The first byte of [p, end) that is one of kStops, or end.
template <char... kStops>
inline const char* FindFirstOf(const char* p, const char* end) {
#ifdef __SSE2__
  for (; end - p >= 16; p += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    __m128i hit = _mm_setzero_si128();
    ((hit = _mm_or_si128(hit, _mm_cmpeq_epi8(block, _mm_set1_epi8(kStops)))), ...);
    const unsigned mask = static_cast<unsigned>(_mm_movemask_epi8(hit));
    if (mask != 0) return p + std::countr_zero(mask);
  }
#endif
  while (p != end && ((*p != kStops) && ...)) ++p;
  return p;
}

// What a byte means inside a tag.
enum ByteClass : std::uint8_t {
  kSpaceByte = 1,            // tab, LF, FF, CR, space
  kEndsTagName = 2,          // space, '/', '>'
  kEndsAttributeName = 4,    // space, '/', '>', '='
  kEndsUnquotedValue = 8,    // space, '>'
  kReplacedInName = 16,      // A-Z, NUL
  kReplacedInUnquoted = 32,  // '&', NUL
};

constexpr std::array<std::uint8_t, 256> MakeByteClasses() {
  std::array<std::uint8_t, 256> classes{};
  for (const unsigned char space : {'\t', '\n', '\f', '\r', ' '}) {
    classes[space] = kSpaceByte | kEndsTagName | kEndsAttributeName | kEndsUnquotedValue;
  }
  classes['/'] = kEndsTagName | kEndsAttributeName;
  classes['>'] = kEndsTagName | kEndsAttributeName | kEndsUnquotedValue;
  classes['='] = kEndsAttributeName;
  for (int letter = 'A'; letter <= 'Z'; ++letter) classes[letter] = kReplacedInName;
  classes['\0'] = kReplacedInName | kReplacedInUnquoted;
  classes['&'] = kReplacedInUnquoted;
  return classes;
}

inline constexpr std::array<std::uint8_t, 256> kByteClasses = MakeByteClasses();

inline std::uint8_t ClassOf(char c) { return kByteClasses[static_cast<unsigned char>(c)]; }
inline bool IsHtmlSpace(char c) { return (ClassOf(c) & kSpaceByte) != 0; }

}  // namespace stele::html
