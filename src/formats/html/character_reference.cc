#include "formats/html/character_reference.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

#include "util/ascii.h"
#include "util/check.h"

// Names are found by walking a trie of all names, generated at build time from the table of
// Python's standard library (see generate_entities.py) rather than checked in, because nobody would
// review ten thousand numbers. The last node on the way that ends a name is the longest match.
namespace stele::html {
namespace {

struct TrieNode {
  std::uint16_t first_child;
  std::uint16_t entity;  // index into kEntityTexts, 0 where no name ends
  std::uint8_t child_count;
};

struct EntityText {
  std::uint8_t length;
  char utf8[6];
};

#include "formats/html/entity_table.inc"

constexpr std::uint32_t kReplacement = 0xFFFD;
constexpr std::uint32_t kBeyondUnicode = 0x110000;

// What the numbers 128 to 159 mean: the characters that windows-1252 has there.
constexpr std::uint16_t kWindows1252[32] = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

std::uint32_t MeantCodePoint(std::uint32_t number) {
  if (number == 0 || number >= kBeyondUnicode) return kReplacement;
  if (number >= 0xD800 && number <= 0xDFFF) return kReplacement;
  if (number >= 0x80 && number <= 0x9F) return kWindows1252[number - 0x80];
  return number;
}

void SetUtf8(std::uint32_t code_point, ReferenceMatch& match) {
  const auto continuation = [code_point](int shift) {
    return static_cast<char>(0x80 | ((code_point >> shift) & 0x3F));
  };
  if (code_point < 0x80) {
    match.utf8 = {static_cast<char>(code_point)};
    match.utf8_length = 1;
  } else if (code_point < 0x800) {
    match.utf8 = {static_cast<char>(0xC0 | (code_point >> 6)), continuation(0)};
    match.utf8_length = 2;
  } else if (code_point < 0x10000) {
    match.utf8 = {static_cast<char>(0xE0 | (code_point >> 12)), continuation(6), continuation(0)};
    match.utf8_length = 3;
  } else {
    match.utf8 = {static_cast<char>(0xF0 | (code_point >> 18)), continuation(12), continuation(6),
                  continuation(0)};
    match.utf8_length = 4;
  }
}

struct Number {
  bool hex = false;
  bool has_digits = false;
  std::uint32_t value = 0;  // at most kBeyondUnicode
  std::size_t end = 0;      // of the digits
};

// Requires: source begins with "&#".
Number ReadNumber(std::string_view source) {
  Number number;
  std::size_t at = 2;
  if (at < source.size() && (source[at] | 0x20) == 'x') {
    number.hex = true;
    ++at;
  }
  const std::uint32_t base = number.hex ? 16 : 10;
  for (; at < source.size(); ++at) {
    const int digit = HexValue(source[at]);
    if (digit < 0 || digit >= static_cast<int>(base)) break;
    number.has_digits = true;
    number.value =
        std::min(number.value * base + static_cast<std::uint32_t>(digit), kBeyondUnicode);
  }
  number.end = at;
  return number;
}

ReferenceMatch MatchNumber(std::string_view source, bool source_is_complete) {
  ReferenceMatch match;
  const Number number = ReadNumber(source);
  if (number.end == source.size() && !source_is_complete) {
    match.outcome = ReferenceMatch::Outcome::kMore;
  } else if (number.has_digits) {
    match.outcome = ReferenceMatch::Outcome::kDecoded;
    const bool closed = number.end < source.size() && source[number.end] == ';';
    match.length = number.end + (closed ? 1 : 0);
    SetUtf8(MeantCodePoint(number.value), match);
  }
  return match;
}

ReferenceMatch MatchName(std::string_view source, ReferencePlace place, bool source_is_complete) {
  ReferenceMatch match;
  const TrieNode* node = &kTrieNodes[0];
  const TrieNode* found = nullptr;
  std::size_t at = 1;
  for (; at < source.size(); ++at) {
    const char* labels = kTrieLabels + node->first_child;
    const void* label = std::memchr(labels, source[at], node->child_count);
    if (label == nullptr) break;
    node = &kTrieNodes[static_cast<const char*>(label) - kTrieLabels];
    if (node->entity != 0) {
      found = node;
      match.length = at + 1;
    }
  }
  if (at == source.size() && node->child_count > 0 && !source_is_complete) {
    return {.outcome = ReferenceMatch::Outcome::kMore};
  }
  if (found == nullptr) return {};
  if (place == ReferencePlace::kAttribute && source[match.length - 1] != ';' &&
      match.length < source.size()) {
    const char next = source[match.length];
    if (next == '=' || IsAsciiAlnum(next)) return {};
  }
  const EntityText& text = kEntityTexts[found->entity];
  match.outcome = ReferenceMatch::Outcome::kDecoded;
  match.utf8_length = text.length;
  std::copy(std::begin(text.utf8), std::end(text.utf8), match.utf8.begin());
  return match;
}

}  // namespace

ReferenceMatch MatchReference(std::string_view source, ReferencePlace place,
                              bool source_is_complete) {
  Check(!source.empty() && source.front() == '&');
  if (source.size() > 1 && source[1] == '#') return MatchNumber(source, source_is_complete);
  return MatchName(source, place, source_is_complete);
}

void ShortenNumericReference(std::string& source) {
  if (!source.starts_with("&#")) return;
  const Number number = ReadNumber(source);
  if (!number.has_digits) return;
  std::array<char, 8> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number.value,
                                     number.hex ? 16 : 10);
  source.resize(number.hex ? 3 : 2);
  source.append(digits.data(), written.ptr);
}

}  // namespace stele::html
