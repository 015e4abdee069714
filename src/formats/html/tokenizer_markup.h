#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "formats/html/tokenizer.h"

// What begins with '<' but is not a tag, and how to tell.
namespace stele::html {

// What the bytes from a '<' on turn out to be.
struct Opening {
  enum class Kind {
    kMore,  // undecided, the bytes end too early
    kText,
    kStartTag,
    kEndTag,
    kComment,
    kBogusComment,  // ends at the next '>'
    kDoctype,
    kCdata,
    kNothing,  // "</>"
  };

  Kind kind = Kind::kMore;
  // How many bytes the decision covers: all of a text, or what stands before the place where the
  // scanner of that kind goes on. If kMore was given for the first n bytes, then it is at least n.
  std::size_t length = 0;
};

// In kData. Requires: source begins with '<'.
Opening ClassifyMarkup(std::string_view source, bool cdata_is_text);

// In kRcdata and kRawtext, where only the end tag of `element` (in lower case) is markup.
// Requires: source begins with '<'.
Opening ClassifyEndTag(std::string_view source, std::string_view element);

// Finds the end of a comment in pieces, from behind its "<!--".
class CommentScanner {
 public:
  void Start() { *this = CommentScanner(); }

  // The byte after the comment's '>', or null if there is none in [p, end).
  const char* Scan(const char* p, const char* end);

  // How many of the last bytes scanned close the comment and are not its text. At the end of input
  // too, where half a mark counts.
  std::size_t mark_bytes() const { return mark_bytes_; }

 private:
  enum class State { kStart, kStartDash, kText, kDash, kDashDash, kBang };

  void Step(char c);

  State state_ = State::kStart;
  std::size_t mark_bytes_ = 0;
};

// Where the text of a bogus comment begins: after "<!" or "</", or at the '?' of "<?".
std::size_t BogusCommentTextAt(std::string_view source);

// The strings that a Doctype's views may point to.
struct DoctypeStorage {
  std::string name, public_id, system_id;
};

// Reads what stands between "<!DOCTYPE" and '>'. `is_closed` tells that the '>' is there.
// Leaves Doctype::at alone. The views point into `storage`.
Doctype ParseDoctype(std::string_view source, bool is_closed, DoctypeStorage& storage);

}  // namespace stele::html
