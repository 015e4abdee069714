#include "formats/html/feed_links.h"

#include <vector>

#include "formats/html/html_links.h"
#include "formats/html/link_relation.h"
#include "formats/html/xml_scanner.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

constexpr std::size_t kDepthMax = 64;

enum class TextUse { kNone, kUrl, kHtml };

struct TextElement {
  std::string_view name;  // local
  TextUse use;
  Hop hop;
  std::string_view context;
};

constexpr TextElement kTextElements[] = {
    {"link", TextUse::kUrl, Hop::kNavigation, "feed/link"},
    {"guid", TextUse::kUrl, Hop::kNavigation, "feed/guid"},
    {"comments", TextUse::kUrl, Hop::kNavigation, "feed/comments"},
    {"commentRss", TextUse::kUrl, Hop::kNavigation, "feed/commentRss"},
    {"uri", TextUse::kUrl, Hop::kNavigation, "feed/uri"},
    {"origLink", TextUse::kUrl, Hop::kNavigation, "feed/origLink"},
    {"url", TextUse::kUrl, Hop::kEmbed, "feed/url"},
    {"icon", TextUse::kUrl, Hop::kEmbed, "feed/icon"},
    {"logo", TextUse::kUrl, Hop::kEmbed, "feed/logo"},
    {"encoded", TextUse::kHtml, Hop::kNavigation, ""},
    {"description", TextUse::kHtml, Hop::kNavigation, ""},
    {"summary", TextUse::kHtml, Hop::kNavigation, ""},
    {"content", TextUse::kHtml, Hop::kNavigation, ""},
};

struct AttributeLink {
  std::string_view element, attribute;  // local names
  Hop hop;
  std::string_view context;
};

constexpr AttributeLink kAttributeLinks[] = {
    {"enclosure", "url", Hop::kEmbed, "feed/enclosure"},
    {"content", "url", Hop::kEmbed, "feed/media:content"},
    {"thumbnail", "url", Hop::kEmbed, "feed/media:thumbnail"},
    {"player", "url", Hop::kNavigation, "feed/media:player"},
    {"content", "src", Hop::kNavigation, "feed/content"},
    {"source", "url", Hop::kNavigation, "feed/source"},
    {"image", "href", Hop::kEmbed, "feed/itunes:image"},
    {"image", "resource", Hop::kEmbed, "feed/rdf:resource"},
    {"item", "about", Hop::kNavigation, "feed/rdf:about"},
    {"outline", "xmlUrl", Hop::kNavigation, "feed/opml"},
    {"outline", "htmlUrl", Hop::kNavigation, "feed/opml"},
    // XHTML inside an entry.
    {"a", "href", Hop::kNavigation, "a/@href"},
    {"img", "src", Hop::kEmbed, "img/@src"},
};

class FeedReader {
 public:
  FeedReader(const LinkSource& source, LinkCollector& links) : source_(source), links_(links) {
    bases_.push_back(source.base);
  }

  void Run() {
    XmlScanner scanner(source_.bytes);
    XmlScanner::Token token;
    while (scanner.Next(token)) {
      switch (token.kind) {
        case XmlScanner::Kind::kStart:
          Start(token);
          break;
        case XmlScanner::Kind::kText:
          if (open_ != nullptr) AppendDecodedXml(token.bytes, text_);
          break;
        case XmlScanner::Kind::kCdata:
          if (open_ != nullptr) text_.append(token.bytes);
          break;
        case XmlScanner::Kind::kEnd:
          End();
          break;
        case XmlScanner::Kind::kInstruction:
          StyleSheet(token);
          break;
      }
    }
  }

 private:
  void Start(const XmlScanner::Token& token) {
    if (!token.self_closing) PushBase(token);
    const std::string_view name = XmlLocalName(token.name);
    for (const AttributeLink& link : kAttributeLinks) {
      if (link.element != name) continue;
      const std::optional<std::string> value = XmlAttribute(token.bytes, link.attribute);
      if (value) Add(*value, link.hop, link.context, token.at);
    }
    if (name == "link") AtomLink(token);
    open_ = nullptr;
    text_.clear();
    if (token.self_closing) return;
    for (const TextElement& element : kTextElements) {
      if (element.name == name) open_ = &element;
    }
    if (name == "guid" && XmlAttribute(token.bytes, "isPermaLink") == "false") open_ = nullptr;
    text_at_ = token.at;
  }

  void End() {
    if (open_ != nullptr && open_->use == TextUse::kUrl) {
      Add(TrimSpace(text_), open_->hop, open_->context, text_at_);
    } else if (open_ != nullptr && text_.find('<') != std::string::npos) {
      Html();
    }
    open_ = nullptr;
    if (deeper_ > 0) {
      --deeper_;
    } else if (bases_.size() > 1) {
      bases_.pop_back();
    }
  }

  void Html() {
    if (source_.nesting >= links_.limits().nesting_max) return;
    ExtractHtmlLinks({.bytes = text_,
                      .base = links_.AddBase(bases_.back()),
                      .offset = source_.OffsetOf(text_at_),
                      .verbatim = false,
                      .utf8 = source_.utf8,
                      .nesting = source_.nesting + 1},
                     links_);
  }

  void PushBase(const XmlScanner::Token& token) {
    if (bases_.size() >= kDepthMax) {
      ++deeper_;
      return;
    }
    BaseId base = bases_.back();
    if (token.bytes.find("xml:base") != std::string_view::npos) {
      const std::optional<std::string> href = XmlAttribute(token.bytes, "xml:base");
      const BaseId own = href ? links_.AddBase(base) : base;
      if (own != base) links_.SetBase(own, *href, source_.utf8);
      base = own;
    }
    bases_.push_back(base);
  }

  void AtomLink(const XmlScanner::Token& token) {
    const std::optional<std::string> href = XmlAttribute(token.bytes, "href");
    if (!href) return;
    const std::string rel = XmlAttribute(token.bytes, "rel").value_or("");
    const std::optional<Hop> hop = rel == "enclosure" ? Hop::kEmbed : HopForRelation(rel);
    if (hop) Add(*href, *hop, "feed/link", token.at);
  }

  // <?xml-stylesheet type="text/xsl" href="x.xsl"?>
  void StyleSheet(const XmlScanner::Token& token) {
    if (token.name != "xml-stylesheet") return;
    const std::optional<std::string> href = XmlAttribute(token.bytes, "href");
    if (href) Add(*href, Hop::kEmbed, "xml-stylesheet/@href", token.at);
  }

  void Add(std::string_view href, Hop hop, std::string_view context, std::size_t at) {
    links_.Add({.href = href,
                .hop = hop,
                .context = context,
                .offset = source_.OffsetOf(at),
                .base = bases_.back(),
                .utf8 = source_.utf8});
  }

  const LinkSource& source_;
  LinkCollector& links_;
  std::vector<BaseId> bases_;
  std::size_t deeper_ = 0;  // open elements beyond kDepthMax
  const TextElement* open_ = nullptr;
  std::string text_;
  std::size_t text_at_ = 0;
};

}  // namespace

void ExtractFeedLinks(const LinkSource& source, LinkCollector& links) {
  FeedReader(source, links).Run();
}

}  // namespace stele::html
