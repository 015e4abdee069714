#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Character references of HTML: "&amp;", "&#8364;", "&#x20AC;", and the old names that are also
// recognised without a semicolon ("&copy").
namespace stele::html {

// In an attribute value a name without semicolon is no reference where '=' or a letter or digit
// follows, so that href="?a=1&copy=2" stays what its author meant.
enum class ReferencePlace { kText, kAttribute };

struct ReferenceMatch {
  enum class Outcome {
    kNone,     // the '&' is only an '&'
    kDecoded,  // `length` bytes, the '&' included, stand for text()
    kMore,     // undecided: the source ends inside what may be a reference
  };

  Outcome outcome = Outcome::kNone;
  std::size_t length = 0;
  std::array<char, 6> utf8{};
  std::uint8_t utf8_length = 0;

  std::string_view text() const { return {utf8.data(), utf8_length}; }
};

// Matches the longest reference at the start of `source`. Never kMore if `source_is_complete`;
// kMore for a name only while `source` is shorter than 34 bytes. Requires: source begins with '&'.
ReferenceMatch MatchReference(std::string_view source, ReferencePlace place,
                              bool source_is_complete);

// Replaces an unfinished numeric reference, for which MatchReference gave kMore, by a short one
// that decodes alike whatever digits follow. Leaves others alone. For keeping a reference of
// endless digits in bounded memory.
void ShortenNumericReference(std::string& source);

}  // namespace stele::html
