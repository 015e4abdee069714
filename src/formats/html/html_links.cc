// The tokenizer's tags are looked at once: each attribute's name is looked up in a perfect hash and
// the few that matter are noted by number, then the tag's kind decides what they mean. Nothing is
// copied on the way; views go to the collector, which drops repeated references before they cost
// anything.
#include "formats/html/html_links.h"

#include <array>
#include <cstdint>
#include <string>

#include "formats/html/character_reference.h"
#include "formats/html/css_links.h"
#include "formats/html/html_names.h"
#include "formats/html/json_links.h"
#include "formats/html/link_relation.h"
#include "formats/html/refresh.h"
#include "formats/html/script_links.h"
#include "formats/html/srcset.h"
#include "formats/html/tokenizer.h"
#include "formats/html/utf8.h"
#include "util/ascii.h"

namespace stele::html {
namespace {

using Id = AttributeId;

// The attributes of one tag that matter, by number. Clearing is one store.
class NotedAttributes {
 public:
  void Clear() { noted_ = 0; }
  bool empty() const { return noted_ == 0; }
  void Note(Id id, const Attribute& attribute) {
    attributes_[static_cast<std::size_t>(id)] = &attribute;
    noted_ |= std::uint64_t{1} << static_cast<unsigned>(id);
  }
  const Attribute* Get(Id id) const {
    const bool has = (noted_ >> static_cast<unsigned>(id) & 1) != 0;
    return has ? attributes_[static_cast<std::size_t>(id)] : nullptr;
  }
  std::string_view Value(Id id) const {
    const Attribute* attribute = Get(id);
    return attribute == nullptr ? std::string_view() : attribute->value;
  }

 private:
  static_assert(kAttributeIdCount <= 64);
  std::uint64_t noted_ = 0;
  std::array<const Attribute*, kAttributeIdCount> attributes_;
};

// The value with references decoded, where the page may not be UTF-8: bytes of the page stay as
// they are, and what references add beyond ASCII is percent-encoded, so that the two do not mix.
std::string DecodeApart(std::string_view raw) {
  std::string out;
  std::size_t at = 0;
  while (at < raw.size()) {
    if (raw[at] != '&') {
      out.push_back(raw[at++]);
      continue;
    }
    const ReferenceMatch match = MatchReference(raw.substr(at), ReferencePlace::kAttribute, true);
    if (match.outcome != ReferenceMatch::Outcome::kDecoded) {
      out.push_back(raw[at++]);
      continue;
    }
    for (const char c : match.text()) {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      const auto byte = static_cast<std::uint8_t>(c);
      if (byte < 0x80) {
        out.push_back(c);
      } else {
        out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
      }
    }
    at += match.length;
  }
  return out;
}

enum class ScriptKind { kScript, kJson, kJsonLd, kOther };

ScriptKind KindOfScript(std::string_view type) {
  const std::string_view essence = TrimSpace(type.substr(0, type.find(';')));
  if (essence.empty() || EqualsIgnoreCase(essence, "module")) return ScriptKind::kScript;
  const std::string lower = AsciiLower(essence.substr(0, 64));
  if (lower.find("ld+json") != std::string::npos) return ScriptKind::kJsonLd;
  if (lower.find("json") != std::string::npos || lower == "importmap") return ScriptKind::kJson;
  const bool script = lower.find("javascript") != std::string::npos ||
                      lower.find("ecmascript") != std::string::npos ||
                      lower.find("jscript") != std::string::npos;
  return script ? ScriptKind::kScript : ScriptKind::kOther;
}

bool IsMediaProperty(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"og:image", "og:video", "og:audio", "twitter:image",
                                            "twitter:player:stream"};
  constexpr std::string_view kNames[] = {"thumbnail",    "image",
                                         "thumbnailurl", "msapplication-tileimage",
                                         "contenturl",   "twitter:player"};
  constexpr std::string_view kSubproperties[] = {"", ":url", ":secure_url", ":src"};
  for (const std::string_view prefix : kPrefixes) {
    if (!StartsWithIgnoreCase(name, prefix)) continue;
    for (const std::string_view rest : kSubproperties) {
      if (EqualsIgnoreCase(name.substr(prefix.size()), rest)) return true;
    }
  }
  for (const std::string_view known : kNames) {
    if (EqualsIgnoreCase(name, known)) return true;
  }
  return false;
}

// data-src="{{url}}" and prose are not references.
bool IsBareReference(std::string_view value) {
  return TrimSpace(value).find_first_of(" \t\r\n{}<>\"") == std::string_view::npos;
}

class HtmlLinkSink final : public TokenSink {
 public:
  HtmlLinkSink(const LinkSource& source, LinkCollector& links) : source_(source), links_(links) {}

