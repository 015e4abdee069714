// Elements nest, and each may carry BaseURL children that hold for its later children and their
// descendants. A stack of bases follows the nesting; of several BaseURLs in one element, which are
// alternatives, the first is the base.
#include "formats/html/dash_links.h"

#include <vector>

#include "formats/html/xml_scanner.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

constexpr std::size_t kDepthMax = 64;

struct MediaAttribute {
  std::string_view name;
  std::string_view context;
};
constexpr MediaAttribute kMediaAttributes[] = {
    {"media", "dash/@media"},
    {"sourceURL", "dash/@sourceURL"},
    {"initialization", "dash/@initialization"},
    {"index", "dash/@index"},
    {"xlink:href", "dash/@xlink:href"},
};

class DashReader {
 public:
  DashReader(const LinkSource& source, LinkCollector& links) : source_(source), links_(links) {
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
          if (in_text_) AppendDecodedXml(token.bytes, text_);
          break;
        case XmlScanner::Kind::kCdata:
          if (in_text_) text_.append(token.bytes);
          break;
        case XmlScanner::Kind::kEnd:
          End(XmlLocalName(token.name));
          break;
        case XmlScanner::Kind::kInstruction:
          break;
      }
    }
  }

 private:
  void Start(const XmlScanner::Token& token) {
    text_.clear();
    text_at_ = token.at;
    const std::string_view name = XmlLocalName(token.name);
    in_text_ = !token.self_closing && (name == "BaseURL" || name == "Location");
    for (const MediaAttribute& attribute : kMediaAttributes) {
      const std::optional<std::string> value = XmlAttribute(token.bytes, attribute.name);
      if (value) Add(*value, attribute.context, token.at);
    }
    if (token.self_closing || in_text_) return;
    if (bases_.size() < kDepthMax) {
      bases_.push_back(bases_.back());
      own_base_.resize(bases_.size());
      own_base_.back() = false;
    } else {
      ++deeper_;
    }
  }

  void End(std::string_view name) {
    if (in_text_) {
      in_text_ = false;
      const std::string_view url = TrimSpace(text_);
      if (name == "Location") Add(url, "dash/Location", text_at_);
      if (name == "BaseURL") BaseUrl(url);
      return;
    }
    if (deeper_ > 0) {
      --deeper_;
    } else if (bases_.size() > 1) {
      bases_.pop_back();
      own_base_.resize(bases_.size());
    }
  }

  void BaseUrl(std::string_view url) {
    // One that does not end in '/' may well be the media file itself.
    if (!url.ends_with('/')) Add(url, "dash/BaseURL", text_at_);
    own_base_.resize(bases_.size());
    if (own_base_.back()) return;
    own_base_.back() = true;
    const BaseId base = links_.AddBase(bases_.back());
    if (base == bases_.back()) return;
    links_.SetBase(base, url, source_.utf8);
    bases_.back() = base;
  }

  void Add(std::string_view href, std::string_view context, std::size_t at) {
    if (href.find('$') != std::string_view::npos) return;
    links_.Add({.href = href,
                .hop = Hop::kEmbed,
                .context = context,
                .offset = source_.OffsetOf(at),
                .base = bases_.back(),
                .utf8 = source_.utf8});
  }

  const LinkSource& source_;
  LinkCollector& links_;
  std::vector<BaseId> bases_;
  std::vector<char> own_base_{0};  // for each base, whether its element had a BaseURL
  std::size_t deeper_ = 0;         // open elements beyond kDepthMax
  bool in_text_ = false;
  std::string text_;
  std::size_t text_at_ = 0;
};

}  // namespace

void ExtractDashLinks(const LinkSource& source, LinkCollector& links) {
  DashReader(source, links).Run();
}

}  // namespace stele::html
