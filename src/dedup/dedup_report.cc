#include "dedup/dedup_report.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "util/json.h"

namespace stele::dedup {
namespace {

constexpr std::array<std::pair<std::string_view, Hit>, 4> kHits = {{
    {"new", Hit::kNew},
    {"exact", Hit::kExact},
    {"equivalent", Hit::kEquivalent},
    {"mirror", Hit::kMirror},
}};

// "55.30%": cut, not rounded, as the paper's report has it.
std::string Percent(std::uint64_t part, std::uint64_t whole) {
  // Multiplied first: 0.57 has no exact form, and would become 56.99%.
  const std::uint64_t hundredths =
      whole == 0 ? 0 : static_cast<std::uint64_t>(static_cast<long double>(part) * 10000 / whole);
  return fmt::format("{}.{:02}%", hundredths / 100, hundredths % 100);
}

// "876 GB": cut, as the paper's report has it.
std::string Rough(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

void AppendCount(std::string& out, std::string_view name, std::uint64_t count) {
  out += fmt::format("  {:<20}{}\n", std::string(name) + ':', count);
}

void AppendPredictions(std::string& out, std::string_view header, const PredictionCounts& counts) {
  if (counts.total() == 0) return;
  out += fmt::format("  {} predicts (where the exact URL was known):\n", header);
  AppendCount(out, "Change correctly", counts.change_correct);
  AppendCount(out, "Change falsely", counts.change_false);
  AppendCount(out, "Non-change correct", counts.no_change_correct);
  AppendCount(out, "Non-change falsely", counts.no_change_false);
  AppendCount(out, "Missing", counts.missing);
  AppendCount(out, "Total analysed", counts.total());
  if (const auto share = counts.Usefulness()) {
    out += fmt::format("  {:<20}{:.2f}% of the unchanged need no download\n",
                       "Usefulness:", 100 * *share);
  }
  if (const auto share = counts.Reliability()) {
    out += fmt::format("  {:<20}{:.2f}% of the changed would be downloaded\n",
                       "Reliability:", 100 * *share);
  }
}

using Number = std::pair<const char*, std::uint64_t>;

void AppendNumbers(std::string& out, const std::vector<Number>& numbers) {
  bool first = true;
  for (const auto& [name, value] : numbers) {
    out += fmt::format("{}\"{}\": {}", first ? "" : ", ", name, value);
    first = false;
  }
}

std::string PredictionsJson(const PredictionCounts& counts) {
  std::string out = "{";
  AppendNumbers(out, {{"changeCorrect", counts.change_correct},
                      {"changeFalse", counts.change_false},
                      {"noChangeCorrect", counts.no_change_correct},
                      {"noChangeFalse", counts.no_change_false},
                      {"missing", counts.missing},
                      {"total", counts.total()}});
  return out + '}';
}

std::string CountsJson(const DedupCounts& counts) {
  std::string out = "{";
  AppendNumbers(out, {{"handled", counts.handled},
                      {"bytes", counts.handled_bytes},
                      {"duplicates", counts.duplicates},
                      {"duplicateBytes", counts.duplicate_bytes},
                      {"new", counts.fresh},
                      {"exact", counts.exact},
                      {"equivalent", counts.equivalent},
                      {"mirrors", counts.mirrors}});
  out += fmt::format(", \"timestamp\": {}, \"etag\": {}}}", PredictionsJson(counts.timestamp),
                     PredictionsJson(counts.etag));
  return out;
}

std::string PredictionColumns(const PredictionCounts& counts) {
  return fmt::format(" {} {} {} {} {}", counts.change_correct, counts.change_false,
                     counts.no_change_correct, counts.no_change_false, counts.missing);
}

// Columns for entity tags only where they were judged: the paper's report has none.
std::string HostLines(const std::map<std::string, DedupCounts>& hosts, bool with_etag) {
  std::string out =
      "  [host] [total] [duplicates] [bytes] [bytes discarded] [new] [exact] [equivalent] "
      "[mirror] [change correct] [change falsely] [non-change correct] [non-change falsely] "
      "[no timestamp]";
  if (with_etag) {
    out +=
        " [ETag: change correct] [change falsely] [non-change correct] [non-change falsely] "
        "[no ETag]";
  }
  out += '\n';
  for (const auto& [host, counts] : hosts) {
    out += fmt::format("  {} {} {} {} {} {} {} {} {}", host, counts.handled, counts.duplicates,
                       counts.handled_bytes, counts.duplicate_bytes, counts.fresh, counts.exact,
                       counts.equivalent, counts.mirrors);
    out += PredictionColumns(counts.timestamp);
    if (with_etag) out += PredictionColumns(counts.etag);
    out += '\n';
  }
  return out;
}

}  // namespace

std::string_view NameOf(Hit hit) {
  for (const auto& [name, known] : kHits) {
    if (known == hit) return name;
  }
  return "";
}

std::optional<Hit> HitByName(std::string_view name) {
  for (const auto& [known, hit] : kHits) {
    if (known == name) return hit;
  }
  return std::nullopt;
}

void DedupCounts::Count(Hit hit, bool is_duplicate, std::uint64_t bytes) {
  ++handled;
  handled_bytes += bytes;
  if (is_duplicate) ++duplicates;
  if (is_duplicate) duplicate_bytes += bytes;
  if (hit == Hit::kNew) ++fresh;
  if (hit == Hit::kExact) ++exact;
  if (hit == Hit::kEquivalent) ++equivalent;
  if (hit == Hit::kMirror) ++mirrors;
}

DedupCounts& DedupCounts::operator+=(const DedupCounts& other) {
  handled += other.handled;
  handled_bytes += other.handled_bytes;
  duplicates += other.duplicates;
  duplicate_bytes += other.duplicate_bytes;
  fresh += other.fresh;
  exact += other.exact;
  equivalent += other.equivalent;
  mirrors += other.mirrors;
  timestamp += other.timestamp;
  etag += other.etag;
  return *this;
}

std::string DedupReport::Text() const {
  std::string out = fmt::format("Duplicates, lookup by {}\n", lookup);
  AppendCount(out, "Total handled", total.handled);
  out += fmt::format("  {:<20}{} {}\n", "Duplicates found:", total.duplicates,
                     Percent(total.duplicates, total.handled));
  out += fmt::format("  {:<20}{} ({})\n", "Bytes total:", total.handled_bytes,
                     Rough(total.handled_bytes));
  out += fmt::format("  {:<20}{} ({}) {}\n", "Bytes discarded:", total.duplicate_bytes,
                     Rough(total.duplicate_bytes),
                     Percent(total.duplicate_bytes, total.handled_bytes));
  AppendCount(out, "New (no hits)", total.fresh);
  AppendCount(out, "Exact hits", total.exact);
  AppendCount(out, "Equivalent hits", total.equivalent);
  if (lookup.starts_with("digest")) AppendCount(out, "Mirror hits", total.mirrors);
  if (not_modified > 0) AppendCount(out, "Not modified (304)", not_modified);
  if (left_out > 0) AppendCount(out, "Left out by header", left_out);
  AppendPredictions(out, "Timestamp", total.timestamp);
  AppendPredictions(out, "ETag", total.etag);
  if (!hosts.empty()) out += HostLines(hosts, total.etag.total() > 0);
  return out;
}

std::string DedupReport::Json() const {
  std::string out = "{\"lookup\": ";
  AppendJsonString(out, lookup);
  out += ", \"total\": " + CountsJson(total);
  out += fmt::format(", \"notModified\": {}, \"leftOut\": {}", not_modified, left_out);
  if (!hosts.empty()) {
    out += ", \"hosts\": {";
    bool first = true;
    for (const auto& [host, counts] : hosts) {
      if (!first) out += ", ";
      AppendJsonString(out, host);
      out += ": " + CountsJson(counts);
      first = false;
    }
    out += '}';
  }
  return out + '}';
}

}  // namespace stele::dedup