  void OnStartTag(const Tag& tag) override;
  void OnEndTag(const Tag& tag) override {
    if (raw_ != Raw::kNone) EndRaw();
    if (in_form_ && TagIdOf(tag.name) == TagId::kForm) in_form_ = form_posts_ = false;
  }
  void OnText(std::string_view, SourceRange at) override {
    if (raw_ == Raw::kNone) return;
    if (raw_at_.end == 0) raw_at_.begin = at.begin;
    raw_at_.end = at.end;
  }
  void OnComment(std::string_view text, SourceRange at) override;
  void OnDoctype(const Doctype&) override {}

  void Finish() {
    if (raw_ != Raw::kNone) EndRaw();
  }

 private:
  enum class Raw { kNone, kStyle, kScript, kJson, kJsonLd, kHtml };

  void Tagged(TagId tag, const Tag& source);
  void Common(TagId tag);
  void Anchor(TagId tag);
  void LinkElement();
  void Meta();
  void Form();
  void Object(TagId tag);
  void Param();
  void Iframe();
  void Lazy(const Attribute& attribute);

  void EndRaw();
  void Nested(std::string_view bytes, std::size_t offset, bool verbatim, bool utf8);
  LinkSource Piece(std::string_view bytes, std::uint64_t offset, bool verbatim) const;
  LinkSource ValuePiece(const Attribute& attribute);

  std::string_view ValueOf(const Attribute& attribute);
  void Add(Id id, Hop hop, std::string_view context) {
    if (const Attribute* attribute = noted_.Get(id)) AddFrom(*attribute, hop, context);
  }
  void AddFrom(const Attribute& attribute, Hop hop, std::string_view context) {
    AddValue(ValueOf(attribute), attribute, hop, context, source_.base, false);
  }
  void AddValue(std::string_view href, const Attribute& attribute, Hop hop,
                std::string_view context, BaseId base, bool nofollow) {
    links_.Add({.href = href,
                .hop = hop,
                .context = context,
                .offset = source_.OffsetOf(attribute.value_at.begin),
                .base = base,
                .utf8 = source_.utf8,
                .nofollow = nofollow});
  }
  void AddSrcset(const Attribute& attribute, std::string_view context);

