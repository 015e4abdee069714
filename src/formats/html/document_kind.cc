#include "formats/html/document_kind.h"

#include <array>

#include "util/ascii.h"

namespace stele::html {
namespace {

constexpr auto kNone = std::string_view::npos;

struct Labelled {
  std::string_view essence;
  DocumentKind kind;
};

constexpr Labelled kLabels[] = {
    {"text/html", DocumentKind::kHtml},
    {"application/xhtml+xml", DocumentKind::kHtml},
    {"application/vnd.wap.xhtml+xml", DocumentKind::kHtml},
    {"text/vnd.wap.wml", DocumentKind::kHtml},
    {"image/svg+xml", DocumentKind::kHtml},
    {"text/css", DocumentKind::kCss},
    {"text/javascript", DocumentKind::kScript},
    {"application/javascript", DocumentKind::kScript},
    {"application/x-javascript", DocumentKind::kScript},
    {"application/ecmascript", DocumentKind::kScript},
    {"text/ecmascript", DocumentKind::kScript},
    {"text/x-javascript", DocumentKind::kScript},
    {"application/ld+json", DocumentKind::kJsonLd},
    {"application/pdf", DocumentKind::kPdf},
    {"application/x-pdf", DocumentKind::kPdf},
    {"application/vnd.apple.mpegurl", DocumentKind::kHls},
    {"application/x-mpegurl", DocumentKind::kHls},
    {"application/mpegurl", DocumentKind::kHls},
    {"audio/mpegurl", DocumentKind::kHls},
    {"audio/x-mpegurl", DocumentKind::kHls},
    {"application/dash+xml", DocumentKind::kDash},
    {"application/rss+xml", DocumentKind::kFeed},
    {"application/atom+xml", DocumentKind::kFeed},
    {"application/rdf+xml", DocumentKind::kFeed},
    {"text/xml", DocumentKind::kFeed},
    {"application/xml", DocumentKind::kFeed},
    {"text/x-opml", DocumentKind::kFeed},
};

constexpr Labelled kRoots[] = {
    {"html", DocumentKind::kHtml},
    {"svg", DocumentKind::kHtml},
    {"wml", DocumentKind::kHtml},
    {"rss", DocumentKind::kFeed},
    {"feed", DocumentKind::kFeed},
    {"RDF", DocumentKind::kFeed},
    {"opml", DocumentKind::kFeed},
    {"urlset", DocumentKind::kSitemap},
    {"sitemapindex", DocumentKind::kSitemap},
    {"MPD", DocumentKind::kDash},
};

constexpr auto kMagicNumbers = std::to_array<std::string_view>({
    "\x89PNG",
    "GIF8",
    "\xFF\xD8\xFF",
    "PK\x03\x04",
    "\x1F\x8B",
    "RIFF",
    "BM\x36",
    "OggS",
    "ID3",
    "\x7F"
    "ELF",
    "Rar!",
    "FWS",
    "CWS",
    "wOFF",
    "wOF2",
});

constexpr auto kHtmlStarts = std::to_array<std::string_view>({
    "<!doctype html",
    "<html",
    "<head",
    "<body",
    "<title",
    "<script",
    "<iframe",
    "<table",
    "<div",
    "<h1",
    "<font",
    "<style",
    "<meta",
    "<br",
    "<p>",
    "<a ",
    "<b>",
    "<center",
});

std::string_view SkipSpaceAndMark(std::string_view content) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  while (!content.empty() && IsAsciiSpace(content.front())) content.remove_prefix(1);
  return content;
}

// The name, without prefix, of the first element behind XML declaration, comments and doctype.
std::string_view RootElement(std::string_view head) {
  while (head.starts_with("<?") || head.starts_with("<!")) {
    const std::string_view mark = head.starts_with("<!--") ? "-->" : ">";
    const std::size_t end = head.find(mark);
    if (end == kNone) return {};
    head = SkipSpaceAndMark(head.substr(end + mark.size()));
  }
  if (!head.starts_with('<')) return {};
  std::size_t end = 1;
  while (end < head.size() && !IsAsciiSpace(head[end]) && head[end] != '>' && head[end] != '/') {
    ++end;
  }
  std::string_view name = head.substr(1, end - 1);
  const std::size_t colon = name.find(':');
  return colon == kNone ? name : name.substr(colon + 1);
}

DocumentKind KindOfRoot(std::string_view head) {
  const std::string_view root = RootElement(head);
  for (const Labelled& known : kRoots) {
    if (root == known.essence) return known.kind;
  }
  return DocumentKind::kNone;
}

template <typename List>
bool StartsLikeAny(std::string_view head, const List& starts) {
  for (const std::string_view start : starts) {
    if (StartsWithIgnoreCase(head, start)) return true;
  }
  return false;
}

bool HasMagicNumber(std::string_view content) {
  for (const std::string_view magic : kMagicNumbers) {
    if (content.starts_with(magic)) return true;
  }
  return false;
}

DocumentKind KindOfLabel(std::string_view essence) {
  for (const Labelled& known : kLabels) {
    if (essence == known.essence) return known.kind;
  }
  if (essence.ends_with("json")) return DocumentKind::kJson;
  if (essence.ends_with("+xml")) return DocumentKind::kFeed;
  return DocumentKind::kNone;
}

bool SaysNothing(std::string_view essence) {
  return essence.find('/') == kNone || essence == "text/plain" ||
         essence == "application/octet-stream" || essence == "unknown/unknown" ||
         essence == "application/unknown" || essence == "*/*";
}

}  // namespace

DocumentKind KindOfDocument(std::string_view content, std::string_view media_type) {
  constexpr std::size_t kHead = 1024;
  const DocumentKind label = KindOfLabel(media_type);
  if (content.substr(0, kHead).find("%PDF-") != kNone &&
      (label == DocumentKind::kPdf || content.starts_with("%PDF-"))) {
    return DocumentKind::kPdf;
  }
  const std::string_view head = SkipSpaceAndMark(content.substr(0, 4 * kHead));
  if (head.starts_with("#EXTM3U")) return DocumentKind::kHls;
  if (HasMagicNumber(content)) return DocumentKind::kNone;
  const bool unlabelled = SaysNothing(media_type);
  if (label == DocumentKind::kNone && !unlabelled) return DocumentKind::kNone;
  const DocumentKind root = KindOfRoot(head);
  if (label == DocumentKind::kFeed || head.starts_with("<?xml") || unlabelled ||
      (label == DocumentKind::kHtml && root != DocumentKind::kNone)) {
    if (root != DocumentKind::kNone) return root;
  }
  const bool looks_html = StartsLikeAny(head, kHtmlStarts);
  if (unlabelled) {
    if (looks_html) return DocumentKind::kHtml;
    return head.starts_with("<?xml") ? DocumentKind::kFeed : DocumentKind::kNone;
  }
  const bool code = label == DocumentKind::kCss || label == DocumentKind::kScript ||
                    label == DocumentKind::kJson || label == DocumentKind::kJsonLd ||
                    label == DocumentKind::kPdf;
  return code && looks_html ? DocumentKind::kHtml : label;
}

}  // namespace stele::html
