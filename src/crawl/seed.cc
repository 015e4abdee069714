#include "crawl/seed.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "util/ascii.h"

namespace stele::crawl {
namespace {

constexpr std::string_view kHttp = "http://";

}  // namespace

bool NamesScheme(std::string_view text) {
  const std::string_view seed = TrimSpace(text);
  const std::size_t at = seed.find_first_of(":/?#");
  return at != std::string_view::npos && seed.substr(at).starts_with("://");
}

Result<url::Url> ParseSeed(std::string_view text) {
  constexpr std::string_view kInHosts = "abcdefghijklmnopqrstuvwxyz0123456789-._[:]";
  std::string whole(TrimSpace(text));
  // Of "/srv/seeds.txt" the parser would make a host.
  const bool is_path = whole.starts_with('/');
  if (!NamesScheme(whole)) whole.insert(0, kHttp);
  Result<url::Url> parsed = url::Parse(whole);
  if (!parsed || is_path || !parsed->is_http() || parsed->host().empty() ||
      parsed->host()[0] == '.' ||
      parsed->host().find_first_not_of(kInHosts) != std::string_view::npos) {
    return Error{
        ErrorCode::kInvalid,
        fmt::format("{} is no http or https URL; write for example https://example.org/", text)};
  }
  if (!parsed->username().empty() || !parsed->password().empty()) {
    return Error{
        ErrorCode::kInvalid,
        fmt::format("a URL of {} has a user or a password in it, which would be stored with "
                    "every capture; write them to a file for --logins",
                    parsed->host())};
  }
  return parsed;
}

Result<std::string> SeedText(std::string_view text) {
  const Result<url::Url> seed = ParseSeed(text);
  if (!seed) return seed.error();
  const std::string_view href = seed->href_without_fragment();
  return std::string(NamesScheme(text) ? href : href.substr(kHttp.size()));
}

bool AreSameSeeds(const std::vector<std::string>& some, const std::vector<std::string>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const std::string& one, const std::string& other) {
                      const Result<url::Url> a = ParseSeed(one);
                      const Result<url::Url> b = ParseSeed(other);
                      return a && b && a->href_without_fragment() == b->href_without_fragment();
                    });
}

url::Url ByHttps(std::string_view http_url) {
  return *url::Parse(fmt::format("https://{}", http_url.substr(kHttp.size())));
}

void SchemelessSeeds::Add(std::string_view text) {
  if (NamesScheme(text)) return;
  const Result<url::Url> url = ParseSeed(text);
  if (url) urls_[url->origin()].emplace_back(url->href_without_fragment());
}

std::vector<std::string> SchemelessSeeds::Fail(const std::string& origin,
                                               const Reachability::Failure& failure) {
  failed_.insert(origin);
  const auto found = urls_.find(origin);
  if (found == urls_.end()) return {};
  std::vector<std::string> urls = std::move(found->second);
  urls_.erase(found);
  for (const std::string& url : urls) why_.emplace(url, failure);
  return urls;
}

const Reachability::Failure* SchemelessSeeds::WhyByHttps(const std::string& http_url) const {
  const auto found = why_.find(http_url);
  return found == why_.end() ? nullptr : &found->second;
}

}  // namespace stele::crawl
