#include "formats/html/xml_scanner.h"

#include <algorithm>

#include "formats/html/utf8.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

constexpr auto kNone = std::string_view::npos;

constexpr bool EndsName(char c) { return IsAsciiSpace(c) || c == '/' || c == '>' || c == '?'; }

std::size_t NameEnd(std::string_view text, std::size_t from) {
  while (from < text.size() && !EndsName(text[from])) ++from;
  return from;
}

// One reference at text[at] == '&': appends what it means and returns its end, or nothing.
std::optional<std::size_t> DecodeReference(std::string_view text, std::size_t at,
                                           std::string& out) {
  const std::string_view window = text.substr(at, 12);
  const std::size_t semicolon = window.find(';');
  if (semicolon == kNone) return std::nullopt;
  const std::string_view name = window.substr(1, semicolon - 1);
  const std::size_t end = at + semicolon + 1;
  if (name == "amp") {
    out.push_back('&');
  } else if (name == "lt") {
    out.push_back('<');
  } else if (name == "gt") {
    out.push_back('>');
  } else if (name == "quot") {
    out.push_back('"');
  } else if (name == "apos") {
    out.push_back('\'');
  } else if (name.size() > 1 && name[0] == '#') {
    const bool hex = name[1] == 'x' || name[1] == 'X';
    const std::string_view digits = name.substr(hex ? 2 : 1);
    char32_t code_point = 0;
    for (const char c : digits) {
      const int value = HexValue(c);
      if (value < 0 || (!hex && value > 9)) return std::nullopt;
      code_point = code_point * (hex ? 16 : 10) + static_cast<char32_t>(value);
      if (code_point > 0x10FFFF) return std::nullopt;
    }
    if (digits.empty()) return std::nullopt;
    AppendUtf8(out, code_point);
  } else {
    return std::nullopt;
  }
  return end;
}

}  // namespace

bool XmlScanner::Next(Token& token) {
  while (at_ < xml_.size()) {
    if (xml_[at_] != '<') {
      const std::size_t end = std::min(xml_.find('<', at_), xml_.size());
      token = {.kind = Kind::kText, .bytes = xml_.substr(at_, end - at_), .at = at_};
      at_ = end;
      return true;
    }
    if (Markup(token)) return true;
  }
  return false;
}

// At '<'. False for what is skipped.
bool XmlScanner::Markup(Token& token) {
  const std::string_view rest = xml_.substr(at_);
  if (rest.starts_with("<!--")) return SkipPast("-->", at_ + 4);
  if (rest.starts_with("<![CDATA[")) {
    const std::size_t start = at_ + 9;
    token = {.kind = Kind::kCdata, .at = at_};
    SkipPast("]]>", start);
    const bool closed = at_ >= start + 3 && xml_.substr(at_ - 3, 3) == "]]>";
    token.bytes = xml_.substr(start, (closed ? at_ - 3 : xml_.size()) - start);
    return true;
  }
  if (rest.starts_with("<!")) return SkipPast(">", at_);
  const bool is_end = rest.starts_with("</");
  const bool is_instruction = rest.starts_with("<?");
  const std::size_t name = at_ + (is_end || is_instruction ? 2 : 1);
  const std::size_t name_end = NameEnd(xml_, name);
  if (name_end == name) {  // "< " is text
    token = {.kind = Kind::kText, .bytes = xml_.substr(at_, 1), .at = at_};
    ++at_;
    return true;
  }
  const std::size_t end = TagEnd(name_end);
  token = {.kind = is_end           ? Kind::kEnd
                   : is_instruction ? Kind::kInstruction
                                    : Kind::kStart,
           .name = xml_.substr(name, name_end - name),
           .bytes = xml_.substr(name_end, end - name_end),
           .at = at_};
  token.self_closing = !is_end && token.bytes.ends_with('/');
  at_ = std::min(end + 1, xml_.size());
  return true;
}

bool XmlScanner::SkipPast(std::string_view mark, std::size_t from) {
  const std::size_t end = xml_.find(mark, std::min(from, xml_.size()));
  at_ = end == kNone ? xml_.size() : end + mark.size();
  return false;
}

// The '>' that ends a tag, not one in a quoted value.
std::size_t XmlScanner::TagEnd(std::size_t from) const {
  char quote = '\0';
  for (std::size_t at = from; at < xml_.size(); ++at) {
    const char c = xml_[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return at;
    }
  }
  return xml_.size();
}

std::string_view XmlLocalName(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == kNone ? name : name.substr(colon + 1);
}

std::optional<std::string> XmlAttribute(std::string_view attributes, std::string_view name) {
  std::size_t at = 0;
  while (at < attributes.size()) {
    while (at < attributes.size() && (IsAsciiSpace(attributes[at]) || attributes[at] == '/')) ++at;
    const std::size_t start = at;
    while (at < attributes.size() && attributes[at] != '=' && !IsAsciiSpace(attributes[at])) ++at;
    const std::string_view found = attributes.substr(start, at - start);
    while (at < attributes.size() && IsAsciiSpace(attributes[at])) ++at;
    if (at >= attributes.size() || attributes[at] != '=') continue;
    ++at;
    while (at < attributes.size() && IsAsciiSpace(attributes[at])) ++at;
    if (at >= attributes.size()) break;
    const char quote = attributes[at];
    if (quote != '"' && quote != '\'') continue;
    const std::size_t end = std::min(attributes.find(quote, at + 1), attributes.size());
    const std::string_view raw = attributes.substr(at + 1, end - at - 1);
    at = end + 1;
    if (found == name || XmlLocalName(found) == name) {
      std::string value;
      AppendDecodedXml(raw, value);
      return value;
    }
  }
  return std::nullopt;
}

void AppendDecodedXml(std::string_view raw, std::string& out) {
  std::size_t at = 0;
  while (at < raw.size()) {
    const std::size_t ampersand = std::min(raw.find('&', at), raw.size());
    out.append(raw.substr(at, ampersand - at));
    at = ampersand;
    if (at >= raw.size()) return;
    const std::optional<std::size_t> end = DecodeReference(raw, at, out);
    if (!end) out.push_back('&');
    at = end.value_or(at + 1);
  }
}

}  // namespace stele::html