  const LinkSource& source_;
  LinkCollector& links_;
  NotedAttributes noted_;
  std::string decoded_;  // holds what ValueOf had to rebuild
  Raw raw_ = Raw::kNone;
  SourceRange raw_at_;
  bool in_form_ = false;
  bool form_posts_ = false;
};

// --- Tags ---

void HtmlLinkSink::OnStartTag(const Tag& tag) {
  if (raw_ != Raw::kNone) EndRaw();
  noted_.Clear();
  for (const Attribute& attribute : tag.attributes) {
    const Id id = AttributeIdOf(attribute.name);
    switch (id) {
      case Id::kOther:
        break;
      case Id::kDataStar:
        Lazy(attribute);
        break;
      case Id::kOnStar:
        ExtractScriptLinks(ValuePiece(attribute), links_);
        break;
      case Id::kStyle:
        if (attribute.value.find('(') != std::string_view::npos) {
          ExtractCssLinks(ValuePiece(attribute), links_);
        }
        break;
      default:
        noted_.Note(id, attribute);
    }
  }
  const TagId id = TagIdOf(tag.name);
  // Only these mean something without attributes.
  if (noted_.empty() && id != TagId::kScript && id != TagId::kStyle && id != TagId::kForm &&
      id != TagId::kNoframes && id != TagId::kNoembed && id != TagId::kIframe) {
    return;
  }
  Tagged(id, tag);
}

void HtmlLinkSink::Tagged(TagId id, const Tag& tag) {
  switch (id) {
    case TagId::kA:
    case TagId::kArea:
      Anchor(id);
      break;
    case TagId::kBase:
      if (const Attribute* href = noted_.Get(Id::kHref)) {
        links_.SetBase(source_.base, ValueOf(*href), source_.utf8);
      }
      return;
    case TagId::kLink:
      LinkElement();
      return;
    case TagId::kMeta:
      Meta();
      return;
    case TagId::kForm:
      Form();
      break;
    case TagId::kObject:
    case TagId::kApplet:
      Object(id);
      break;
    case TagId::kParam:
      Param();
      return;
    case TagId::kIframe:
      Iframe();
      if (!tag.self_closing) raw_ = Raw::kHtml;
      break;
    case TagId::kNoframes:
    case TagId::kNoembed:
      raw_ = Raw::kHtml;
      break;
    case TagId::kStyle:
      raw_ = Raw::kStyle;
      break;
    case TagId::kScript:
      switch (KindOfScript(noted_.Value(Id::kType))) {
        case ScriptKind::kScript:
          raw_ = Raw::kScript;
          break;
        case ScriptKind::kJson:
          raw_ = Raw::kJson;
          break;
        case ScriptKind::kJsonLd:
          raw_ = Raw::kJsonLd;
          break;
        case ScriptKind::kOther:
          break;
      }
      break;
    default:
      break;
  }
  raw_at_ = {};
  if (!noted_.empty()) Common(id);
}

// What means the same on every element.
void HtmlLinkSink::Common(TagId tag) {
  if (tag != TagId::kA && tag != TagId::kArea) {
    // <image href>, <use xlink:href> and their relatives in SVG; elsewhere href is a link.
    Add(Id::kXlinkHref, Hop::kEmbed, "svg/@xlink:href");
    if (const Attribute* href = noted_.Get(Id::kHref)) {
      const bool embeds = tag == TagId::kScript || tag == TagId::kImage || tag == TagId::kUse ||
                          tag == TagId::kFeimage;
      AddFrom(*href, embeds ? Hop::kEmbed : Hop::kNavigation, "@href");
    }
  }
  if (const Attribute* src = noted_.Get(Id::kSrc)) {
    const std::string_view context = tag == TagId::kImg      ? "img/@src"
                                     : tag == TagId::kScript ? "script/@src"
                                     : tag == TagId::kIframe ? "iframe/@src"
                                     : tag == TagId::kFrame  ? "frame/@src"
                                     : tag == TagId::kSource ? "source/@src"
                                     : tag == TagId::kEmbed  ? "embed/@src"
                                     : tag == TagId::kInput  ? "input/@src"
                                                             : "@src";
    AddFrom(*src, Hop::kEmbed, context);
  }
  if (const Attribute* srcset = noted_.Get(Id::kSrcset)) AddSrcset(*srcset, "@srcset");
  Add(Id::kPoster, Hop::kEmbed, "@poster");
  Add(Id::kBackground, Hop::kEmbed, "@background");
  Add(Id::kLowsrc, Hop::kEmbed, "@lowsrc");
  Add(Id::kDynsrc, Hop::kEmbed, "@dynsrc");
  Add(Id::kManifest, Hop::kEmbed, "@manifest");
  Add(Id::kCite, Hop::kNavigation, "@cite");
  Add(Id::kLongdesc, Hop::kNavigation, "@longdesc");
  Add(Id::kUsemap, Hop::kNavigation, "@usemap");
  Add(Id::kProfile, Hop::kNavigation, "@profile");
  if (const Attribute* formaction = noted_.Get(Id::kFormaction)) {
    const Attribute* method = noted_.Get(Id::kFormmethod);
    const bool get = method != nullptr ? EqualsIgnoreCase(method->value, "get") : !form_posts_;
    if (get) AddFrom(*formaction, Hop::kNavigation, "@formaction");
  }
}

void HtmlLinkSink::Anchor(TagId tag) {
  const std::string_view rel = noted_.Value(Id::kRel);
  const bool nofollow = !rel.empty() && IsNofollowRelation(rel);
  const std::string_view context = tag == TagId::kA ? "a/@href" : "area/@href";
  for (const Id id : {Id::kHref, Id::kXlinkHref}) {
    const Attribute* href = noted_.Get(id);
    if (href == nullptr) continue;
    const std::string_view value = ValueOf(*href);
    if (StartsWithIgnoreCase(TrimSpace(value), "javascript:")) {
      ExtractScriptLinks(ValuePiece(*href), links_);
    } else {
      AddValue(value, *href, Hop::kNavigation, context, source_.base, nofollow);
    }
  }
}

void HtmlLinkSink::LinkElement() {
  const std::string_view rel = noted_.Value(Id::kRel);
  const std::optional<Hop> hop = HopForRelation(rel);
  const Attribute* href = noted_.Get(Id::kHref);
  if (hop && href != nullptr) {
    AddValue(ValueOf(*href), *href, *hop, "link/@href", source_.base, IsNofollowRelation(rel));
  }
  if (const Attribute* srcset = noted_.Get(Id::kImagesrcset)) {
    AddSrcset(*srcset, "link/@imagesrcset");
  }
}

void HtmlLinkSink::Meta() {
  const Attribute* content = noted_.Get(Id::kContent);
  if (content == nullptr) return;
  if (EqualsIgnoreCase(TrimSpace(noted_.Value(Id::kHttpEquiv)), "refresh")) {
    const std::optional<std::string_view> url = RefreshUrl(ValueOf(*content));
    if (url) {
      AddValue(*url, *content, Hop::kRedirect, "meta/refresh", source_.base, false);
    }
    return;
  }
  const std::string_view name = noted_.Value(Id::kName);
  if (EqualsIgnoreCase(name, "robots") && source_.nesting == 0) {
    const RobotsDirectives robots = ParseRobotsDirectives(content->value);
    if (robots.nofollow) links_.SetNofollow();
    if (robots.noindex) links_.SetNoindex();
    return;
  }
  for (const Id id : {Id::kProperty, Id::kName, Id::kItemprop}) {
    const std::string_view property = noted_.Value(id);
    if (property.empty()) continue;
    if (IsMediaProperty(property)) {
      AddFrom(*content, Hop::kEmbed, "meta/@content");
    } else if (EqualsIgnoreCase(property, "og:url")) {
      AddFrom(*content, Hop::kNavigation, "meta/@content");
    }
  }
}

void HtmlLinkSink::Form() {
  in_form_ = true;
  form_posts_ = EqualsIgnoreCase(TrimSpace(noted_.Value(Id::kMethod)), "post");
  if (!form_posts_) Add(Id::kAction, Hop::kNavigation, "form/@action");
}

// <object> and <applet>: their references are relative to codebase.
void HtmlLinkSink::Object(TagId tag) {
  BaseId base = source_.base;
  if (const Attribute* codebase = noted_.Get(Id::kCodebase)) {
    const BaseId own = links_.AddBase(base);
    if (own != base) links_.SetBase(own, ValueOf(*codebase), source_.utf8);
    base = own;
  }
  for (const Id id : {Id::kData, Id::kClassid}) {
    if (const Attribute* attribute = noted_.Get(id)) {
      AddValue(ValueOf(*attribute), *attribute, Hop::kEmbed,
               id == Id::kData ? "object/@data" : "object/@classid", base, false);
    }
  }
  if (const Attribute* archive = noted_.Get(Id::kArchive)) {
    const std::string_view list = ValueOf(*archive);
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find_first_of(", \t\r\n\f", at), list.size());
      AddValue(list.substr(at, end - at), *archive, Hop::kEmbed, "object/@archive", base, false);
      at = end + 1;
    }
  }
  const Attribute* code = noted_.Get(Id::kCode);
  if (tag == TagId::kApplet && code != nullptr && code->value.size() < 1024) {
    // A class name with dots, with or without the suffix.
    std::string name(TrimSpace(code->value));
    if (name.ends_with(".class")) name.resize(name.size() - 6);
    for (char& c : name) c = c == '.' ? '/' : c;
    if (!name.empty()) {
      AddValue(name + ".class", *code, Hop::kEmbed, "applet/@code", base, false);
    }
  }
}

