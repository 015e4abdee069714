#include "crawl/scope.h"

#include <fmt/format.h>
#include <unicode/regex.h>

#include <algorithm>
#include <array>

#include "crawl/traps.h"
#include "formats/url/public_suffix.h"
#include "formats/url/surt.h"
#include "util/ascii.h"

namespace stele::crawl {

struct ScopeRule::Expression {
  std::unique_ptr<icu::RegexPattern> pattern;
};

namespace {

constexpr std::array<std::pair<std::string_view, Reach>, 5> kReaches = {{{"page", Reach::kPage},
                                                                         {"prefix", Reach::kPrefix},
                                                                         {"host", Reach::kHost},
                                                                         {"domain", Reach::kDomain},
                                                                         {"any", Reach::kAny}}};

// Against expressions that take for ever.
constexpr std::int32_t kRegexStepsMax = 1000;

// An index names sitemaps, seldom another index.
constexpr std::ptrdiff_t kSitemapHopsMax = 5;

// "org,example)" or "org,example:8080)", of "org,example:8080)/news/".
std::string_view SurtAuthority(std::string_view surt) {
  const std::size_t end = surt.find(')');
  return end == std::string_view::npos ? surt : surt.substr(0, end + 1);
}

std::string_view UpToLastSlash(std::string_view surt) {
  surt = surt.substr(0, surt.find('?'));
  const std::size_t slash = surt.rfind('/');
  return slash == std::string_view::npos ? surt : surt.substr(0, slash + 1);
}

// Sort keys have no slash at their end, prefixes do.
bool BeginsWith(std::string_view surt, std::string_view prefix) {
  if (surt.starts_with(prefix)) return true;
  return prefix.ends_with('/') && surt == prefix.substr(0, prefix.size() - 1);
}

bool IsBelow(std::string_view host, std::string_view domain) {
  return host == domain || (host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.');
}

}  // namespace

ScopeRule::ScopeRule(ScopeRule&&) noexcept = default;
ScopeRule& ScopeRule::operator=(ScopeRule&&) noexcept = default;
ScopeRule::~ScopeRule() = default;

Result<ScopeRule> ScopeRule::Parse(std::string_view text, bool include) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  ScopeRule rule;
  rule.include_ = include;
  rule.text_ = text;
  if (colon != std::string_view::npos) rule.pattern_ = text.substr(colon + 1);
  if (rule.pattern_.empty()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} is no rule: write host:HOST, domain:DOMAIN, prefix:URL, surt:KEY "
                             "or regex:EXPRESSION",
                             text)};
  }
  if (kind == "host" || kind == "domain") {
    rule.kind_ = kind == "host" ? Kind::kHost : Kind::kDomain;
    const Result<url::Url> there = url::Parse("http://" + rule.pattern_ + "/");
    rule.pattern_ = there ? std::string(there->host_and_port()) : AsciiLower(rule.pattern_);
  } else if (kind == "surt") {
    rule.kind_ = Kind::kSurt;
  } else if (kind == "prefix") {
    rule.kind_ = Kind::kSurt;
    const bool folder = rule.pattern_.ends_with('/');
    rule.pattern_ = url::SurtKey(rule.pattern_);
    if (folder && !rule.pattern_.ends_with('/')) rule.pattern_ += '/';
  } else if (kind == "regex") {
    rule.kind_ = Kind::kRegex;
    UErrorCode status = U_ZERO_ERROR;
    UParseError place;
    std::unique_ptr<icu::RegexPattern> pattern(
        icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(rule.pattern_), 0, place, status));
    if (U_FAILURE(status)) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("{} is no regular expression: {} at character "
                               "{}",
                               rule.pattern_, u_errorName(status), place.offset)};
    }
    rule.expression_ = std::make_unique<const Expression>(Expression{std::move(pattern)});
  } else {
    return Error{ErrorCode::kInvalid,
                 fmt::format("there are no rules of the kind {}: write host:, domain:, prefix:, "
                             "surt: or regex:",
                             kind)};
  }
  return rule;
}

bool ScopeRule::Matches(const url::Url& url, std::string_view surt) const {
  switch (kind_) {
    case Kind::kHost:
      return url.host() == pattern_ || url.host_and_port() == pattern_;
    case Kind::kDomain:
      return IsBelow(url.host(), pattern_);
    case Kind::kSurt:
      return BeginsWith(surt, pattern_);
    case Kind::kRegex:
      break;
  }
  UErrorCode status = U_ZERO_ERROR;
  const icu::UnicodeString text =
      icu::UnicodeString::fromUTF8(std::string(url.href_without_fragment()));
  const std::unique_ptr<icu::RegexMatcher> matcher(expression_->pattern->matcher(text, status));
  if (U_FAILURE(status)) return false;
  matcher->setTimeLimit(kRegexStepsMax, status);
  return matcher->matches(status) && U_SUCCESS(status);
}

