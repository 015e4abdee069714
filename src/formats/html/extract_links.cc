#include "formats/html/extract_links.h"

#include "formats/html/charset.h"
#include "formats/html/css_links.h"
#include "formats/html/dash_links.h"
#include "formats/html/feed_links.h"
#include "formats/html/hls_links.h"
#include "formats/html/html_links.h"
#include "formats/html/json_links.h"
#include "formats/html/link_collector.h"
#include "formats/html/link_header.h"
#include "formats/html/link_relation.h"
#include "formats/html/pdf_links.h"
#include "formats/html/script_links.h"
#include "formats/html/sitemap_links.h"
#include "formats/html/text_decoder.h"
#include "formats/http/media_type.h"

namespace stele::html {
namespace {

void ExtractByKind(DocumentKind kind, const LinkSource& source, LinkCollector& links) {
  switch (kind) {
    case DocumentKind::kNone:
      return;
    case DocumentKind::kHtml:
      return ExtractHtmlLinks(source, links);
    case DocumentKind::kCss:
      return ExtractCssLinks(source, links);
    case DocumentKind::kScript:
      return ExtractScriptLinks(source, links);
    case DocumentKind::kJson:
      return ExtractJsonLinks(source, links);
    case DocumentKind::kJsonLd:
      return ExtractJsonLdLinks(source, links);
    case DocumentKind::kFeed:
      return ExtractFeedLinks(source, links);
    case DocumentKind::kSitemap:
      return ExtractSitemapLinks(source, links);
    case DocumentKind::kPdf:
      return ExtractPdfLinks(source, links);
    case DocumentKind::kHls:
      return ExtractHlsLinks(source, links);
    case DocumentKind::kDash:
      return ExtractDashLinks(source, links);
  }
}

void ExtractHeaders(const LinkDocument& document, LinkCollector& links) {
  ExtractLocationLinks({.bytes = document.location}, links);
  ExtractContentLocationLinks({.bytes = document.content_location}, links);
  ExtractRefreshHeaderLinks({.bytes = document.refresh}, links);
  for (const std::string_view value : document.link_headers) {
    ExtractLinkHeaderLinks({.bytes = value}, links);
  }
  const RobotsDirectives robots = ParseRobotsDirectives(document.robots_tag);
  if (robots.nofollow) links.SetNofollow();
  if (robots.noindex) links.SetNoindex();
}

}  // namespace

LinkSummary ExtractLinks(const LinkDocument& document, const LinkSink& sink,
                         const LinkLimits& limits) {
  std::string_view content = document.content;
  std::optional<EncodingChoice> declared;
  std::string converted;
  const http::MediaType label = http::ParseMediaType(document.content_type);
  DocumentKind kind = KindOfDocument(content, label.type);
  if (kind != DocumentKind::kPdf && kind != DocumentKind::kHls) {
    declared = DeclaredEncoding(content, label.charset);
  }
  if (declared && !HasAsciiMarkup(declared->encoding)) {
    converted = DecodeText(content.substr(declared->bom_size), declared->encoding);
    content = converted;
    declared->encoding = Encoding::kUtf8;
    kind = KindOfDocument(content, label.type);
  }
  LinkCollector links(content, document.url,
                      declared ? std::optional(declared->encoding) : std::nullopt, limits);
  // References of the header are relative to the URL, not to a <base> in the document.
  BaseId body = links.AddBase(0);
  ExtractHeaders(document, links);
  if (kind == DocumentKind::kScript) links.SetGuessBase(document.page_url);
  const bool utf8 = declared && declared->encoding == Encoding::kUtf8;
  ExtractByKind(kind, {.bytes = content, .base = body, .utf8 = utf8}, links);
  return links.Finish(sink);
}

}  // namespace stele::html
