#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "formats/html/extract_links.h"
#include "formats/html/utf8.h"
#include "formats/url/url.h"
#include "util/check.h"

// The first byte chooses the extractor by its media type, the rest is the document. Links must be
// absolute URLs that parse to themselves, come once per hop, and stand inside the document.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stele::html;
  static constexpr std::string_view kTypes[] = {
      "text/html",
      "text/css",
      "text/javascript",
      "application/json",
      "application/ld+json",
      "application/rss+xml",
      "text/xml",
      "application/pdf",
      "application/vnd.apple.mpegurl",
      "application/dash+xml",
      "",
      "text/html; charset=shift_jis",
      "text/html; charset=utf-16le",
      "text/html; charset=utf-8",
  };
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t choice = data[0] % (std::size(kTypes) + 1);
  LinkDocument document{.url = "http://example.org/dir/page.html?q"};
  const std::string_view link_headers[] = {rest};
  if (choice == std::size(kTypes)) {
    document.link_headers = link_headers;
    document.refresh = rest;
    document.location = rest;
    document.robots_tag = rest;
  } else {
    document.content = rest;
    document.content_type = kTypes[choice];
  }
  LinkLimits limits;
  limits.links_max = 200;
  limits.speculative_links_max = 50;
  limits.url_bytes_max = 300;
  limits.inflated_bytes_max = 1 << 20;
  std::set<std::pair<Hop, std::string>> seen;
  std::size_t count = 0;
  const LinkSummary summary = ExtractLinks(
      document,
      [&](Link&& link) {
        ++count;
        Check(link.offset <= size * 3);  // UTF-16 becomes longer in UTF-8
        Check(!link.context.empty());
        const stele::Result<stele::url::Url> parsed = stele::url::Parse(link.url);
        Check(parsed.ok() && parsed->href() == link.url && !parsed->has_fragment());
        Check(seen.emplace(link.hop, link.url).second);
      },
      limits);
  Check(summary.links == count && count <= limits.links_max);
  return 0;
}
