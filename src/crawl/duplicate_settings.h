#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dedup/duplicate_finder.h"
#include "dedup/header_analysis.h"
#include "util/result.h"

namespace stele::crawl {

// What a person asks a crawl to do about documents that it has already. docs/dedup.md.
struct DuplicateSettings {
  enum class Match {
    kOff,     // everything is stored whole
    kUrl,     // the same URL had this payload before
    kDigest,  // likewise, looked up by the payload
    kAny,     // any URL had it
  };
  Match match = Match::kUrl;
  bool equivalent = true;      // equivalent URLs count as the same
  std::string mime;            // a regular expression for types; empty: all are handled
  bool whitelist = false;      // `mime` says which are handled, instead of which are not
  std::uint64_t size_min = 1;  // of payloads
  bool before_links = false;   // links of a duplicate are not followed
  std::string origin;          // what logs say about where originals are kept
  std::string index;           // a digest index of what is kept elsewhere; empty: none
  dedup::HeaderAnalysis analysis = dedup::HeaderAnalysis::kNone;

  // Bodies are left out where headers say that nothing changed; nothing: they are not trusted.
  std::optional<dedup::HeaderScheme> headers;
  bool abort = false;         // judged by us after the head; else the server is asked (304)
  bool headers_text = false;  // also text, whose links are those of the archived copy

  friend bool operator==(const DuplicateSettings&, const DuplicateSettings&) = default;
};

using Match = DuplicateSettings::Match;
std::optional<Match> MatchByName(std::string_view name);  // "off", "url", "digest", "any"
std::string_view NameOf(Match match);
// "none", "timestamp", "etag" (both)
std::optional<dedup::HeaderAnalysis> AnalysisByName(std::string_view name);
std::string_view NameOf(dedup::HeaderAnalysis analysis);

// Errors: kInvalid, for an expression that is none.
Result<dedup::DuplicateRules> RulesOf(const DuplicateSettings& settings);

}  // namespace stele::crawl