// <param name=movie value=x.swf> inside <object>.
void HtmlLinkSink::Param() {
  constexpr std::string_view kNames[] = {"movie", "src", "url", "href", "filename", "file", "data"};
  const Attribute* value = noted_.Get(Id::kValue);
  if (value == nullptr || !IsBareReference(value->value)) return;
  for (const std::string_view name : kNames) {
    if (EqualsIgnoreCase(noted_.Value(Id::kName), name)) {
      AddFrom(*value, Hop::kEmbed, "param/@value");
    }
  }
}

void HtmlLinkSink::Iframe() {
  const Attribute* srcdoc = noted_.Get(Id::kSrcdoc);
  if (srcdoc == nullptr) return;
  const std::string document(srcdoc->value);
  Nested(document, srcdoc->value_at.begin, false, source_.utf8);
}

void HtmlLinkSink::Lazy(const Attribute& attribute) {
  const LazyAttribute lazy = LazyAttributeOf(attribute.name);
  if (lazy.value == LazyValue::kNone || attribute.value.empty()) return;
  if (lazy.value == LazyValue::kSrcset) {
    AddSrcset(attribute, lazy.context);
  } else if (lazy.value == LazyValue::kBackground &&
             attribute.value.find("url(") != std::string_view::npos) {
    ExtractCssLinks(ValuePiece(attribute), links_);
  } else if (IsBareReference(attribute.value)) {
    const bool maybe = lazy.value == LazyValue::kMaybeUrl;
    AddFrom(attribute, maybe ? Hop::kSpeculative : Hop::kEmbed, lazy.context);
  }
}

