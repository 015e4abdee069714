#include "formats/html/sitemap_links.h"

#include "formats/html/xml_scanner.h"

namespace stele::html {
namespace {

struct Field {
  std::string_view name;
  Hop hop;
  std::string_view context;
};

constexpr Field kFields[] = {
    {"loc", Hop::kNavigation, "sitemap/loc"},
    {"image:loc", Hop::kEmbed, "sitemap/image:loc"},
    {"video:content_loc", Hop::kEmbed, "sitemap/video:content_loc"},
    {"video:thumbnail_loc", Hop::kEmbed, "sitemap/video:thumbnail_loc"},
    {"video:player_loc", Hop::kEmbed, "sitemap/video:player_loc"},
};

// By full name; a prefix other than the usual ones is taken for the sitemap namespace's own.
const Field* FieldNamed(std::string_view name) {
  for (const Field& field : kFields) {
    if (name == field.name) return &field;
  }
  return XmlLocalName(name) == "loc" ? &kFields[0] : nullptr;
}

}  // namespace

void ExtractSitemapLinks(const LinkSource& source, LinkCollector& links) {
  XmlScanner scanner(source.bytes);
  XmlScanner::Token token;
  const Field* open = nullptr;
  std::string text;
  std::size_t offset = 0;
  const auto add = [&](std::string_view href, Hop hop, std::string_view context, std::size_t at) {
    links.Add({.href = href,
               .hop = hop,
               .context = context,
               .offset = source.OffsetOf(at),
               .base = source.base,
               .utf8 = source.utf8});
  };
  while (scanner.Next(token)) {
    switch (token.kind) {
      case XmlScanner::Kind::kStart:
        open = token.self_closing ? nullptr : FieldNamed(token.name);
        offset = token.at;
        text.clear();
        if (XmlLocalName(token.name) == "link") {
          const std::optional<std::string> href = XmlAttribute(token.bytes, "href");
          if (href) add(*href, Hop::kNavigation, "sitemap/link", token.at);
        }
        break;
      case XmlScanner::Kind::kText:
        if (open != nullptr) AppendDecodedXml(token.bytes, text);
        break;
      case XmlScanner::Kind::kCdata:
        if (open != nullptr) text.append(token.bytes);
        break;
      case XmlScanner::Kind::kEnd:
        if (open != nullptr) add(text, open->hop, open->context, offset);
        open = nullptr;
        break;
      case XmlScanner::Kind::kInstruction:
        break;
    }
  }
}

}  // namespace stele::html