std::optional<Reach> ReachByName(std::string_view name) {
  for (const auto& [known, reach] : kReaches) {
    if (known == name) return reach;
  }
  return std::nullopt;
}

std::string_view NameOf(Reach reach) {
  for (const auto& [name, known] : kReaches) {
    if (known == reach) return name;
  }
  return "";
}

bool Scope::AddSeed(const url::Url& seed) {
  const std::string surt = url::SurtKey(seed.href());
  switch (options_.reach) {
    case Reach::kPrefix: {
      const bool folder = seed.path().ends_with('/') && !surt.ends_with('/');
      return marks_.emplace(folder ? surt + '/' : std::string(UpToLastSlash(surt))).second;
    }
    case Reach::kHost:
      return marks_.emplace(SurtAuthority(surt)).second;
    case Reach::kDomain:
      return marks_.emplace(url::RegisteredDomain(seed.host())).second;
    case Reach::kPage:
    case Reach::kAny:
      break;
  }
  return false;
}

bool Scope::Reaches(const url::Url& url, std::string_view surt) const {
  switch (options_.reach) {
    case Reach::kPage:
      return false;
    case Reach::kPrefix:
      for (const std::string& mark : marks_) {
        if (BeginsWith(surt, mark)) return true;
      }
      return false;
    case Reach::kHost:
      return marks_.contains(SurtAuthority(surt));
    case Reach::kDomain:
      return marks_.contains(url::RegisteredDomain(url.host()));
    case Reach::kAny:
      return true;
  }
  return false;
}

int YearOf(Timestamp now) { return std::stoi(FormatDigits14(now).substr(0, 4)); }

Decision Scope::Decide(const Candidate& candidate, const url::Url& url, int year) const {
  if (!url.is_http()) return {false, "scheme"};
  // Where a seed leads to nobody has named.
  const bool is_named = candidate.seed && candidate.hops.empty();
  if (is_named || (candidate.seed && !Excludes(url))) return {true, "seed"};
  // A picture of a year is no page of a calendar.
  const std::string_view trap = FindTrap(url, year);
  if (!trap.empty() && (candidate.is_page() || trap != kCalendarTrap)) {
    return {false, fmt::format("{}{}", kTrapWord, trap)};
  }
  Decision decision = DecideAnywhere(candidate, url);
  if (decision.accepted && candidate.depth() > options_.depth_max) {
    decision = {false, std::string(kTooDeep)};
  }
  return decision;
}

const ScopeRule* Scope::FirstRule(const url::Url& url, std::string_view surt) const {
  for (const ScopeRule& rule : options_.rules) {
    if (rule.Matches(url, surt)) return &rule;
  }
  return nullptr;
}

bool Scope::Excludes(const url::Url& url) const {
  const ScopeRule* rule = FirstRule(url, url::SurtKey(url.href()));
  return rule != nullptr && !rule->include();
}

bool Scope::TakesSitemap(const Candidate& candidate) const {
  const std::string& hops = candidate.hops;
  if (!candidate.is_sitemap()) return false;
  if (std::count(hops.begin(), hops.end(), 'M') > kSitemapHopsMax) return false;
  // Named by one that was taken.
  if (hops != "M") return true;
  const Result<url::Url> robots = url::Parse(candidate.via);
  return robots && HasHostOf(*robots);
}

bool Scope::HasHostOf(const url::Url& robots) const {
  const std::string surt = url::SurtKey(robots.href());
  if (const ScopeRule* const rule = FirstRule(robots, surt)) return rule->include();
  if (Reaches(robots, surt)) return true;
  return options_.reach == Reach::kPrefix &&
         std::any_of(marks_.begin(), marks_.end(), [&](const std::string& mark) {
           return SurtAuthority(mark) == SurtAuthority(surt);
         });
}

Decision Scope::DecideAnywhere(const Candidate& candidate, const url::Url& url) const {
  const std::size_t embed_hops = candidate.embed_hops();
  const std::string surt = url::SurtKey(url.href());
  if (const ScopeRule* const rule = FirstRule(url, surt)) {
    return {rule->include(), fmt::format("rule {}{}", rule->include() ? '+' : '-', rule->text())};
  }
  if (Reaches(url, surt)) return {true, std::string(NameOf(options_.reach))};
  if (TakesSitemap(candidate)) return {true, "sitemap"};
  if (embed_hops > 0 && embed_hops <= options_.embed_hops_max) {
    // What only looks like a URL is no reason to go elsewhere more than once.
    const std::size_t guess = candidate.hops.find('X');
    const bool led_on = guess != std::string::npos && guess + 1 < candidate.hops.size();
    return {!led_on, led_on ? "guessed" : "embed"};
  }
  return {false, embed_hops > 0 ? "embed-hops" : "outside"};
}

}  // namespace stele::crawl
