#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/registry.h"
#include "crawl/archived_copy.h"
#include "crawl/candidate.h"
#include "crawl/page_trouble.h"
#include "formats/http/message.h"
#include "net/fetch.h"

namespace stele::crawl {

// One URL that a response names.
struct Outlink {
  std::string url;           // absolute, without fragment and user
  char hop = 'L';            // as in Candidate::hops
  std::string_view context;  // where it stands: "img/@src"
};

struct Outlinks {
  std::vector<Outlink> links;
  std::size_t left_out = 0;            // beyond the limit
  bool nofollow = false;               // the document asks that its links be left alone
  std::optional<PageTrouble> trouble;  // the document is probably not what it should be
};

// Finds what responses name: in their headers, and in HTML, style sheets, scripts, feeds, sitemaps
// and whatever else formats/html reads. Thread-safe.
class OutlinkFinder {
 public:
  // Of larger payloads only the first bytes are read.
  static constexpr std::size_t kPayloadBytesMax = std::size_t{32} << 20;

  // `product_token` is the name that servers know us by. `favicons`: a page also names the icon
  // that browsers look for where it says nothing.
  explicit OutlinkFinder(std::string product_token, bool favicons)
      : codecs_(codec::StandardRegistry()),
        product_token_(std::move(product_token)),
        favicons_(favicons) {}

  // The payload without its content coding; of a large one the first bytes.
  std::string Content(const net::FetchResult& result) const;
  // `result` has a head and is what came for `asked`.
  Outlinks Find(const net::FetchResult& result, const Candidate& asked) const;
  // The same for a response that was kept before.
  Outlinks FindInCopy(const ArchivedCopy& copy, const Candidate& asked) const;

 private:
  // `interim`: the 1xx responses before it.
  Outlinks FindIn(const http::ResponseHead& head, std::string_view payload, const Candidate& asked,
                  std::string_view interim = {}) const;

  const codec::Registry codecs_;
  const std::string product_token_;
  const bool favicons_;
};

}  // namespace stele::crawl
