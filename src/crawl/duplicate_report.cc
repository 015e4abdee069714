// Logs go along with the frontier, so that after an interruption they have each URL once; counts in
// memory would not.
#include "crawl/duplicate_report.h"

#include "crawl/run_log.h"
#include "formats/crawl_log/duplicate.h"
#include "formats/crawl_log/line.h"
#include "formats/url/url.h"
#include "io/stream.h"

namespace stele::crawl {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

void TakeLine(const crawl_log::Line& line, dedup::DedupReport& report) {
  for (const std::string_view word : line.AnnotationList()) {
    if (word == "duplicate:server-not-modified") ++report.not_modified;
    if (word == "header-duplicate") ++report.left_out;
  }
  if (line.extra.find("\"hit\"") == std::string::npos) return;
  const std::optional<crawl_log::Extra> extra = crawl_log::ParseExtra(line.extra);
  const std::optional<dedup::Hit> hit = extra ? dedup::HitByName(extra->hit) : std::nullopt;
  if (!hit) return;
  dedup::DedupCounts counts;
  counts.Count(*hit, crawl_log::IsDuplicate(line), extra->payload_size.value_or(0));
  counts.timestamp.CountNamed(extra->timestamp_predicts);
  counts.etag.CountNamed(extra->etag_predicts);
  report.total += counts;
  const Result<url::Url> url = url::Parse(line.uri);
  if (url) report.hosts[std::string(url->host())] += counts;
}

}  // namespace

Result<dedup::DedupReport> ReadDuplicateReport(io::FileSystem& fs, const std::string& folder,
                                               const DuplicateSettings& settings) {
  const Result<dedup::DuplicateRules> rules = RulesOf(settings);
  if (!rules) return rules.error();
  dedup::DedupReport report;
  report.lookup = dedup::DuplicateRules::NameOf(rules->by);
  report.mirrors_are_duplicates = settings.match == Match::kAny;
  Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(RunLog::CrawlLogPath(folder));
  if (!file) return file.error();
  io::FileSource source(*std::move(file));
  std::string text;
  for (bool at_end = false; !at_end;) {
    const std::size_t before = text.size();
    text.resize(before + kReadBytes);
    const Result<std::size_t> read = source.Read(std::span(text).subspan(before));
    if (!read) return read.error();
    text.resize(before + *read);
    at_end = *read == 0;
    crawl_log::LineReader reader(text, at_end);
    while (std::optional<Result<crawl_log::Line>> line = reader.Next()) {
      if (*line) TakeLine(**line, report);
    }
    text.erase(0, reader.consumed());
  }
  return report;
}

Status WriteDuplicateReport(io::FileSystem& fs, const std::string& folder,
                            const DuplicateSettings& settings) {
  const Result<dedup::DedupReport> report = ReadDuplicateReport(fs, folder, settings);
  if (!report) return report.error();
  const Status text = io::ReplaceFile(fs, folder + "/dedup-report.txt", report->Text());
  if (!text) return text;
  return io::ReplaceFile(fs, folder + "/dedup-report.json", report->Json() + '\n');
}

}  // namespace stele::crawl
