#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "util/timestamp.h"

// What a server's headers say about whether a document changed, and how often they are right.
namespace stele::dedup {

enum class Prediction {
  kChanged,
  kUnchanged,
  kMissing,  // the header does not say, or nothing is known to compare it with
};

// Last-Modified against the moment of the capture before: a document that was modified before that
// moment has not changed since.
Prediction PredictByTimestamp(std::string_view last_modified, Timestamp captured);
// Entity tags are compared as RFC 9110 compares them weakly.
Prediction PredictByEtag(std::string_view etag, std::string_view captured_etag);

// Which headers decide that a body need not be downloaded.
enum class HeaderScheme {
  kTimestamp,
  kEtag,
  kTimestampAndEtag,  // only when both say that it has not changed
  kTimestampOrEtag,   // when one of them does
};
std::optional<HeaderScheme> HeaderSchemeByName(std::string_view name);  // "timestamp-and-etag"
std::string_view HeaderSchemeName(HeaderScheme scheme);

// Whether the body may be left out. The known document must be one of exactly the same URL.
struct SentHeaders {
  std::string_view last_modified;
  std::string_view etag;
};
bool MayBeLeftOut(HeaderScheme scheme, const SentHeaders& sent, Timestamp captured,
                  std::string_view captured_etag);

// Which headers are compared with what happened; entity tags cost a read of the earlier capture.
enum class HeaderAnalysis { kNone, kTimestamp, kTimestampAndEtag };

// In which of the five categories of the paper a prediction is: "changeCorrect" (says changed, and
// it has), "changeFalse", "noChangeCorrect", "noChangeFalse" (a document missed), "missing".
std::string_view CategoryName(Prediction prediction, bool has_changed);

// The five categories of the paper, counted.
struct PredictionCounts {
  std::uint64_t change_correct = 0;     // says changed, and it has
  std::uint64_t change_false = 0;       // says changed, and it has not: a needless download
  std::uint64_t no_change_correct = 0;  // says unchanged, and it has not changed
  std::uint64_t no_change_false = 0;    // says unchanged, and it has: a document missed
  std::uint64_t missing = 0;            // says nothing

  void Count(Prediction prediction, bool has_changed);
  // One of them by its name, as reports have it: "changeCorrect", "missing". False: there is none.
  bool CountNamed(std::string_view name);
  PredictionCounts& operator+=(const PredictionCounts& other);
  std::uint64_t total() const;
  // The share of unchanged documents that we need not download, and of changed ones that we do
  // download, among those with a header. Nothing where there are none.
  std::optional<double> Usefulness() const;
  std::optional<double> Reliability() const;

  friend bool operator==(const PredictionCounts&, const PredictionCounts&) = default;
};

}  // namespace stele::dedup
