#include "crawl/outlinks.h"

#include <algorithm>
#include <optional>

#include "crawl/redirect_status.h"
#include "formats/html/document_kind.h"
#include "formats/html/extract_links.h"
#include "formats/http/content_decoder.h"
#include "formats/http/media_type.h"
#include "formats/http/message.h"
#include "formats/robots/robots.h"
#include "formats/sitemap/sitemap.h"
#include "formats/url/url.h"
#include "util/ascii.h"

namespace stele::crawl {
namespace {

constexpr std::uint64_t kDecodedBytesMax = std::uint64_t{64} << 20;
// Of one document; with the bytes of all its URLs, a bound on the memory that it takes.
constexpr std::size_t kLinksMax = 50'000;
// More than is fetched, so that what is not is named.
constexpr std::size_t kUrlBytesMax = std::size_t{16} << 10;
constexpr std::size_t kLinkBytesMax = std::size_t{16} << 20;

// The payload or its first bytes; a view into the result or into `storage`.
std::string_view PayloadOf(const net::FetchResult& result, std::string& storage) {
  if (const std::optional<std::string_view> whole = result.PayloadInMemory(storage)) {
    return whole->substr(0, OutlinkFinder::kPayloadBytesMax);
  }
  const std::unique_ptr<io::Source> source = result.OpenPayload();
  storage.clear();
  std::string piece(std::size_t{256} << 10, '\0');
  while (storage.size() < OutlinkFinder::kPayloadBytesMax) {
    const Result<std::size_t> size = source->Read(piece);
    if (!size || *size == 0) break;
    storage.append(piece, 0, *size);
  }
  return storage;
}

// Those of the content, and what the way added but for chunks, which are undone.
std::vector<std::string_view> CodingsOf(const http::Headers& headers) {
  std::vector<std::string_view> codings = http::ContentCodings(headers);
  for (const std::string_view coding : headers.List("Transfer-Encoding")) {
    if (!EqualsIgnoreCase(coding, "chunked")) codings.push_back(coding);
  }
  return codings;
}

std::string Decoded(const codec::Registry& codecs, const http::Headers& headers,
                    std::string_view payload) {
  http::ContentLimits limits;
  limits.size_max = kDecodedBytesMax;
  http::ContentDecoder decoder(codecs, CodingsOf(headers), limits);
  if (decoder.passes_through()) return std::string(payload);
  std::string out;
  std::string piece(std::size_t{256} << 10, '\0');
  for (;;) {
    const http::ContentDecoder::Step step = decoder.Decode(payload, piece, true);
    payload.remove_prefix(step.consumed);
    out.append(piece, 0, step.produced);
    if (step.done) return out;
  }
}

std::string Value(const http::Headers& headers, std::string_view name) {
  const std::optional<std::string_view> value = headers.Find(name);
  return value ? http::Unfold(*value) : std::string();
}

// A user and a password are not sent, and are no part of where something is. Often they are none:
// http://someone@example.org/ is a mail address that was linked wrongly.
std::string WithoutUser(std::string url) {
  const std::size_t begin = url.find("://") + 3;
  const std::size_t at = url.find('@', begin);
  if (at < url.find_first_of("/?", begin)) url.erase(begin, at + 1 - begin);
  return url;
}

// False: it is none, but perhaps the home page that a site answers with to whatever it has not.
bool FindInSitemap(std::string_view content, const url::Url& base, Outlinks& found) {
  sitemap::SitemapReader reader([&](const sitemap::Link& link) {
    const Result<url::Url> absolute = url::Parse(link.url, &base);
    if (!absolute || !absolute->is_http()) return;
    const char hop = link.kind == sitemap::LinkKind::kSitemap ? 'M'
                     : link.kind == sitemap::LinkKind::kMedia ? 'E'
                                                              : 'L';
    found.links.push_back(
        {WithoutUser(std::string(absolute->href_without_fragment())), hop, "sitemap/loc"});
  });
  reader.Feed(content);
  reader.Finish();
  return reader.kind() != sitemap::DocumentKind::kUnknown;
}

// One head after another, as 1xx responses come; views into `bytes`.
std::vector<http::ResponseHead> HeadsIn(std::string_view bytes) {
  std::vector<http::ResponseHead> heads;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find("\r\n\r\n");
    const std::size_t length = end == std::string_view::npos ? bytes.size() : end + 4;
    if (auto head = http::ParseResponseHead(bytes.substr(0, length))) {
      heads.push_back(*std::move(head));
    }
    bytes.remove_prefix(length);
  }
  return heads;
}

// Any of them may say it.
bool IsNofollow(const http::Headers& headers, std::string_view product_token) {
  const std::vector<std::string_view> tags = headers.FindAll("X-Robots-Tag");
  return std::any_of(tags.begin(), tags.end(), [&](std::string_view tag) {
    return robots::ParsePageRobots(http::Unfold(tag), product_token).no_follow;
  });
}

}  // namespace