// --- Parts within ---

void HtmlLinkSink::OnComment(std::string_view, SourceRange at) {
  // <!--[if IE]> ... <![endif]-->, as old browsers read it.
  const std::string_view comment = source_.bytes.substr(at.begin, at.end - at.begin);
  if (!comment.starts_with("<!--[if")) return;
  const std::size_t start = comment.find("]>");
  if (start == std::string_view::npos) return;
  std::size_t end = comment.rfind("<![endif");
  if (end == std::string_view::npos || end < start) end = comment.size();
  Nested(comment.substr(start + 2, end - start - 2), at.begin + start + 2, true, source_.utf8);
}

void HtmlLinkSink::EndRaw() {
  const Raw kind = raw_;
  raw_ = Raw::kNone;
  if (raw_at_.end == 0) return;
  const std::string_view bytes = source_.bytes.substr(raw_at_.begin, raw_at_.end - raw_at_.begin);
  const std::uint64_t begin = raw_at_.begin;
  const LinkSource piece = Piece(bytes, begin, true);
  raw_at_ = {};
  switch (kind) {
    case Raw::kNone:
      break;
    case Raw::kStyle:
      ExtractCssLinks(piece, links_);
      break;
    case Raw::kScript:
      ExtractScriptLinks(piece, links_);
      break;
    case Raw::kJson:
      ExtractJsonLinks(piece, links_);
      break;
    case Raw::kJsonLd:
      ExtractJsonLdLinks(piece, links_);
      break;
    case Raw::kHtml:
      Nested(bytes, begin, true, source_.utf8);
      break;
  }
}

void HtmlLinkSink::Nested(std::string_view bytes, std::size_t offset, bool verbatim, bool utf8) {
  if (source_.nesting >= links_.limits().nesting_max) return;
  if (bytes.find('<') == std::string_view::npos) return;
  LinkSource piece = Piece(bytes, offset, verbatim);
  piece.base = links_.AddBase(source_.base);
  piece.utf8 = utf8;
  piece.nesting = source_.nesting + 1;
  ExtractHtmlLinks(piece, links_);
}

LinkSource HtmlLinkSink::Piece(std::string_view bytes, std::uint64_t offset, bool verbatim) const {
  LinkSource piece = source_;
  piece.bytes = bytes;
  piece.offset = source_.OffsetOf(offset);
  piece.verbatim = source_.verbatim && verbatim;
  return piece;
}

LinkSource HtmlLinkSink::ValuePiece(const Attribute& attribute) {
  const std::string_view value = ValueOf(attribute);
  const bool as_written = value.size() == attribute.value_at.end - attribute.value_at.begin;
  return Piece(value, attribute.value_at.begin, as_written);
}

// --- Values ---

std::string_view HtmlLinkSink::ValueOf(const Attribute& attribute) {
  const std::string_view value = attribute.value;
  if (source_.utf8 || IsAscii(value)) return value;
  const std::string_view raw = source_.bytes.substr(
      attribute.value_at.begin, attribute.value_at.end - attribute.value_at.begin);
  if (raw.find('&') == std::string_view::npos) return value;
  decoded_ = DecodeApart(raw);
  return decoded_;
}

void HtmlLinkSink::AddSrcset(const Attribute& attribute, std::string_view context) {
  SrcsetReader candidates(ValueOf(attribute));
  while (const std::optional<std::string_view> url = candidates.Next()) {
    AddValue(*url, attribute, Hop::kEmbed, context, source_.base, false);
  }
}

}  // namespace

void ExtractHtmlLinks(const LinkSource& source, LinkCollector& links) {
  HtmlLinkSink sink(source, links);
  Tokenizer tokenizer(sink, {});
  tokenizer.Feed(source.bytes);
  tokenizer.Finish();
  sink.Finish();
}

}  // namespace stele::html
