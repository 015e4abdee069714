#include "formats/sitemap/xml_scanner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "util/ascii.h"

namespace stele::sitemap {
namespace {

constexpr std::size_t kTagBytesMax = std::size_t{64} << 10;

void AppendUtf8(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(bits); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3f));
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

// "38" or "x26"; nothing for what is no character of XML.
std::optional<std::uint32_t> ParseNumber(std::string_view text) {
  const bool hex = text.starts_with('x');
  if (hex) text.remove_prefix(1);
  if (text.empty() || text.size() > 8) return std::nullopt;
  std::uint32_t code = 0;
  for (const char c : text) {
    const int digit = HexValue(c);
    if (digit < 0 || (!hex && digit > 9)) return std::nullopt;
    code = code * (hex ? 16 : 10) + static_cast<std::uint32_t>(digit);
  }
  const bool good = code >= 0x20 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return good ? std::optional(code) : std::nullopt;
}

bool AppendReference(std::string& out, std::string_view name) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNames{
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  if (name.starts_with('#')) {
    const std::optional<std::uint32_t> code = ParseNumber(name.substr(1));
    if (code) AppendUtf8(out, *code);
    return code.has_value();
  }
  for (const auto& [known, c] : kNames) {
    if (name != known) continue;
    out += c;
    return true;
  }
  return false;
}

}  // namespace

std::string_view LocalName(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

std::string ResolveReferences(std::string_view text) {
  constexpr std::size_t kNameMax = 10;
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t at = text.find('&');
    out += text.substr(0, at);
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
    const std::size_t end = text.substr(0, kNameMax + 1).find(';');
    if (end != std::string_view::npos && AppendReference(out, text.substr(0, end))) {
      text.remove_prefix(end + 1);
    } else {
      out += '&';
    }
  }
  return out;
}

std::string_view XmlTag::local_name() const {
  std::string_view name = text_.substr(0, text_.find_first_of(" \t\r\n"));
  if (name.ends_with('/')) name.remove_suffix(1);
  return LocalName(name);
}

std::optional<std::string> XmlTag::Attribute(std::string_view name) const {
  std::string_view rest = text_.substr(std::min(text_.find_first_of(" \t\r\n"), text_.size()));
  for (;;) {
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    std::string_view key = TrimSpace(rest.substr(0, equals));
    key = key.substr(key.find_last_of(" \t\r\n") + 1);
    rest = TrimSpace(rest.substr(equals + 1));
    if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) continue;
    const std::size_t end = rest.find(rest.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    if (LocalName(key) == name) return ResolveReferences(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
  }
}

void XmlScanner::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (state_ == State::kText) {
      const std::size_t end = std::min(bytes.find('<'), bytes.size());
      if (end > 0) handler_.OnText(bytes.substr(0, end), true);
      bytes.remove_prefix(end);
      if (bytes.empty()) return;
      state_ = State::kMarkup;
      held_.clear();
      bytes.remove_prefix(1);
      continue;
    }
    const char c = bytes.front();
    bytes.remove_prefix(1);
    switch (state_) {
      case State::kMarkup:
        AcceptMarkup(c);
        break;
      case State::kTag:
        AcceptTag(c);
        break;
      case State::kCdata:
        AcceptCdata(c);
        break;
      case State::kDeclaration:
        AcceptDeclaration(c);
        break;
      case State::kComment:
      case State::kInstruction: {
        held_ += c;
        const std::string_view end = state_ == State::kComment ? "-->" : "?>";
        if (held_.ends_with(end)) state_ = State::kText;
        if (held_.size() > 3) held_.erase(0, held_.size() - 3);
        break;
      }
      case State::kText:
        break;
    }
  }
}

// After '<': which kind of markup is it?
void XmlScanner::AcceptMarkup(char c) {
  constexpr std::string_view kComment = "!--";
  constexpr std::string_view kCdata = "![CDATA[";
  held_ += c;
  if (held_ == kComment) {
    state_ = State::kComment;
    held_.clear();
  } else if (held_ == kCdata) {
    state_ = State::kCdata;
    held_.clear();
  } else if (c == '?' && held_.size() == 1) {
    state_ = State::kInstruction;
    held_.clear();
  } else if (held_.front() != '!') {
    held_.clear();
    quote_ = 0;
    has_equals_ = false;
    state_ = State::kTag;
    AcceptTag(c);
  } else if (!kComment.starts_with(held_) && !kCdata.starts_with(held_)) {
    state_ = State::kDeclaration;
    quote_ = 0;
    depth_ = 0;
    AcceptDeclaration(c);
  }
}

void XmlScanner::AcceptTag(char c) {
  if (quote_ != 0) {
    if (c == quote_) quote_ = 0;
  } else if (c == '>') {
    return EndTag();
  } else if ((c == '"' || c == '\'') && has_equals_) {
    quote_ = c;
  }
  has_equals_ |= c == '=';
  if (held_.size() < kTagBytesMax) held_ += c;
}

void XmlScanner::EndTag() {
  state_ = State::kText;
  const std::string_view text = TrimSpace(held_);
  if (text.starts_with('/')) {
    handler_.OnEnd(LocalName(TrimSpace(text.substr(1))));
  } else if (!text.empty()) {
    handler_.OnStart(XmlTag(text));
  }
}

void XmlScanner::AcceptCdata(char c) {
  held_ += c;
  if (held_.ends_with("]]>")) {
    held_.resize(held_.size() - 3);
    handler_.OnText(held_, false);
    state_ = State::kText;
  } else if (held_.size() > kTagBytesMax) {
    // Two bytes may belong to the end.
    handler_.OnText(std::string_view(held_).substr(0, held_.size() - 2), false);
    held_.erase(0, held_.size() - 2);
  }
}

void XmlScanner::AcceptDeclaration(char c) {
  if (quote_ != 0) {
    if (c == quote_) quote_ = 0;
  } else if (c == '"' || c == '\'') {
    quote_ = c;
  } else if (c == '[') {
    ++depth_;
  } else if (c == ']') {
    --depth_;
  } else if (c == '>' && depth_ <= 0) {
    state_ = State::kText;
  }
}

}  // namespace stele::sitemap
