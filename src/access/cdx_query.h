#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/parameters.h"
#include "catalog/location_query.h"
#include "catalog/selection.h"
#include "formats/cdx/capture.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::access {

// The fields of an index line.
enum class CdxField {
  kKey,
  kTimestamp,
  kUrl,
  kMime,
  kStatus,
  kDigest,
  kRedirect,
  kMeta,
  kLength,
  kOffset,
  kFilename,
};
inline constexpr int kCdxFields = 11;

// By any of its names: "original" and "url" are one field. Nothing for others.
std::optional<CdxField> CdxFieldByName(std::string_view name);
std::string_view ValueOf(const cdx::Capture& line, CdxField field);

// Both dialects ask much the same in other words, and get other answers.
enum class CdxDialect { kInternetArchive, kPywb };
std::string_view NameOf(CdxField field, CdxDialect dialect);

struct CdxFilter {
  enum class Kind { kContains, kEquals, kRegexWhole, kRegexBegin };
  CdxField field = CdxField::kKey;
  Kind kind = Kind::kContains;
  bool negated = false;
  std::string text;

  friend bool operator==(const CdxFilter&, const CdxFilter&) = default;
};

// Of lines next to each other with one value, or one begin of it, only the first.
struct CdxCollapse {
  CdxField field = CdxField::kKey;
  std::optional<std::size_t> size;

  friend bool operator==(const CdxCollapse&, const CdxCollapse&) = default;
};

// What a client asks a CDX server. docs/access.md, "CDX".
struct CdxQuery {
  enum class Match { kExact, kPrefix, kHost, kDomain };
  enum class Sort { kForward, kReverse, kClosest };
  enum class Output { kText, kJson, kCdxj, kLink };

  // Answers have at most so many lines; more are asked for with resumeKey.
  static constexpr std::uint64_t kLimitMax = 150'000;
  // Of limit=-N.
  static constexpr std::uint64_t kLastMax = 10'000;
  static constexpr std::uint64_t kBlockLines = 3'000;

  CdxDialect dialect = CdxDialect::kPywb;
  std::string url;
  Match match = Match::kExact;
  Timestamp from = catalog::kTimeBegin;
  Timestamp to = catalog::kTimeEnd;
  std::uint64_t limit = kLimitMax;
  bool last = false;  // the last `limit` lines
  std::uint64_t offset = 0;
  Sort sort = Sort::kForward;
  Timestamp closest;
  std::vector<CdxFilter> filters;
  std::vector<CdxCollapse> collapses;
  std::vector<CdxField> fields;  // empty: those of the dialect
  Output output = Output::kText;
  bool show_resume_key = false;
  std::string resume;
  bool show_page_count = false;
  std::uint64_t page_lines = 0;  // 0: no pages

  // Which keys are meant. Errors: kInvalid.
  Result<catalog::Selection> Selected() const;
};

// Errors: kInvalid, for the person who wrote the query.
Result<CdxQuery> ParseCdxQuery(const Parameters& parameters, CdxDialect dialect);

}  // namespace stele::access
