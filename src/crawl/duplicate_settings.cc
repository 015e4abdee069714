#include "crawl/duplicate_settings.h"

#include <array>
#include <utility>

namespace stele::crawl {
namespace {

using dedup::DuplicateRules;
using dedup::HeaderAnalysis;
using dedup::MediaFilter;

constexpr std::array<std::pair<std::string_view, Match>, 4> kMatches = {
    {{"off", Match::kOff}, {"url", Match::kUrl}, {"digest", Match::kDigest}, {"any", Match::kAny}}};

constexpr std::array<std::pair<std::string_view, HeaderAnalysis>, 3> kAnalyses = {
    {{"none", HeaderAnalysis::kNone},
     {"timestamp", HeaderAnalysis::kTimestamp},
     {"etag", HeaderAnalysis::kTimestampAndEtag}}};

DuplicateRules::By LookupOf(Match match) {
  switch (match) {
    case Match::kOff:
      return DuplicateRules::By::kNothing;
    case Match::kUrl:
      return DuplicateRules::By::kUrl;
    case Match::kDigest:
      return DuplicateRules::By::kDigest;
    case Match::kAny:
      return DuplicateRules::By::kDigestAnyUrl;
  }
  return DuplicateRules::By::kNothing;
}

}  // namespace

std::optional<Match> MatchByName(std::string_view name) {
  for (const auto& [known, match] : kMatches) {
    if (known == name) return match;
  }
  return std::nullopt;
}

std::string_view NameOf(Match match) {
  for (const auto& [name, known] : kMatches) {
    if (known == match) return name;
  }
  return "";
}

std::optional<HeaderAnalysis> AnalysisByName(std::string_view name) {
  for (const auto& [known, analysis] : kAnalyses) {
    if (known == name) return analysis;
  }
  return std::nullopt;
}

std::string_view NameOf(HeaderAnalysis analysis) {
  for (const auto& [name, known] : kAnalyses) {
    if (known == analysis) return name;
  }
  return "";
}

Result<DuplicateRules> RulesOf(const DuplicateSettings& settings) {
  DuplicateRules rules;
  rules.by = LookupOf(settings.match);
  rules.try_equivalent = settings.equivalent;
  rules.size_min = settings.size_min;
  rules.analysis = settings.analysis;
  if (settings.match == Match::kOff && settings.headers) {
    return Error{ErrorCode::kInvalid,
                 "where nothing is a duplicate, headers cannot say that something is: leave out "
                 "dedup = off, or dedup_headers"};
  }
  if (settings.mime.empty() && settings.whitelist) {
    return Error{ErrorCode::kInvalid, "a whitelist of media types needs an expression for them"};
  }
  if (settings.mime.empty()) return rules;
  Result<MediaFilter> media =
      MediaFilter::Create(settings.mime, settings.whitelist ? MediaFilter::Mode::kWhitelist
                                                            : MediaFilter::Mode::kBlacklist);
  if (!media) return media.error();
  rules.media = *std::move(media);
  return rules;
}

}  // namespace stele::crawl
