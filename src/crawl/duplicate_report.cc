// Logs go along with the frontier, so that after an interruption they have each URL once; counts in
// memory would not.
#include "crawl/duplicate_report.h"

#include "formats/crawl_log/duplicate.h"
#include "util/ascii.h"

namespace stele::crawl {
namespace {

constexpr std::string_view kJudged = "\"payloadSize\":";

// The value of a member of a JSON object, as it is written, without quotes: none of those that are
// asked for has anything to escape. Inside of a text, the quotes around `name` would be escaped.
std::string_view Member(std::string_view object, std::string_view name) {
  for (std::size_t at = object.find(name); at != std::string_view::npos;
       at = object.find(name, at + 1)) {
    const std::string_view behind = object.substr(at + name.size());
    if (at == 0 || object[at - 1] != '"' || !behind.starts_with("\":")) continue;
    std::string_view value = behind.substr(2);
    if (value.starts_with('"')) value.remove_prefix(1);
    return value.substr(0, value.find_first_of("\",}"));
  }
  return {};
}

}  // namespace

void CountDuplicates(const crawl_log::Line& line, const std::string& host,
                     dedup::DedupReport& report) {
  for (const std::string_view word : line.AnnotationList()) {
    if (word == "duplicate:server-not-modified") ++report.not_modified;
    if (word == "header-duplicate") ++report.left_out;
  }
  // What was judged is written last, and begins so.
  const std::string_view extra = line.extra;
  const std::size_t at = extra.rfind(kJudged);
  if (at == std::string_view::npos) return;
  const std::string_view judged = extra.substr(at);
  const std::optional<dedup::Hit> hit = dedup::HitByName(Member(judged, "hit"));
  if (!hit) return;
  dedup::DedupCounts counts;
  counts.Count(*hit, crawl_log::IsDuplicate(line),
               ParseDecimal(Member(judged, "payloadSize")).value_or(0));
  counts.timestamp.CountNamed(Member(judged, "timestampPredicts"));
  counts.etag.CountNamed(Member(judged, "etagPredicts"));
  report.total += counts;
  report.hosts[host] += counts;
}

Status WriteDuplicateReport(io::FileSystem& fs, const std::string& folder,
                            const DuplicateSettings& settings, dedup::DedupReport report) {
  const Result<dedup::DuplicateRules> rules = RulesOf(settings);
  if (!rules) return rules.error();
  report.lookup = dedup::DuplicateRules::NameOf(rules->by);
  const Status text = io::ReplaceFile(fs, folder + "/dedup-report.txt", report.Text());
  if (!text) return text;
  return io::ReplaceFile(fs, folder + "/dedup-report.json", report.Json() + '\n');
}

}  // namespace stele::crawl
