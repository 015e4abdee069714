#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stele::html {

// A forgiving reader of XML that only looks: feeds, sitemaps, manifests. Tags need not match,
// comments and doctypes are skipped, entities other than the five predefined stay as they are.
// Every input is accepted, in linear time. Borrows the bytes.
class XmlScanner {
 public:
  enum class Kind { kStart, kEnd, kText, kCdata, kInstruction };

  struct Token {
    Kind kind = Kind::kText;
    std::string_view name{};    // of a tag or instruction, with its prefix
    std::string_view bytes{};   // raw text, or the raw attributes of a tag or instruction
    bool self_closing = false;  // a start tag that no end tag follows
    std::size_t at = 0;         // where the token begins
  };

  explicit XmlScanner(std::string_view xml) : xml_(xml) {}

  // False at the end.
  bool Next(Token& token);

 private:
  bool Markup(Token& token);
  bool SkipPast(std::string_view mark, std::size_t from);
  std::size_t TagEnd(std::size_t from) const;

  std::string_view xml_;
  std::size_t at_ = 0;
};

// "media:content" is "content".
std::string_view XmlLocalName(std::string_view name);

// The value of an attribute, by full or local name, in a token's raw attributes; references
// decoded.
std::optional<std::string> XmlAttribute(std::string_view attributes, std::string_view name);

// Predefined entities and numeric references.
void AppendDecodedXml(std::string_view raw, std::string& out);

}  // namespace stele::html
