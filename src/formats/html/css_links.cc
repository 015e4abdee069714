// One pass that stops only at the bytes that can start something: '(' after the name of a function,
// quotes, '@', comments and escapes. Every step moves forward, so that unclosed comments, strings
// and parentheses cost no more than closed ones. At the end of the input all of them are closed,
// as CSS wants.
#include "formats/html/css_links.h"

#include <array>
#include <cstdint>
#include <string>

#include "formats/html/utf8.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

constexpr auto kStops = [] {
  std::array<bool, 256> stops{};
  for (const char c : {'(', ')', '"', '\'', '@', '/', '\\', ';'}) {
    stops[static_cast<std::uint8_t>(c)] = true;
  }
  return stops;
}();

constexpr bool IsNameByte(char c) {
  return IsAsciiAlnum(c) || c == '-' || c == '_' || static_cast<std::uint8_t>(c) >= 0x80;
}

constexpr bool IsCssSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

// Hexadecimal escapes with the one space that may end them, escaped line ends, escaped characters.
std::string Unescape(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      out.push_back(text[at]);
      continue;
    }
    if (++at >= text.size()) break;
    if (!IsAsciiHexDigit(text[at])) {
      if (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') ++at;
      if (text[at] != '\n' && text[at] != '\r' && text[at] != '\f') out.push_back(text[at]);
      continue;
    }
    char32_t code_point = 0;
    std::size_t digits = 0;
    while (digits < 6 && at < text.size() && IsAsciiHexDigit(text[at])) {
      code_point = code_point * 16 + static_cast<char32_t>(HexValue(text[at]));
      ++at;
      ++digits;
    }
    AppendUtf8(out, code_point == 0 ? 0xFFFD : code_point);
    if (at >= text.size() || !IsCssSpace(text[at])) --at;
  }
  return out;
}

class CssScanner {
 public:
  CssScanner(std::string_view css, const std::function<void(const CssReference&)>& found)
      : css_(css), found_(found) {}

  void Run() {
    while (true) {
      while (at_ < css_.size() && !kStops[static_cast<std::uint8_t>(css_[at_])]) ++at_;
      if (at_ >= css_.size()) return;
      Step();
    }
  }

 private:
  enum class Function { kOther, kUrl, kImageSet, kAlphaImageLoader };

  void Step() {
    switch (css_[at_]) {
      case '/':
        if (at_ + 1 < css_.size() && css_[at_ + 1] == '*') {
          SkipPast("*/", at_ + 2);
        } else {
          ++at_;
        }
        break;
      case '\\':
        at_ += 2;
        break;
      case '@':
        AtRule();
        break;
      case '(':
        Open();
        break;
      case ')':
        if (strings_depth_ > 0 && --strings_depth_ == 0) strings_ = Function::kOther;
        ++at_;
        break;
      case ';':
        strings_ = Function::kOther;
        strings_depth_ = 0;
        ++at_;
        break;
      default:
        String();
    }
  }

  void SkipPast(std::string_view mark, std::size_t from) {
    const std::size_t end = css_.find(mark, from);
    at_ = end == std::string_view::npos ? css_.size() : end + mark.size();
  }

  void AtRule() {
    ++at_;
    const std::string_view rest = css_.substr(at_);
    if (StartsWithIgnoreCase(rest, "import")) {
      at_ += 6;
      SkipSpaceAndComments();
      if (at_ >= css_.size() || (css_[at_] != '"' && css_[at_] != '\'')) return;
      const std::size_t start = at_ + 1;
      Emit(TakeString(), start, true);
    } else if (StartsWithIgnoreCase(rest, "namespace") || StartsWithIgnoreCase(rest, "charset")) {
      SkipPast(";", at_);
    }
  }

  void SkipSpaceAndComments() {
    while (at_ < css_.size()) {
      if (IsCssSpace(css_[at_])) {
        ++at_;
      } else if (css_.substr(at_, 2) == "/*") {
        SkipPast("*/", at_ + 2);
      } else {
        return;
      }
    }
  }

