#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "crawl/reachability.h"
#include "formats/url/url.h"
#include "util/result.h"

namespace stele::crawl {

// In crawl.log, of a seed without a scheme that http did not bring and https does.
inline constexpr std::string_view kByHttpsAnnotation = "byHttps";

// "example.org" is http://example.org/. Errors: kInvalid, also where it has a user or a password
// in it, which must not be stored.
Result<url::Url> ParseSeed(std::string_view text);
// "https://example.org/" does, "example.org:8080" does not.
bool NamesScheme(std::string_view text);
// What is stored of a seed: its URL, without a scheme where none was given. Errors: those of
// ParseSeed().
Result<std::string> SeedText(std::string_view text);
// Whether they are the same URLs, in this order.
bool AreSameSeeds(const std::vector<std::string>& some, const std::vector<std::string>& others);

// The same place by https: at the port that it names, else at that of https. Requires: it is http.
url::Url ByHttps(std::string_view http_url);

// Seeds that were given without a scheme. They are asked for by http, and as soon as that fails by
// https, too; who answers first has them. Not thread-safe.
class SchemelessSeeds {
 public:
  // `text` is as ParseSeed() wants it; nothing happens where it names a scheme.
  void Add(std::string_view text);
  // It has such seeds, and nobody failed to answer there yet.
  bool IsUntried(const std::string& origin) const { return urls_.contains(origin); }
  // Nobody answered there. Returns the seeds that are to be asked for by https now.
  std::vector<std::string> Fail(const std::string& origin, const Reachability::Failure& failure);
  bool HasFailed(const std::string& origin) const { return failed_.contains(origin); }
  // Why this seed, named by its http URL, is asked for by https, too; null: it is not.
  const Reachability::Failure* WhyByHttps(const std::string& http_url) const;

 private:
  std::unordered_map<std::string, std::vector<std::string>> urls_;  // by origin
  std::unordered_set<std::string> failed_;                          // origins
  std::unordered_map<std::string, Reachability::Failure> why_;      // by URL
};

}  // namespace stele::crawl
