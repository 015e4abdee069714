#include "dedup/header_analysis.h"

#include <array>
#include <utility>

#include "util/ascii.h"

namespace stele::dedup {
namespace {

struct NamedScheme {
  std::string_view name;
  HeaderScheme scheme;
};
constexpr std::array<NamedScheme, 4> kSchemes = {{
    {"timestamp", HeaderScheme::kTimestamp},
    {"etag", HeaderScheme::kEtag},
    {"timestamp-and-etag", HeaderScheme::kTimestampAndEtag},
    {"timestamp-or-etag", HeaderScheme::kTimestampOrEtag},
}};

std::string_view WithoutWeakness(std::string_view etag) {
  etag = TrimSpace(etag);
  if (etag.starts_with("W/") || etag.starts_with("w/")) etag.remove_prefix(2);
  return etag;
}

std::optional<double> Share(std::uint64_t part, std::uint64_t rest) {
  if (part + rest == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(part + rest);
}

}  // namespace

Prediction PredictByTimestamp(std::string_view last_modified, Timestamp captured) {
  const std::optional<Timestamp> modified = ParseHttpDate(TrimSpace(last_modified));
  if (!modified) return Prediction::kMissing;
  return *modified < captured ? Prediction::kUnchanged : Prediction::kChanged;
}

Prediction PredictByEtag(std::string_view etag, std::string_view captured_etag) {
  const std::string_view now = WithoutWeakness(etag);
  const std::string_view then = WithoutWeakness(captured_etag);
  if (now.empty() || then.empty()) return Prediction::kMissing;
  return now == then ? Prediction::kUnchanged : Prediction::kChanged;
}

std::optional<HeaderScheme> HeaderSchemeByName(std::string_view name) {
  for (const NamedScheme& known : kSchemes) {
    if (known.name == name) return known.scheme;
  }
  return std::nullopt;
}

std::string_view HeaderSchemeName(HeaderScheme scheme) {
  for (const NamedScheme& known : kSchemes) {
    if (known.scheme == scheme) return known.name;
  }
  return "";
}

bool MayBeLeftOut(HeaderScheme scheme, const SentHeaders& sent, Timestamp captured,
                  std::string_view captured_etag) {
  const bool by_timestamp =
      PredictByTimestamp(sent.last_modified, captured) == Prediction::kUnchanged;
  const bool by_etag = PredictByEtag(sent.etag, captured_etag) == Prediction::kUnchanged;
  switch (scheme) {
    case HeaderScheme::kTimestamp:
      return by_timestamp;
    case HeaderScheme::kEtag:
      return by_etag;
    case HeaderScheme::kTimestampAndEtag:
      return by_timestamp && by_etag;
    case HeaderScheme::kTimestampOrEtag:
      return by_timestamp || by_etag;
  }
  return false;
}

std::string_view CategoryName(Prediction prediction, bool has_changed) {
  switch (prediction) {
    case Prediction::kChanged:
      return has_changed ? "changeCorrect" : "changeFalse";
    case Prediction::kUnchanged:
      return has_changed ? "noChangeFalse" : "noChangeCorrect";
    case Prediction::kMissing:
      return "missing";
  }
  return "";
}

void PredictionCounts::Count(Prediction prediction, bool has_changed) {
  CountNamed(CategoryName(prediction, has_changed));
}

bool PredictionCounts::CountNamed(std::string_view name) {
  for (const auto& [category, count] :
       {std::pair("changeCorrect", &change_correct), std::pair("changeFalse", &change_false),
        std::pair("noChangeCorrect", &no_change_correct),
        std::pair("noChangeFalse", &no_change_false), std::pair("missing", &missing)}) {
    if (name != category) continue;
    ++*count;
    return true;
  }
  return false;
}

PredictionCounts& PredictionCounts::operator+=(const PredictionCounts& other) {
  change_correct += other.change_correct;
  change_false += other.change_false;
  no_change_correct += other.no_change_correct;
  no_change_false += other.no_change_false;
  missing += other.missing;
  return *this;
}

std::uint64_t PredictionCounts::total() const {
  return change_correct + change_false + no_change_correct + no_change_false + missing;
}

std::optional<double> PredictionCounts::Usefulness() const {
  return Share(no_change_correct, change_false);
}

std::optional<double> PredictionCounts::Reliability() const {
  return Share(change_correct, no_change_false);
}

}  // namespace stele::dedup