  // On '(': which function it opens is read backwards.
  void Open() {
    std::size_t start = at_;
    while (start > 0 && at_ - start < 32 && IsNameByte(css_[start - 1])) --start;
    const std::string_view name = css_.substr(start, at_ - start);
    ++at_;
    if (EqualsIgnoreCase(name, "url")) {
      Url();
    } else if (strings_depth_ > 0) {
      ++strings_depth_;
    } else if (EqualsIgnoreCase(name, "image-set") || EqualsIgnoreCase(name, "-webkit-image-set")) {
      strings_ = Function::kImageSet;
      strings_depth_ = 1;
    } else if (EqualsIgnoreCase(name, "AlphaImageLoader")) {
      strings_ = Function::kAlphaImageLoader;
      strings_depth_ = 1;
    }
  }

  void Url() {
    while (at_ < css_.size() && IsCssSpace(css_[at_])) ++at_;
    if (at_ >= css_.size()) return;
    const std::size_t start = at_;
    if (css_[at_] == '"' || css_[at_] == '\'') {
      Emit(TakeString(), start + 1);
      if (strings_depth_ > 0) ++strings_depth_;  // the ')' to come is this one's
      return;
    }
    while (at_ < css_.size()) {
      const char c = css_[at_];
      if (c == ')' || c == '(' || c == '"' || c == '\'' || IsCssSpace(c)) break;
      if (c == '\\') {
        SkipEscape();
      } else {
        ++at_;
      }
    }
    at_ = std::min(at_, css_.size());
    const std::size_t end = at_;
    while (at_ < css_.size() && IsCssSpace(css_[at_])) ++at_;
    // Anything else before the ')' makes it a bad URL, which browsers ignore.
    if (at_ >= css_.size() || css_[at_] == ')') {
      Emit(css_.substr(start, end - start), start);
      ++at_;
    }
  }

  // Past a '\' and what it escapes; of a hexadecimal one also the space that ends it.
  void SkipEscape() {
    const std::size_t digits_end = std::min(at_ + 7, css_.size());
    if (++at_ < css_.size() && !IsAsciiHexDigit(css_[at_])) {
      ++at_;
      return;
    }
    while (at_ < digits_end && IsAsciiHexDigit(css_[at_])) ++at_;
    if (at_ < css_.size() && IsCssSpace(css_[at_])) ++at_;
  }

  // On a quote: what is inside, past the closing one. A line end closes a string, too.
  std::string_view TakeString() {
    const char quote = css_[at_++];
    const std::size_t start = at_;
    while (at_ < css_.size()) {
      const char c = css_[at_];
      if (c == quote || c == '\n') break;
      at_ += c == '\\' ? 2 : 1;
    }
    at_ = std::min(at_, css_.size());
    const std::string_view inside = css_.substr(start, at_ - start);
    if (at_ < css_.size()) ++at_;
    return inside;
  }

  void String() {
    const std::size_t start = at_ + 1;
    const std::string_view before =
        TrimSpace(css_.substr(start > 32 ? start - 32 : 0, start > 32 ? 31 : start - 1));
    const std::string_view inside = TakeString();
    if (strings_ == Function::kImageSet) {
      // type("image/avif") is a description of a candidate.
      if (strings_depth_ == 1) Emit(inside, start);
    } else if (strings_ == Function::kAlphaImageLoader) {
      const std::size_t size = before.size();
      if (size >= 4 && EqualsIgnoreCase(before.substr(size - 4), "src=")) Emit(inside, start);
    }
  }

  void Emit(std::string_view text, std::size_t at, bool is_import = false) {
    found_({text, at, is_import});
  }

  std::string_view css_;
  const std::function<void(const CssReference&)>& found_;
  std::size_t at_ = 0;
  Function strings_ = Function::kOther;  // the function around, if its strings name resources
  std::size_t strings_depth_ = 0;        // parentheses open since it, its own included
};

}  // namespace

void FindCssReferences(std::string_view css,
                       const std::function<void(const CssReference& reference)>& found) {
  CssScanner(css, found).Run();
}

void ExtractCssLinks(const LinkSource& source, LinkCollector& links) {
  FindCssReferences(source.bytes, [&](const CssReference& reference) {
    std::string_view href = reference.text;
    std::string unescaped;
    if (href.find('\\') != std::string_view::npos && href.size() <= links.limits().url_bytes_max) {
      unescaped = Unescape(href);
      href = unescaped;
    }
    links.Add({.href = href,
               .hop = Hop::kEmbed,
               .context = reference.is_import ? "css/@import" : "css",
               .offset = source.OffsetOf(reference.at),
               .base = source.base,
               .utf8 = source.utf8});
  });
}

}  // namespace stele::html
