// The prescan of the WHATWG standard ("prescan a byte stream to determine its encoding"). It is a
// tokenizer of its own, simpler than the real one: it knows comments, tags and attributes, and it
// looks into scripts and styles as if they were markup, as the standard wants.
#include <cstring>
#include <string>

#include "formats/html/charset.h"
#include "formats/html/tokenizer_scan.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

struct PrescanAttribute {
  std::string name, value;
};

class Prescan {
 public:
  explicit Prescan(std::string_view bytes) : bytes_(bytes) {}

  std::optional<Encoding> Run() {
    while (at_ < bytes_.size()) {
      at_ = bytes_.find('<', at_);
      if (at_ == std::string_view::npos) return std::nullopt;
      if (bytes_.substr(at_, 4) == "<!--") {
        // "<!-->" is a whole comment: the dashes may be shared.
        const std::size_t end = bytes_.find("-->", at_ + 2);
        if (end == std::string_view::npos) return std::nullopt;
        at_ = end + 3;
      } else if (IsMetaStart()) {
        at_ += 5;
        if (std::optional<Encoding> found = Meta()) return found;
      } else if (IsTagStart()) {
        SkipTag();
      } else if (at_ + 1 < bytes_.size() && std::strchr("!/?", bytes_[at_ + 1]) != nullptr &&
                 bytes_[at_ + 1] != '\0') {
        const std::size_t end = bytes_.find('>', at_);
        if (end == std::string_view::npos) return std::nullopt;
        at_ = end + 1;
      } else {
        ++at_;
      }
    }
    return std::nullopt;
  }

 private:
  bool IsMetaStart() const {
    return at_ + 5 < bytes_.size() && StartsWithIgnoreCase(bytes_.substr(at_), "<meta") &&
           (IsHtmlSpace(bytes_[at_ + 5]) || bytes_[at_ + 5] == '/');
  }

  bool IsTagStart() const {
    std::size_t name = at_ + 1;
    if (name < bytes_.size() && bytes_[name] == '/') ++name;
    return name < bytes_.size() && IsAsciiAlpha(bytes_[name]);
  }

  void SkipTag() {
    while (at_ < bytes_.size() && !IsHtmlSpace(bytes_[at_]) && bytes_[at_] != '>') ++at_;
    while (NextAttribute(nullptr)) {
    }
  }

  std::optional<Encoding> Meta() {
    bool seen_http_equiv = false, seen_content = false, seen_charset = false;
    bool got_pragma = false;
    std::optional<bool> need_pragma;
    std::optional<Encoding> encoding;
    PrescanAttribute attribute;
    while (NextAttribute(&attribute)) {
      if (attribute.name == "http-equiv" && !seen_http_equiv) {
        seen_http_equiv = true;
        got_pragma = attribute.value == "content-type";
      } else if (attribute.name == "content" && !seen_content) {
        seen_content = true;
        const std::optional<Encoding> named = EncodingFromMetaContent(attribute.value);
        if (named && !encoding) {
          encoding = named;
          need_pragma = true;
        }
      } else if (attribute.name == "charset" && !seen_charset) {
        seen_charset = true;
        encoding = EncodingForLabel(attribute.value);
        need_pragma = false;
      }
    }
    // A tag that the window cuts off counts for nothing.
    if (at_ >= bytes_.size()) return std::nullopt;
    if (!need_pragma || (*need_pragma && !got_pragma) || !encoding) return std::nullopt;
    if (*encoding == Encoding::kUtf16Be || *encoding == Encoding::kUtf16Le) return Encoding::kUtf8;
    if (*encoding == Encoding::kUserDefined) return Encoding::kWindows1252;
    return encoding;
  }

  // "Get an attribute", into `attribute` unless null. False at the end of the tag, with at_ on its
  // '>', or of the window.
  bool NextAttribute(PrescanAttribute* attribute) {
    if (attribute != nullptr) *attribute = {};
    while (at_ < bytes_.size() && (IsHtmlSpace(bytes_[at_]) || bytes_[at_] == '/')) ++at_;
    if (at_ >= bytes_.size() || bytes_[at_] == '>') return false;
    const std::size_t start = at_;
    while (at_ < bytes_.size() && !IsHtmlSpace(bytes_[at_])) {
      const char c = bytes_[at_];
      if ((c == '=' && at_ > start) || c == '/' || c == '>') break;
      ++at_;
    }
    if (attribute != nullptr) attribute->name = AsciiLower(bytes_.substr(start, at_ - start));
    if (at_ < bytes_.size() && (bytes_[at_] == '/' || bytes_[at_] == '>')) return true;
    SkipSpace();
    if (at_ >= bytes_.size()) return false;
    if (bytes_[at_] != '=') return true;
    ++at_;
    SkipSpace();
    return Value(attribute);
  }

  bool Value(PrescanAttribute* attribute) {
    if (at_ >= bytes_.size()) return false;
    const char quote = bytes_[at_];
    const bool quoted = quote == '"' || quote == '\'';
    const std::size_t start = quoted ? at_ + 1 : at_;
    std::size_t end = quoted ? bytes_.find(quote, start) : start;
    if (!quoted) {
      while (end < bytes_.size() && !IsHtmlSpace(bytes_[end]) && bytes_[end] != '>') ++end;
    }
    if (end >= bytes_.size()) {
      at_ = bytes_.size();
      return false;
    }
    if (attribute != nullptr) attribute->value = AsciiLower(bytes_.substr(start, end - start));
    at_ = quoted ? end + 1 : end;
    return true;
  }

  void SkipSpace() {
    while (at_ < bytes_.size() && IsHtmlSpace(bytes_[at_])) ++at_;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Encoding> PrescanMeta(std::string_view content) {
  const std::optional<Encoding> early = Prescan(content.substr(0, kPrescanSize)).Run();
  if (early || content.size() <= kPrescanSize) return early;
  return Prescan(content.substr(0, kLatePrescanSize)).Run();
}

std::optional<Encoding> EncodingFromMetaContent(std::string_view content) {
  constexpr std::string_view kCharset = "charset";
  for (std::size_t at = 0; at + kCharset.size() <= content.size(); ++at) {
    if (!EqualsIgnoreCase(content.substr(at, kCharset.size()), kCharset)) continue;
    std::size_t value = at + kCharset.size();
    while (value < content.size() && IsHtmlSpace(content[value])) ++value;
    if (value >= content.size() || content[value] != '=') continue;
    ++value;
    while (value < content.size() && IsHtmlSpace(content[value])) ++value;
    if (value >= content.size()) return std::nullopt;
    const char quote = content[value];
    if (quote == '"' || quote == '\'') {
      const std::size_t end = content.find(quote, value + 1);
      if (end == std::string_view::npos) return std::nullopt;
      return EncodingForLabel(content.substr(value + 1, end - value - 1));
    }
    std::size_t end = value;
    while (end < content.size() && !IsHtmlSpace(content[end]) && content[end] != ';') ++end;
    return EncodingForLabel(content.substr(value, end - value));
  }
  return std::nullopt;
}

}  // namespace stele::html
