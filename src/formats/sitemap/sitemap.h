#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "util/timestamp.h"

// Links out of sitemaps (XML, index, text) and feeds (RSS, Atom, RDF): docs/formats/sitemap.md.
namespace stele::sitemap {

enum class LinkKind : std::uint8_t {
  kPage,     // of a sitemap
  kSitemap,  // of a sitemap index
  kItem,     // of a feed
  kMedia,    // an image, video or enclosure
};

struct Link {
  LinkKind kind = LinkKind::kPage;
  std::string url;                         // as it stands there, trimmed, entities resolved
  std::optional<Timestamp> last_modified;  // of the page or item, where it comes before the end
};

enum class DocumentKind : std::uint8_t {
  kUnknown,  // neither: it has no links for us
  kSitemap,
  kSitemapIndex,
  kText,
  kRss,
  kAtom,
};

struct SitemapLimits {
  std::uint64_t links_max = 50'000;
  std::uint64_t bytes_max = std::uint64_t{50} << 20;  // after gzip
  std::size_t url_bytes_max = 8192;                   // longer ones are left out
};

// Reads a document as it comes, gzip or not, in memory that does not grow with it. Never fails:
// broken XML gives the links that can be found. No entity is expanded but the five of XML and
// numbers, nothing else is ever loaded. Not thread-safe.
class SitemapReader {
 public:
  explicit SitemapReader(std::function<void(Link)> on_link, SitemapLimits limits = {});
  ~SitemapReader();

  void Feed(std::string_view bytes);
  // No more bytes come.
  void Finish();

  // Known once the first element was seen.
  DocumentKind kind() const;
  // A limit was reached; the rest was left out.
  bool cut() const;
  std::uint64_t links() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stele::sitemap
