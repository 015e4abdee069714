// Tags say where in the source their attributes stand, so that most references only get a prefix in
// front of them: the page's own bytes are copied from one insertion to the next.
#include "access/html_rewriter.h"

#include <algorithm>

#include "access/css_rewriter.h"
#include "access/escape.h"
#include "access/script_rewriter.h"
#include "formats/html/html_names.h"
#include "formats/html/refresh.h"
#include "formats/html/srcset.h"
#include "util/ascii.h"

namespace stele::access {
namespace {

using html::AttributeId;
using html::TagId;

// More of a tag, style or script element than this is not kept.
constexpr std::size_t kPendingMax = std::size_t{4} << 20;
// Documents in documents.
constexpr int kDepthMax = 3;

constexpr std::string_view kPage = "mp_";
constexpr std::string_view kImage = "im_";
constexpr std::string_view kOther = "oe_";

std::string_view LinkModifier(const html::Tag& tag) {
  for (const html::Attribute& attribute : tag.attributes) {
    if (attribute.name != "rel") continue;
    const std::string rel = AsciiLower(attribute.value);
    if (rel.find("stylesheet") != std::string::npos) return "cs_";
    if (rel.find("icon") != std::string::npos) return kImage;
    if (rel.find("modulepreload") != std::string::npos) return "js_";
  }
  return kPage;
}

std::string_view SourceModifier(TagId tag) {
  switch (tag) {
    case TagId::kImg:
    case TagId::kImage:
    case TagId::kInput:
      return kImage;
    case TagId::kScript:
      return "js_";
    case TagId::kFrame:
      return "fr_";
    case TagId::kIframe:
      return "if_";
    default:
      return kOther;
  }
}

// Data blocks, such as JSON-LD, are no scripts.
bool IsScript(const html::Tag& tag) {
  for (const html::Attribute& attribute : tag.attributes) {
    if (attribute.name != "type" || TrimSpace(attribute.value).empty()) continue;
    const std::string type = AsciiLower(TrimSpace(attribute.value));
    return type == "module" || type.find("javascript") != std::string::npos ||
           type.find("ecmascript") != std::string::npos;
  }
  return true;
}

std::size_t SpacesBefore(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), IsAsciiSpace);
  return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

HtmlRewriter::HtmlRewriter(UrlRewriter& urls, std::string banner, int depth)
    : urls_(urls), banner_(std::move(banner)), tokenizer_(*this, {}), depth_(depth) {}

void HtmlRewriter::Feed(std::string_view piece, std::string& out) {
  pending_ += piece;
  tokenizer_.Feed(piece);
  Flush(out);
}

void HtmlRewriter::Finish(std::string& out) {
  tokenizer_.Finish();
  if (raw_ != Raw::kNone) EndRaw();
  seen_ = pending_begin_ + pending_.size();
  Flush(out);
  out += banner_;
  banner_.clear();
}

void HtmlRewriter::Flush(std::string& out) {
  const std::uint64_t end = pending_begin_ + pending_.size();
  // A style or script element is looked at as a whole.
  std::uint64_t safe = raw_ != Raw::kNone ? raw_at_.begin : seen_;
  if (end - std::min(safe, end) > kPendingMax) {
    safe = end;
    raw_ = Raw::kNone;
  }
  CopyTo(safe);
  out += ready_;
  ready_.clear();
  const std::uint64_t gone = std::min(copied_, end) - pending_begin_;
  pending_.erase(0, static_cast<std::size_t>(gone));
  pending_begin_ += gone;
}

void HtmlRewriter::CopyTo(std::uint64_t offset) {
  const std::uint64_t end = std::min(offset, pending_begin_ + pending_.size());
  if (end <= copied_) return;
  ready_.append(pending_, static_cast<std::size_t>(copied_ - pending_begin_),
                static_cast<std::size_t>(end - copied_));
  copied_ = end;
}

void HtmlRewriter::Insert(std::uint64_t offset, std::string_view text) {
  if (offset < copied_) return;
  CopyTo(offset);
  ready_ += text;
}

void HtmlRewriter::Replace(html::SourceRange at, std::string_view text) {
  if (at.begin < copied_) return;
  CopyTo(at.begin);
  ready_ += text;
  copied_ = at.end;
}

std::string_view HtmlRewriter::Source(html::SourceRange at) const {
  if (at.begin < pending_begin_ || at.end > pending_begin_ + pending_.size()) return "";
  return std::string_view(pending_).substr(static_cast<std::size_t>(at.begin - pending_begin_),
                                           static_cast<std::size_t>(at.end - at.begin));
}

bool HtmlRewriter::IsPlain(const html::Attribute& attribute) const {
  return Source(attribute.value_at) == attribute.value;
}

void HtmlRewriter::OnStartTag(const html::Tag& tag) {
  if (raw_ != Raw::kNone) EndRaw();
  const TagId id = html::TagIdOf(tag.name);
  if (id == TagId::kMeta) {
    Meta(tag);
  } else {
    for (const html::Attribute& attribute : tag.attributes) Attribute(tag, attribute);
  }
  seen_ = tag.at.end;
  if (id == TagId::kStyle && !tag.self_closing) raw_ = Raw::kStyle;
  if (id == TagId::kScript && IsScript(tag)) raw_ = Raw::kScript;
  raw_at_ = {tag.at.end, tag.at.end};
  if (tag.name == "body" && !banner_.empty()) {
    Insert(tag.at.end, banner_);
    banner_.clear();
  }
}

void HtmlRewriter::OnEndTag(const html::Tag& tag) {
  if (raw_ != Raw::kNone) EndRaw();
  seen_ = tag.at.end;
}

void HtmlRewriter::OnText(std::string_view, html::SourceRange at) {
  seen_ = at.end;
  raw_at_.end = at.end;
}

void HtmlRewriter::OnComment(std::string_view, html::SourceRange at) { seen_ = at.end; }

void HtmlRewriter::OnDoctype(const html::Doctype& doctype) { seen_ = doctype.at.end; }

void HtmlRewriter::EndRaw() {
  const bool is_style = raw_ == Raw::kStyle;
  raw_ = Raw::kNone;
  const std::string_view text = Source(raw_at_);
  if (text.empty()) return;
  Replace(raw_at_, is_style ? RewriteCss(text, urls_) : RewriteScript(text, urls_));
}

void HtmlRewriter::Attribute(const html::Tag& tag, const html::Attribute& attribute) {
  const TagId id = html::TagIdOf(tag.name);
  switch (html::AttributeIdOf(attribute.name)) {
    case AttributeId::kHref:
      if (id == TagId::kBase) urls_.SetBase(attribute.value);
      return Reference(attribute, id == TagId::kLink ? LinkModifier(tag) : kPage);
    case AttributeId::kXlinkHref:
      return Reference(attribute, kPage);
    case AttributeId::kSrc:
      return Reference(attribute, SourceModifier(id));
    case AttributeId::kAction:
    case AttributeId::kFormaction:
      return Reference(attribute, kPage);
    case AttributeId::kBackground:
    case AttributeId::kPoster:
    case AttributeId::kLowsrc:
    case AttributeId::kDynsrc:
      return Reference(attribute, kImage);
    case AttributeId::kData:
      if (id == TagId::kObject) Reference(attribute, kOther);
      return;
    case AttributeId::kCodebase:
    case AttributeId::kLongdesc:
      return Reference(attribute, kOther);
    case AttributeId::kSrcset:
    case AttributeId::kImagesrcset:
      return Srcset(attribute);
    case AttributeId::kStyle:
      return Style(attribute);
    case AttributeId::kOnStar:
      return Script(attribute);
    case AttributeId::kSrcdoc:
      return Srcdoc(attribute);
    default:
      // Of what is rewritten the hash is another.
      if (attribute.name == "integrity") Insert(attribute.name_at.begin, "data-archive-");
  }
}

void HtmlRewriter::Meta(const html::Tag& tag) {
  bool is_refresh = false;
  for (const html::Attribute& attribute : tag.attributes) {
    if (attribute.name == "http-equiv") {
      is_refresh = EqualsIgnoreCase(TrimSpace(attribute.value), "refresh");
    }
  }
  for (const html::Attribute& attribute : tag.attributes) {
    if (attribute.name == "http-equiv" && !is_refresh &&
        !EqualsIgnoreCase(TrimSpace(attribute.value), "content-type")) {
      // A policy of the page would forbid what we make of it.
      Insert(attribute.value_at.begin, "X-Archive-Orig-");
    }
    if (attribute.name != "content" || !is_refresh) continue;
    const std::optional<std::string_view> url = html::RefreshUrl(attribute.value);
    const std::optional<Rewritten> rewritten = url ? urls_.Rewrite(*url, kPage) : std::nullopt;
    if (!rewritten) continue;
    const auto at = static_cast<std::size_t>(url->data() - attribute.value.data());
    std::string value(attribute.value.substr(0, at));
    value +=
        rewritten->replacement ? *rewritten->replacement : rewritten->insert + std::string(*url);
    value += attribute.value.substr(at + url->size());
    SetValue(attribute, value);
  }
}

void HtmlRewriter::SetValue(const html::Attribute& attribute, std::string_view value) {
  if (value == attribute.value) return;
  Replace(attribute.value_at, IsPlain(attribute) ? value : EscapeBareValue(value));
}

void HtmlRewriter::Reference(const html::Attribute& attribute, std::string_view modifier) {
  const std::optional<Rewritten> rewritten = urls_.Rewrite(attribute.value, modifier);
  if (!rewritten) return;
  if (rewritten->replacement) {
    return Replace(attribute.value_at, EscapeBareValue(*rewritten->replacement));
  }
  const std::size_t spaces = SpacesBefore(Source(attribute.value_at));
  Insert(attribute.value_at.begin + spaces, rewritten->insert);
}

void HtmlRewriter::Srcset(const html::Attribute& attribute) {
  html::SrcsetReader candidates(attribute.value);
  std::string value;
  std::size_t done = 0;
  while (const std::optional<std::string_view> url = candidates.Next()) {
    const std::optional<Rewritten> rewritten = urls_.Rewrite(*url, kImage);
    if (!rewritten) continue;
    const auto at = static_cast<std::size_t>(url->data() - attribute.value.data());
    value += attribute.value.substr(done, at - done);
    done = at;
    if (rewritten->replacement) {
      value += *rewritten->replacement;
      done += url->size();
    } else {
      value += rewritten->insert;
    }
  }
  if (done == 0 && value.empty()) return;
  value += attribute.value.substr(done);
  SetValue(attribute, value);
}

void HtmlRewriter::Style(const html::Attribute& attribute) {
  if (attribute.value.find('(') == std::string_view::npos) return;
  SetValue(attribute, RewriteCss(attribute.value, urls_));
}

void HtmlRewriter::Script(const html::Attribute& attribute) {
  SetValue(attribute, RewriteScript(attribute.value, urls_));
}

// A document in an attribute; what is relative in it is relative to this one.
void HtmlRewriter::Srcdoc(const html::Attribute& attribute) {
  if (depth_ == kDepthMax) return;
  UrlRewriter urls = urls_;
  HtmlRewriter inner(urls, "", depth_ + 1);
  std::string document;
  inner.Feed(attribute.value, document);
  inner.Finish(document);
  if (document == attribute.value) return;
  const bool plain = IsPlain(attribute) && document.find('&') == std::string::npos;
  Replace(attribute.value_at, plain ? document : EscapeBareValue(document));
}

}  // namespace stele::access
