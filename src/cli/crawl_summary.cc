#include "cli/crawl_summary.h"

#include <fmt/format.h>

#include "archive/run_report.h"
#include "cli/amount.h"
#include "util/json.h"

namespace stele::cli {
namespace {

using archive::ChangeState;

}  // namespace

std::string CrawlSummary::Text() const {
  std::string text = fmt::format("Run {}  ", run);
  if (patch) {
    text += fmt::format("patches run {}: {} of {}; {}", patch->run, patch->found,
                        Count(patch->wanted, "missing embed"), Count(files, "file"));
  } else {
    text += fmt::format("{}, {}", Count(pages, "page"), Count(files, "file"));
  }
  if (changes) {
    text += ": " + changes->Text();
    if (!is_partial) text += fmt::format(", {} gone", changes->Of(ChangeState::kGone));
    text += fmt::format(". Stored {} instead of {}.", ByteCount(stored), ByteCount(bytes));
  } else {
    text += fmt::format(", {} in {}.", ByteCount(bytes),
                        DurationText(std::chrono::milliseconds(milliseconds)));
  }
  if (failed > 0) {
    text += fmt::format("  {} could not be fetched: see stele report", Count(failed, "URL"));
  }
  if (missing > 0) text += fmt::format("  {} missing: see stele report", Count(missing, "embed"));
  if (too_deep > 0) text += fmt::format("  {} too deep: see --depth", Count(too_deep, "link"));
  if (links_left_out > 0) {
    text += fmt::format("  {} left out, of pages with too many", Count(links_left_out, "link"));
  }
  if (traps > 0) {
    text += fmt::format("  {}, with {} left alone: see stele report", Count(traps, "trap"),
                        Count(trapped_urls, "URL"));
  }
  return text + '\n';
}

std::string CrawlSummary::Json() const {
  std::string json = fmt::format(
      "{{\"run\": {}, \"pages\": {}, \"files\": {}, \"bytes\": {}, \"stored\": {}, "
      "\"milliseconds\": {}, \"missing\": {}, \"too_deep\": {}, \"failed\": {}, "
      "\"links_left_out\": {}, \"traps\": {}, \"trapped_urls\": {}, \"repeated_secrets\": {}",
      run, pages, files, bytes, stored, milliseconds, missing, too_deep, failed, links_left_out,
      traps, trapped_urls, repeated_secrets);
  if (patch) {
    json += fmt::format(", \"patches\": {}, \"wanted\": {}, \"found\": {}", patch->run,
                        patch->wanted, patch->found);
  }
  for (std::size_t i = 0; changes && i < archive::kChangeStates; ++i) {
    const auto state = static_cast<ChangeState>(i);
    if (is_partial && state == ChangeState::kGone) continue;
    json += fmt::format(", \"{}\": {}", NameOf(state), changes->Of(state));
  }
  json += ", \"given_up\": [";
  for (const std::string& origin : given_up) {
    if (!json.ends_with('[')) json += ", ";
    AppendJsonString(json, origin);
  }
  json += "], \"failed_seeds\": [";
  for (const crawl::CrawlReport::Seed& seed : failed_seeds) {
    json += json.ends_with('[') ? "{\"url\": " : ", {\"url\": ";
    AppendJsonString(json, seed.url);
    json += fmt::format(", \"status\": {}, \"problem\": ", seed.status);
    AppendJsonString(json, seed.problem);
    json += '}';
  }
  return json + "]}\n";
}

Result<CrawlSummary> SummarizeCrawl(const archive::ArchiveView& view, std::uint32_t run,
                                    std::optional<std::uint32_t> before) {
  const Result<archive::RunReport> report = archive::ReportOn(view, run);
  if (!report) return report.error();
  CrawlSummary summary;
  summary.run = run;
  summary.pages = report->pages.captures;
  summary.files = report->all.captures;
  summary.stored = report->all.bytes - report->revisits.bytes;
  if (!before) return summary;
  summary.changes.emplace();
  archive::CaptureQuery earlier;
  earlier.where.what = catalog::SelectAll();
  archive::CaptureQuery later = earlier;
  earlier.runs = {*before};
  later.runs = {run};
  archive::Changes changes(view, earlier, later);
  for (;;) {
    const Result<const archive::Change*> change = changes.Next();
    if (!change) return change.error();
    if (*change == nullptr) return summary;
    summary.changes->Add(**change);
  }
}

}  // namespace stele::cli