std::string OutlinkFinder::Content(const net::FetchResult& result) const {
  const Result<http::ResponseHead> head = http::ParseResponseHead(result.head);
  if (!head) return {};
  std::string storage;
  return Decoded(codecs_, head->headers, PayloadOf(result, storage));
}

Outlinks OutlinkFinder::FindIn(const http::ResponseHead& head, std::string_view payload,
                               const Candidate& asked, std::string_view interim) const {
  Outlinks found;
  const Result<url::Url> base = url::Parse(asked.url);
  if (!base) return found;
  const std::string content = Decoded(codecs_, head.headers, payload);
  if (asked.is_sitemap() && head.status == 200 && FindInSitemap(content, *base, found))
    return found;
  std::vector<std::string_view> link_headers = head.headers.FindAll("Link");
  // Hints that came early name what the page needs.
  const std::vector<http::ResponseHead> early = HeadsIn(interim);
  for (const http::ResponseHead& hints : early) {
    for (const std::string_view value : hints.headers.FindAll("Link")) {
      link_headers.push_back(value);
    }
  }
  const std::string content_type = Value(head.headers, "Content-Type");
  const std::string refresh = Value(head.headers, "Refresh");
  const std::string location =
      LocationIsLink(head.status) ? Value(head.headers, "Location") : std::string();
  const std::string content_location = Value(head.headers, "Content-Location");
  html::LinkDocument document;
  document.url = asked.url;
  // A script that another one only seems to name belongs to a page that nobody knows.
  if (asked.hops.ends_with('E')) document.page_url = asked.via;
  document.content = content;
  document.content_type = content_type;
  document.link_headers = link_headers;
  document.refresh = refresh;
  document.location = location;
  document.content_location = content_location;
  html::LinkLimits limits;
  limits.links_max = kLinksMax;
  limits.url_bytes_max = kUrlBytesMax;
  std::size_t bytes = 0;
  const auto take = [&](html::Link&& link) {
    if (!link.url.starts_with("http")) return;
    bytes += link.url.size();
    if (bytes > kLinkBytesMax) {
      ++found.left_out;
      return;
    }
    found.links.push_back(
        {WithoutUser(std::move(link.url)), html::HopLetter(link.hop), link.context});
  };
  const html::LinkSummary summary = html::ExtractLinks(document, take, limits);
  found.left_out += summary.left_out + summary.too_long;
  found.nofollow = summary.nofollow || IsNofollow(head.headers, product_token_);
  const std::string media_type = http::ParseMediaType(content_type).type;
  if (html::KindOfDocument(content, media_type) == html::DocumentKind::kHtml) {
    found.trouble = FindTrouble(head.status, head.headers, content);
    if (favicons_ && head.status == 200 && asked.is_page()) {
      found.links.push_back({base->origin() + "/favicon.ico", 'I', "inferred"});
    }
  }
  return found;
}

Outlinks OutlinkFinder::Find(const net::FetchResult& result, const Candidate& asked) const {
  const Result<http::ResponseHead> head = http::ParseResponseHead(result.head);
  if (!head) return {};
  std::string storage;
  return FindIn(*head, PayloadOf(result, storage), asked, result.interim);
}

Outlinks OutlinkFinder::FindInCopy(const ArchivedCopy& copy, const Candidate& asked) const {
  const Result<http::ResponseHead> head = http::ParseResponseHead(copy.head);
  if (!head) return {};
  return FindIn(*head, copy.payload, asked);
}

}  // namespace stele::crawl
