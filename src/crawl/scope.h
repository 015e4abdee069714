#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "crawl/candidate.h"
#include "formats/url/url.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::crawl {

// A condition on URLs that a person gave: docs/crawling.md, "What belongs to it".
class ScopeRule {
 public:
  // "host:HOST", "domain:DOMAIN", "surt:PREFIX" (of a sort key, "org,example)/news"), "prefix:URL",
  // "regex:EXPRESSION" (which must match the whole URL). Errors: kInvalid.
  static Result<ScopeRule> Parse(std::string_view text, bool include);
  ScopeRule(ScopeRule&&) noexcept;
  ScopeRule& operator=(ScopeRule&&) noexcept;
  ~ScopeRule();

  bool include() const { return include_; }
  const std::string& text() const { return text_; }
  bool Matches(const url::Url& url, std::string_view surt) const;

 private:
  enum class Kind { kHost, kDomain, kSurt, kRegex };
  struct Expression;
  ScopeRule() = default;

  bool include_ = true;
  std::string text_;
  Kind kind_ = Kind::kHost;
  std::string pattern_;
  std::unique_ptr<const Expression> expression_;
};

enum class Reach {
  kPage,    // the seeds and what they embed
  kPrefix,  // what begins as a seed does, up to its last slash
  kHost,    // www. in front or not
  kDomain,  // all hosts of the registered domain
  kAny,
};
std::optional<Reach> ReachByName(std::string_view name);
std::string_view NameOf(Reach reach);

struct ScopeOptions {
  Reach reach = Reach::kHost;
  std::size_t depth_max = 100;     // links from a seed
  std::size_t embed_hops_max = 3;  // what pages need is taken from anywhere, so far away
  std::vector<ScopeRule> rules;    // the first that matches decides
};

struct Decision {
  bool accepted = false;
  std::string reason;  // "seed", "host", "embed", "sitemap", "rule -regex:...", "outside"
};

// The present one, for Scope::Decide().
int YearOf(Timestamp now);

// The reason where it would belong to the crawl, and is too many links away from the seeds.
inline constexpr std::string_view kTooDeep = "depth";

// What belongs to a crawl. Not thread-safe.
class Scope {
 public:
  explicit Scope(ScopeOptions options) : options_(std::move(options)) {}

  // True: more belongs to the crawl than before.
  bool AddSeed(const url::Url& seed);
  // `year` is the present one.
  Decision Decide(const Candidate& candidate, const url::Url& url, int year) const;

 private:
  // Wherever it was found.
  Decision DecideAnywhere(const Candidate& candidate, const url::Url& url) const;
  bool Reaches(const url::Url& url, std::string_view surt) const;
  // The first that matches; null: none does.
  const ScopeRule* FirstRule(const url::Url& url, std::string_view surt) const;
  bool Excludes(const url::Url& url) const;
  // A sitemap may lie anywhere, if a robots.txt of the crawl or another sitemap names it.
  bool TakesSitemap(const Candidate& candidate) const;
  // Pages of its host may belong to the crawl.
  bool HasHostOf(const url::Url& robots) const;

  ScopeOptions options_;
  std::set<std::string, std::less<>> marks_;  // what is compared, by reach
};

}  // namespace stele::crawl
