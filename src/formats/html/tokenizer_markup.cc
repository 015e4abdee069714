#include "formats/html/tokenizer_markup.h"

#include <algorithm>
#include <cstring>

#include "formats/html/tokenizer_scan.h"
#include "formats/html/tokenizer_text.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

using Kind = Opening::Kind;

// How many leading bytes of `source` agree with `pattern` (in lower case).
std::size_t AgreeingBytes(std::string_view source, std::string_view pattern) {
  const std::size_t bytes_max = std::min(source.size(), pattern.size());
  std::size_t n = 0;
  while (n < bytes_max && ToAsciiLower(source[n]) == pattern[n]) ++n;
  return n;
}

// "<!--", "<!doctype" or "<![CDATA[", otherwise a bogus comment.
Opening ClassifyDeclaration(std::string_view source, bool cdata_is_text) {
  constexpr std::string_view kCommentMark = "<!--";
  constexpr std::string_view kDoctypeMark = "<!doctype";
  constexpr std::string_view kCdataMark = "<![CDATA[";
  const auto decide = [&source](std::size_t agreeing, std::string_view mark, Kind kind) -> Opening {
    if (agreeing == mark.size()) return {kind, mark.size()};
    if (agreeing == source.size()) return {};
    return {Kind::kBogusComment, agreeing};
  };
  if (source.size() < 3) return {};
  if (source[2] == '-') {
    return decide(AgreeingBytes(source, kCommentMark), kCommentMark, Kind::kComment);
  }
  if (source[2] == '[' && cdata_is_text) {
    const auto [differs, unused] =
        std::mismatch(source.begin(), source.end(), kCdataMark.begin(), kCdataMark.end());
    const auto agreeing = static_cast<std::size_t>(differs - source.begin());
    return decide(agreeing, kCdataMark, Kind::kCdata);
  }
  return decide(AgreeingBytes(source, kDoctypeMark), kDoctypeMark, Kind::kDoctype);
}

}  // namespace

Opening ClassifyMarkup(std::string_view source, bool cdata_is_text) {
  if (source.size() < 2) return {};
  if (IsAsciiAlpha(source[1])) return {Kind::kStartTag, 1};
  if (source[1] == '!') return ClassifyDeclaration(source, cdata_is_text);
  if (source[1] == '?') return {Kind::kBogusComment, 1};
  if (source[1] != '/') return {Kind::kText, 1};
  if (source.size() < 3) return {};
  if (IsAsciiAlpha(source[2])) return {Kind::kEndTag, 2};
  if (source[2] == '>') return {Kind::kNothing, 3};
  return {Kind::kBogusComment, 2};
}

Opening ClassifyEndTag(std::string_view source, std::string_view element) {
  if (source.size() < 2) return {};
  if (source[1] != '/') return {Kind::kText, 1};
  const std::size_t length = 2 + AgreeingBytes(source.substr(2), element);
  if (length == source.size()) return {};
  const bool ends_name = (ClassOf(source[length]) & kEndsTagName) != 0;
  if (length == 2 + element.size() && ends_name && !element.empty()) return {Kind::kEndTag, length};
  return {Kind::kText, length};
}

// A comment ends with the first "-->" or "--!>", where the dashes of "<!--" count for "<!-->" and
// "<!--->" only. The standard's states behind '<' inside a comment differ in parse errors only.
const char* CommentScanner::Scan(const char* p, const char* end) {
  while (p != end) {
    if (state_ == State::kText) {
      p = FindFirstOf<'-'>(p, end);
      if (p == end) break;
    }
    const bool may_end = state_ != State::kText && state_ != State::kDash;
    if (*p == '>' && may_end) {
      mark_bytes_ += 1;
      return p + 1;
    }
    Step(*p);
    ++p;
  }
  return nullptr;
}

void CommentScanner::Step(char c) {
  static constexpr std::size_t kMarkBytes[] = {0, 1, 0, 1, 2, 3};
  if (c == '-') {
    switch (state_) {
      case State::kStart:
        state_ = State::kStartDash;
        break;
      case State::kText:
      case State::kBang:
        state_ = State::kDash;
        break;
      case State::kStartDash:
      case State::kDash:
      case State::kDashDash:
        state_ = State::kDashDash;
        break;
    }
  } else if (c == '!' && state_ == State::kDashDash) {
    state_ = State::kBang;
  } else {
    state_ = State::kText;
  }
  mark_bytes_ = kMarkBytes[static_cast<std::size_t>(state_)];
}

std::size_t BogusCommentTextAt(std::string_view source) { return source[1] == '?' ? 1 : 2; }

namespace {

// Reads a doctype front to back. A doctype has no '>' inside, quoted or not, so that the end of the
// source is either its '>' or the end of input, which mostly means quirks.
class DoctypeReader {
 public:
  DoctypeReader(std::string_view rest, bool is_closed, DoctypeStorage& storage)
      : rest_(rest), storage_(storage) {
    doctype_.force_quirks = !is_closed;
  }

  Doctype Read() {
    SkipSpace();
    if (rest_.empty()) return Quirky();
    ReadName();
    SkipSpace();
    if (rest_.empty()) return doctype_;
    if (TakeKeyword("public")) return ReadPublic();
    if (TakeKeyword("system")) return ReadSystem();
    return Quirky();
  }

 private:
  Doctype Quirky() {
    doctype_.force_quirks = true;
    return doctype_;
  }

  void SkipSpace() {
    while (!rest_.empty() && IsHtmlSpace(rest_.front())) rest_.remove_prefix(1);
  }

  void ReadName() {
    std::size_t end = 0;
    while (end < rest_.size() && !IsHtmlSpace(rest_[end])) ++end;
    storage_.name.clear();
    AppendName(rest_.substr(0, end), storage_.name);
    doctype_.name = storage_.name;
    rest_.remove_prefix(end);
  }

  bool TakeKeyword(std::string_view keyword) {
    if (!StartsWithIgnoreCase(rest_, keyword)) return false;
    rest_.remove_prefix(keyword.size());
    return true;
  }

  // False if no quoted text follows, or if it is not closed; what there is of it is read.
  bool ReadQuoted(std::optional<std::string_view>& text, std::string& storage) {
    if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\'')) return false;
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    const std::size_t end = rest_.find(quote);
    storage.clear();
    AppendText(rest_.substr(0, end), storage);
    text = storage;
    if (end == std::string_view::npos) return false;
    rest_.remove_prefix(end + 1);
    return true;
  }

  Doctype ReadPublic() {
    SkipSpace();
    if (!ReadQuoted(doctype_.public_id, storage_.public_id)) return Quirky();
    SkipSpace();
    if (rest_.empty()) return doctype_;
    return ReadSystem();
  }

  // What follows a system identifier does not mean quirks, not even where the input ends in it.
  Doctype ReadSystem() {
    SkipSpace();
    if (!ReadQuoted(doctype_.system_id, storage_.system_id)) return Quirky();
    SkipSpace();
    if (!rest_.empty()) doctype_.force_quirks = false;
    return doctype_;
  }

  std::string_view rest_;
  DoctypeStorage& storage_;
  Doctype doctype_;
};

}  // namespace

Doctype ParseDoctype(std::string_view source, bool is_closed, DoctypeStorage& storage) {
  return DoctypeReader(source, is_closed, storage).Read();
}

}  // namespace stele::html
