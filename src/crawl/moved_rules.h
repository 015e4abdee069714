#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "crawl/frontier.h"
#include "formats/url/url.h"
#include "util/result.h"

namespace stele::crawl {

// What a robots.txt is redirected to may be a page, or the robots.txt of another place. A run
// captures it once, as itself if it was found as such. Borrows the frontier for life. Errors are
// those of the frontier.
class MovedRules {
 public:
  explicit MovedRules(Frontier& frontier) : frontier_(frontier) {}

  // False: it was seen, or is being captured; what came is not kept.
  Result<bool> Begin(std::string_view url);
  // It need not be queued.
  bool IsBeingCaptured(std::string_view url) const;
  // Its capture is durable. Counts from the next commit on.
  void Finish(const url::Url& url);
  // Whether a robots.txt was captured for another place.
  Result<bool> Has(const url::Url& robots) const;

 private:
  Frontier& frontier_;
  std::unordered_set<std::string> under_way_;  // keys
};

}  // namespace stele::crawl
