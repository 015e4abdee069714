#include "formats/html/tokenizer_script.h"

#include <algorithm>

#include "formats/html/tokenizer_scan.h"
#include "util/ascii.h"

// The standard's sixteen script states come down to three modes and a count of dashes:
//
//             <!--               <script + end of name
//     plain --------> escaped -------------------------> double escaped
//       ^               |  ^     </script + end of name        |
//       |     -->       |  +-----------------------------------+
//       +---------------+-----------------  -->  --------------+
//
// All of it is text, whatever mode it leads to; only in plain and escaped the end tag is markup.
namespace stele::html {
namespace {

using Kind = Opening::Kind;

// Whether `source` is `mark` (lower case) and a byte that ends a tag name. The mark alone is
// covered by the decision; a mismatch covers as many bytes as agree.
Opening MatchMark(std::string_view source, std::string_view mark, bool& matched) {
  std::size_t length = 0;
  while (length < std::min(source.size(), mark.size()) &&
         ToAsciiLower(source[length]) == mark[length]) {
    ++length;
  }
  if (length == source.size()) return {};
  matched = length == mark.size() && (ClassOf(source[length]) & kEndsTagName) != 0;
  return {Kind::kText, length};
}

}  // namespace

Opening ScriptEscapes::Classify(std::string_view source, std::string_view element) {
  dashes_ = 0;
  if (mode_ == Mode::kDoubleEscaped) {
    bool ended = false;
    const Opening opening = MatchMark(source, "</script", ended);
    if (ended) mode_ = Mode::kEscaped;
    return opening;
  }
  if (source.size() < 2) return {};
  if (source[1] == '/') return ClassifyEndTag(source, element);
  if (mode_ == Mode::kEscaped) {
    bool started = false;
    const Opening opening = MatchMark(source, "<script", started);
    if (started) mode_ = Mode::kDoubleEscaped;
    return opening;
  }
  constexpr std::string_view kEscape = "<!--";
  std::size_t length = 1;
  while (length < std::min(source.size(), kEscape.size()) && source[length] == kEscape[length]) {
    ++length;
  }
  if (length == kEscape.size()) {
    mode_ = Mode::kEscaped;
    dashes_ = 2;
  } else if (length == source.size()) {
    return {};
  }
  return {Kind::kText, length};
}

const char* ScriptEscapes::PassDashes(const char* p, const char* end) {
  for (; p != end && *p == '-'; ++p) dashes_ = std::min(dashes_ + 1, 2);
  if (p == end) return p;
  if (*p == '>' && dashes_ == 2) mode_ = Mode::kPlain;
  dashes_ = 0;
  return p;
}

}  // namespace stele::html
