#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/html/encoding.h"

// The words of a page, for indexing and for comparing pages by what they say.
namespace stele::html {

// What a stretch of text is; several may hold at once (a link in a heading).
enum TextKind : std::uint8_t {
  kBodyText = 0,
  kTitleText = 1,
  kHeadingText = 2,      // h1 to h6
  kAnchorText = 4,       // inside <a href>
  kAltText = 8,          // what stands for a picture
  kDescriptionText = 16  // <meta name=description>
};

// Bytes [begin, end) of PageText::text. The runs follow each other without gaps and cover the text;
// the separator between two runs belongs to the first.
struct TextRun {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint8_t kinds = kBodyText;  // TextKind, or-ed
};

struct TextAnchor {
  std::string href;  // as in the page, references decoded, not resolved
  std::uint32_t begin = 0;
  std::uint32_t end = 0;  // its text, separators at the ends left out; never empty
};

struct PageText {
  // UTF-8, in document order. Words are separated as a reader sees them: white space becomes one
  // space, the border of a block element or <br> one line feed; none at the ends.
  std::string text;
  std::vector<TextRun> runs;
  std::vector<TextAnchor> anchors;
  std::string language;    // of <html lang>, else of a Content-Language <meta>; as written
  bool truncated = false;  // a limit was reached: the text stops there

  // All runs with that kind, those that do not follow each other joined by line feeds.
  std::string TextOf(TextKind kind) const;
};

struct TextLimits {
  std::size_t text_bytes_max = 16 << 20;  // at most 1 GiB
  std::size_t anchors_max = 20000;        // 0: nothing is kAnchorText either
  std::size_t href_bytes_max = 4096;      // anchors with a longer one are left out
};

// Reads HTML in `encoding`, its byte order mark already removed. Skips scripts, styles, templates
// and the fallback content of frames. Every input is accepted, in linear time.
PageText ExtractText(std::string_view content, Encoding encoding, const TextLimits& limits = {});

// Plain text: one body run.
PageText ExtractPlainText(std::string_view content, Encoding encoding,
                          const TextLimits& limits = {});

// The form in which two pages are the same text: title and visible text (no alternatives of
// pictures, no description) in Unicode NFKC with case folded, every run of characters other than
// letters, digits and marks replaced by one space, none at the ends. Digests of it survive changes
// of markup, layout, punctuation and case.
std::string NormalisedText(const PageText& page);

}  // namespace stele::html
