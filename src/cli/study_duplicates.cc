#include <fmt/format.h>

#include "cli/archive_commands.h"
#include "cli/dedup_commands.h"
#include "cli/url_selection.h"
#include "crawl/crawl_job.h"
#include "study/duplicates.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::cli {
namespace {

using study::CrawlDuplication;
using study::StudiedCrawl;

double Percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// Batches that are named, else all.
Result<std::vector<StudiedCrawl>> BatchesOf(const Arguments& arguments,
                                            const archive::ArchiveView& view) {
  const Result<std::vector<std::uint32_t>> named = BatchesOption(arguments);
  if (!named) return named.error();
  std::vector<StudiedCrawl> crawls;
  for (const std::uint32_t batch : view.catalog().Batches()) {
    if (!named->empty() && std::find(named->begin(), named->end(), batch) == named->end()) continue;
    crawls.push_back({.name = fmt::format("batch {}", batch), .run = {}, .batch = batch});
  }
  if (crawls.size() < named->size()) {
    return Error{ErrorCode::kInvalid,
                 "a month that is asked for has no captures, or is named twice; "
                 "stele batch ls lists the months"};
  }
  return crawls;
}

// Runs or batches that are named, else all runs but patches, or all batches.
Result<std::vector<StudiedCrawl>> CrawlsOf(const Arguments& arguments,
                                           const archive::ArchiveView& view) {
  const bool by_batch = arguments.Has("--batches") || arguments.Has("--batch");
  const std::vector<std::string> named = arguments.GetAll("--run");
  if (by_batch && !named.empty()) {
    return Error{ErrorCode::kInvalid, "runs or batches are compared: leave out one of them"};
  }
  if (by_batch) return BatchesOf(arguments, view);
  std::vector<StudiedCrawl> crawls;
  for (const auto& [number, run] : view.holdings().runs()) {
    const bool is_named =
        std::find(named.begin(), named.end(), fmt::to_string(number)) != named.end();
    const bool is_crawl = run.captures > 0 && run.is_from_outside() && !crawl::PatchedRun(run);
    if (named.empty() ? is_crawl : is_named) {
      crawls.push_back({.name = fmt::format("run {}", number), .run = number, .batch = {}});
    }
  }
  if (crawls.size() < named.size()) {
    return Error{ErrorCode::kInvalid,
                 "a run that is asked for is not there, or is named twice; "
                 "stele info lists the runs"};
  }
  return crawls;
}

std::string TableText(const std::vector<CrawlDuplication>& crawls) {
  std::string out = fmt::format("{:<14} {:<10} {:>10} {:>12} {:>12} {:>12} {:>12}\n", "crawl",
                                "date", "URLs", "% dups in", "% dups last", "% URLs", "% dups of");
  out += fmt::format("{:<14} {:<10} {:>10} {:>12} {:>12} {:>12} {:>12}\n", "", "", "", "crawl",
                     "crawl", "persistent", "all earlier");
  for (const CrawlDuplication& crawl : crawls) {
    out += fmt::format("{:<14} {:<10} {:>10} {:>12.1f} {:>12.1f} {:>12.1f} {:>12.1f}\n", crawl.name,
                       crawl.begin ? FormatIso(*crawl.begin).substr(0, 10) : "-", crawl.urls,
                       Percent(crawl.within, crawl.urls), Percent(crawl.last_crawl, crawl.urls),
                       Percent(crawl.persistent, crawl.urls), Percent(crawl.earlier, crawl.urls));
  }
  if (crawls.size() < 2) return out;
  out += "\n% of the URLs of a crawl whose document was in an earlier one:\n";
  for (const CrawlDuplication& crawl : crawls) {
    if (crawl.in_each.empty()) continue;
    out += fmt::format("{:<14}", crawl.name);
    for (std::size_t i = 0; i < crawl.in_each.size(); ++i) {
      out += fmt::format("  {}: {:.1f}", crawls[i].name, Percent(crawl.in_each[i], crawl.urls));
    }
    out += '\n';
  }
  return out;
}

std::string CrawlJson(const CrawlDuplication& crawl) {
  std::string out = "{\"crawl\": ";
  AppendJsonString(out, crawl.name);
  if (crawl.begin) out += fmt::format(", \"begin\": \"{}\"", FormatIsoMillis(*crawl.begin));
  out += fmt::format(
      ", \"urls\": {}, \"duplicatesWithin\": {}, \"duplicatesOfLast\": {}, "
      "\"persistentUrls\": {}, \"duplicatesOfEarlier\": {}, \"duplicatesOfEach\": [{}]}}",
      crawl.urls, crawl.within, crawl.last_crawl, crawl.persistent, crawl.earlier,
      fmt::join(crawl.in_each, ", "));
  return out;
}

ExitCode Run(const Arguments& arguments, Context& context) {
  Arguments filters = arguments;
  filters.values.erase("--run");  // which are the crawls here
  filters.values.erase("--batch");
  const Result<Arguments> whole = WithWholeUrls(std::move(filters), context);
  if (!whole) return Fail(context, whole.error());
  Result<archive::CaptureQuery> filter = CaptureQueryOf(*whole, whole->positionals);
  if (!filter) return Fail(context, filter.error());
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  const archive::ArchiveView view = reader->View();
  const Result<std::vector<StudiedCrawl>> crawls = CrawlsOf(arguments, view);
  if (!crawls) return Fail(context, crawls.error());
  const auto studied = study::StudyDuplicates(view, *crawls, *filter);
  if (!studied) return Fail(context, studied.error());
  std::string out;
  if (arguments.Has("--json")) {
    for (const CrawlDuplication& crawl : *studied) out += CrawlJson(crawl) + '\n';
  } else {
    out = TableText(*studied);
  }
  const Status written = context.out.Write(out);
  return written ? code : Fail(context, written.error());
}

Command DuplicatesCommand() {
  Command command;
  command.name = "duplicates";
  command.summary = "How much of what crawls bring was there before";
  command.details =
      "For each run, or each month: how many URLs, how many of them have a document that another "
      "URL of the same crawl has (of those that share one, all but one), how many documents and "
      "URLs were in the crawl before, and how "
      "many documents in each crawl before that. A document is what the last capture of a URL in "
      "a crawl brought; documents are the same when their bytes are. Empty ones do not count. Runs "
      "of stele crawl --patch are left out unless they are named.";
  command.arguments = "[URL]...";
  command.options = WithArchiveOption({Repeatable({"--run", "N", "Only these runs", "all"}),
                                       {"--batches", "", "Months instead of runs"},
                                       Repeatable({"--batch", "MONTH", "Only these: 200405"}),
                                       Repeatable({"--prefix", "URL", "URLs that begin so"}),
                                       Repeatable({"--host", "HOST", "URLs on this host"}),
                                       Repeatable({"--domain", "DOMAIN", "And the hosts below it"}),
                                       Repeatable({"--mime", "TYPE", "Only this media type"}),
                                       Repeatable({"--status", "CODE", "Only this HTTP status"}),
                                       {"--pages", "", "Only what people call pages"},
                                       {"--json", "", "One JSON object for each crawl"}});
  command.examples = {
      {"stele study duplicates", "All runs of this archive"},
      {"stele study duplicates --batches --mime 'image/*'", "Pictures, month by month"}};
  command.run = Run;
  return command;
}

}  // namespace

Command StudyCommand() {
  Command command;
  command.name = "study";
  command.summary = "What an archive says about the web";
  command.examples = {{"stele study duplicates", "How much did not change between crawls?"}};
  command.commands = {DuplicatesCommand()};
  return command;
}

}  // namespace stele::cli
