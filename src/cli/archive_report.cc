#include <fmt/format.h>

#include <algorithm>

#include "archive/run_report.h"
#include "cli/amount.h"
#include "cli/archive_commands.h"
#include "cli/capture_line.h"
#include "cli/visible_text.h"
#include "crawl/crawl_job.h"
#include "crawl/crawl_report.h"
#include "crawl/seed.h"
#include "util/ascii.h"
#include "util/json.h"

namespace stele::cli {
namespace {

using archive::CaptureSum;
using archive::CaptureTrouble;
using archive::RunReport;

// Media types that are shown to people; the rest is in the JSON.
constexpr std::size_t kTypesShown = 20;

// The run that is asked for, or the last.
Result<const archive::Run*> RunOf(const Arguments& arguments, const archive::Holdings& holdings) {
  const std::optional<std::string> text = arguments.Get("--run");
  if (!text) {
    const auto& runs = holdings.runs();
    const auto last = std::find_if(runs.rbegin(), runs.rend(),
                                   [](const auto& run) { return run.second.is_from_outside(); });
    if (last != runs.rend()) return &last->second;
    return Error{ErrorCode::kNotFound,
                 "there is no run yet; begin with stele crawl or stele import"};
  }
  const std::optional<std::uint64_t> number = ParseDecimal(*text);
  for (const auto& [candidate, run] : holdings.runs()) {
    if (candidate == number) return &run;
  }
  return Error{ErrorCode::kInvalid,
               fmt::format("there is no run {}; stele info lists the runs", *text)};
}

void AppendSum(std::string& out, std::string_view name, const CaptureSum& sum) {
  out += fmt::format("  {:<40} {:>10} {:>10}\n", name, sum.captures, ByteCount(sum.bytes));
}

std::vector<std::pair<std::string, CaptureSum>> LargestTypes(const RunReport& report) {
  std::vector<std::pair<std::string, CaptureSum>> types(report.by_type.begin(),
                                                        report.by_type.end());
  std::stable_sort(types.begin(), types.end(), [](const auto& a, const auto& b) {
    return a.second.captures > b.second.captures;
  });
  types.resize(std::min(types.size(), kTypesShown));
  return types;
}

void AppendTrouble(std::string& out, std::string_view what, const CaptureTrouble& trouble) {
  if (trouble.captures == 0) return;
  out += fmt::format("\n{} {}\n", trouble.captures, what);
  for (const catalog::HeldCapture& capture : trouble.first) {
    out += fmt::format("  {}\n", CaptureText(capture.row));
  }
  if (trouble.captures > trouble.first.size()) out += "  ...\n";
}

void AppendDamage(std::string& out, const RunReport& report) {
  if (report.unlisted > 0) {
    out += fmt::format("\n{} not listed, without a date or with a URL that is too long\n",
                       Count(report.unlisted, "capture"));
  }
  if (report.damaged == 0) return;
  out += fmt::format("\n{} could not be read:\n", Count(report.damaged, "place"));
  for (const RunReport::DamagedPlace& place : report.damaged_first) {
    out += fmt::format("  {}: bytes {} to {}: {}\n", place.file, place.loss.begin, place.loss.end,
                       place.loss.reason);
  }
  if (report.damaged > report.damaged_first.size()) out += "  ...\n";
}

std::string ReportText(const archive::Run& run, const RunReport& report) {
  std::string out = fmt::format(
      "run {}, {}: {}\nfrom {} to {}\n{}, {}, {}, in {} of {}\n", run.number, run.kind, run.note,
      FormatIso(run.begin), run.end ? FormatIso(*run.end) : "now, or it was interrupted",
      Count(report.pages.captures, "page"), Count(report.all.captures, "capture"),
      ByteCount(report.all.bytes), Count(report.containers, "file"),
      ByteCount(report.container_bytes));
  if (report.first) {
    out +=
        fmt::format("captured from {} to {}\n", FormatIso(*report.first), FormatIso(*report.last));
  }
  out +=
      fmt::format("{} {} a payload that an earlier capture of the URL had; {} of all {}\n",
                  report.duplicates.captures, report.duplicates.captures == 1 ? "has" : "have",
                  report.revisits.captures,
                  report.revisits.captures == 1 ? "is kept as a revisit" : "are kept as revisits");
  if (report.truncated > 0) {
    out += fmt::format("{} {} cut off\n", report.truncated, report.truncated == 1 ? "was" : "were");
  }
  if (report.removed > 0) {
    out += fmt::format("{} taken down\n", report.removed == 1
                                              ? "1 other was"
                                              : fmt::format("{} others were", report.removed));
  }
  out += "\nby status:\n";
  for (const auto& [status, sum] : report.by_status) AppendSum(out, status, sum);
  out += "\nby media type:\n";
  for (const auto& [type, sum] : LargestTypes(report)) AppendSum(out, type, sum);
  out += fmt::format("\nby host, of {}:\n", report.host_count);
  for (const archive::HostCount& host : report.hosts) {
    AppendSum(out, host.host.empty() ? "-" : host.host, {host.captures, host.bytes});
  }
  const std::string_view are = report.errors.captures == 1 ? "is" : "are";
  AppendTrouble(out, fmt::format("{} missing: the server answered with an error", are),
                report.errors);
  const std::string_view repeat = report.unresolved.captures == 1 ? "repeats" : "repeat";
  AppendTrouble(out, fmt::format("{} captures that are not in this archive:", repeat),
                report.unresolved);
  AppendTrouble(
      out, "may repeat captures that are not here, which cannot be known now:", report.undecided);
  if (report.undecided.captures > 0) out += fmt::format("  {}\n", report.undecided_reason);
  AppendDamage(out, report);
  return out;
}

std::string SumJson(const CaptureSum& sum) {
  return fmt::format("{{\"captures\": {}, \"bytes\": {}}}", sum.captures, sum.bytes);
}

std::string SumsJson(const std::map<std::string, CaptureSum>& sums) {
  std::string out = "{";
  for (const auto& [name, sum] : sums) {
    if (out.size() > 1) out += ", ";
    AppendJsonString(out, name);
    out += ": " + SumJson(sum);
  }
  return out + '}';
}

std::string HostsJson(const std::vector<archive::HostCount>& hosts) {
  std::string out = "[";
  for (const archive::HostCount& host : hosts) {
    if (out.size() > 1) out += ", ";
    out += "{\"host\": ";
    AppendJsonString(out, host.host);
    out += fmt::format(", \"captures\": {}, \"pages\": {}, \"bytes\": {}}}", host.captures,
                       host.pages, host.bytes);
  }
  return out + ']';
}

std::string TroubleJson(const CaptureTrouble& trouble) {
  std::string out = fmt::format("{{\"captures\": {}, \"first\": [", trouble.captures);
  for (const catalog::HeldCapture& capture : trouble.first) {
    if (out.back() != '[') out += ", ";
    out += "{\"url\": ";
    AppendJsonString(out, capture.row.url);
    out += fmt::format(", \"time\": \"{}\", \"status\": {}}}", FormatIsoMillis(capture.row.time),
                       capture.row.status);
  }
  return out + "]}";
}

std::string DamageJson(const RunReport& report) {
  std::string out = fmt::format("{{\"places\": {}, \"first\": [", report.damaged);
  for (const RunReport::DamagedPlace& place : report.damaged_first) {
    if (out.back() != '[') out += ", ";
    out += "{\"file\": ";
    AppendJsonString(out, place.file);
    out +=
        fmt::format(", \"begin\": {}, \"end\": {}, \"reason\": ", place.loss.begin, place.loss.end);
    AppendJsonString(out, place.loss.reason);
    out += '}';
  }
  return out + "]}";
}

std::string TimeJson(const std::optional<Timestamp>& time) {
  return time ? fmt::format("\"{}\"", FormatIsoMillis(*time)) : "null";
}

std::string ReportJson(const archive::Run& run, const RunReport& report) {
  std::string out = fmt::format("{{\"run\": {}, \"kind\": ", run.number);
  AppendJsonString(out, run.kind);
  out += ", \"note\": ";
  AppendJsonString(out, run.note);
  out +=
      fmt::format(", \"begin\": {}, \"end\": {}, \"first\": {}, \"last\": {}", TimeJson(run.begin),
                  TimeJson(run.end), TimeJson(report.first), TimeJson(report.last));
  for (const auto& [name, sum] :
       {std::pair("all", &report.all), std::pair("pages", &report.pages),
        std::pair("revisits", &report.revisits), std::pair("duplicates", &report.duplicates)}) {
    out += fmt::format(", \"{}\": {}", name, SumJson(*sum));
  }
  out += fmt::format(
      ", \"truncated\": {}, \"removed\": {}, \"containers\": {}, \"container_bytes\": {}, "
      "\"by_status\": {}, \"by_type\": {}, \"host_count\": {}, \"hosts\": {}, \"errors\": {}, "
      "\"unresolved\": {}, \"undecided\": {}, \"unlisted\": {}, \"damaged\": {}}}\n",
      report.truncated, report.removed, report.containers, report.container_bytes,
      SumsJson(report.by_status), SumsJson(report.by_type), report.host_count,
      HostsJson(report.hosts), TroubleJson(report.errors), TroubleJson(report.unresolved),
      TroubleJson(report.undecided), report.unlisted, DamageJson(report));
  return out;
}

// What the logs of a crawl say; nothing where the run is none, or its logs are gone.
Result<std::optional<crawl::CrawlReport>> CrawlReportOf(const archive::ArchiveView& view,
                                                        const archive::Run& run) {
  const std::string job(crawl::JobOf(run));
  if (job.empty()) return std::optional<crawl::CrawlReport>();
  Result<crawl::CrawlReport> report = crawl::ReadCrawlReport(
      view.fs(), crawl::JobFolder(view.layout().directory(), job).RunFolder(run.number));
  if (report) {
    const Status dropped = crawl::DropCaptured(view, run.number, *report);
    if (!dropped) return dropped.error();
    return std::optional(*std::move(report));
  }
  if (report.error().code != ErrorCode::kNotFound) return report.error();
  return std::optional<crawl::CrawlReport>();
}

std::string FailedText(const crawl::CrawlReport& report) {
  std::string out;
  if (report.failed_count > 0) {
    out += fmt::format("\n{} could not be fetched:\n", Count(report.failed_count, "URL"));
  }
  const std::size_t shown = std::min(report.failed.size(), archive::kTroublesShown);
  for (std::size_t i = 0; i < shown; ++i) {
    out += fmt::format("  {}\n    {}\n", report.failed[i].url, report.failed[i].problem);
  }
  if (report.failed_count > shown) out += "  ...\n";
  if (report.given_up.empty()) return out;
  out += fmt::format("\n{} given up:\n", Count(report.given_up.size(), "place"));
  std::size_t named = 0;
  for (const auto& [origin, place] : report.given_up) {
    if (++named > archive::kTroublesShown) return out + "  ...\n";
    out += fmt::format("  {}, with {}\n    {}\n", origin, Count(place.urls, "URL"), place.problem);
  }
  return out;
}

std::string ByHttpsText(const crawl::CrawlReport& report) {
  std::string out;
  std::size_t seeds = 0;
  for (const crawl::CrawlReport::Seed& seed : report.seeds) {
    if (seed.by_https.empty() || ++seeds > archive::kTroublesShown) continue;
    out += fmt::format("  {}\n    by https: {}\n    {}\n", seed.url,
                       crawl::ByHttps(seed.url).href(), seed.by_https);
  }
  if (seeds > archive::kTroublesShown) out += "  ...\n";
  if (seeds == 0) return out;
  return fmt::format("\n{} asked for by https, as http does not answer:\n{}",
                     seeds == 1 ? "1 seed was" : fmt::format("{} seeds were", seeds), out);
}

std::string MissingText(const crawl::CrawlReport& report) {
  std::string out;
  if (report.came_later > 0) {
    out += fmt::format("\n{} that pages need came by other ways, or with later runs\n",
                       Count(report.came_later, "file"));
  }
  if (report.missing_count == 0) return out;
  out += fmt::format("\n{} missing that pages need:\n", Count(report.missing_count, "file"));
  const std::size_t shown = std::min(report.missing.size(), archive::kTroublesShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const crawl::MissingEmbed& missing = report.missing[i];
    out += fmt::format("  {}\n    on {}\n    {}\n    to do: {}\n", missing.url, missing.page,
                       missing.reason, missing.remedy);
  }
  if (report.missing_count > shown) out += "  ...\n";
  return out;
}

std::string TrapsText(const crawl::CrawlReport& report) {
  if (report.traps.empty()) return "";
  std::string out = fmt::format("\n{}, with {} left alone:\n", Count(report.traps.size(), "trap"),
                                Count(report.trapped_urls, "URL"));
  std::size_t shown = 0;
  for (const auto& [place, trap] : report.traps) {
    if (++shown > archive::kTroublesShown) return out + "  ...\n";
    out +=
        fmt::format("  {} {}, with {}\n    such as {}\n    to do: {}\n", place.first, place.second,
                    Count(trap.urls, "URL"), trap.example, crawl::RemedyForTrap(place.first));
  }
  return out;
}

std::string SuspectsText(const crawl::CrawlReport& report) {
  if (report.suspect_count == 0) return "";
  std::string out = fmt::format("\n{} may not be what a person would have seen:\n",
                                Count(report.suspect_count, "page"));
  const std::size_t shown = std::min(report.suspects.size(), archive::kTroublesShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const crawl::CrawlReport::Suspect& suspect = report.suspects[i];
    out += fmt::format("  {} {}\n    {}\n    to do: {}\n", suspect.status, suspect.url, suspect.why,
                       crawl::RemedyFor(suspect.trouble));
  }
  if (report.suspect_count > shown) out += "  ...\n";
  return out;
}

ExitCode Run(const Arguments& arguments, Context& context) {
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveReader> reader = OpenArchive(arguments, context, code);
  if (reader == nullptr) return code;
  const archive::ArchiveView view = reader->View();
  Result<const archive::Run*> run = RunOf(arguments, view.holdings());
  if (!run) return Fail(context, run.error());
  Result<RunReport> report = archive::ReportOn(view, (*run)->number);
  if (!report) return Fail(context, report.error());
  Result<std::optional<crawl::CrawlReport>> logs = CrawlReportOf(view, **run);
  if (!logs) return Fail(context, logs.error());
  std::string text;
  if (arguments.Has("--json")) {
    text = ReportJson(**run, *report);
    if (*logs) {
      std::string crawl = crawl::ReportJson(**logs);
      crawl.pop_back();
      text.insert(text.size() - 2, ", \"crawl\": " + crawl);
    }
  } else {
    text = ReportText(**run, *report);
    if (*logs) {
      text += ByHttpsText(**logs) + FailedText(**logs) + MissingText(**logs) + TrapsText(**logs) +
              SuspectsText(**logs);
    }
    text = VisibleText(text);
  }
  const Status written = context.out.Write(text);
  return written ? code : Fail(context, written.error());
}

}  // namespace

Command ReportCommand() {
  Command command;
  command.name = "report";
  command.summary = "Say what a run brought, and what is wrong with it";
  command.details =
      "How many captures and bytes by status, media type and host; how many of them have a payload "
      "that their URL had before; what is missing because the server answered with an error, "
      "which revisits repeat captures that are not in this archive, which places of the files "
      "could not be read. Of a crawl also which URLs could not be fetched, which places were given "
      "up, and what its pages need and the archive does not have: "
      "on which page, why, and what can be done (stele crawl --patch fetches what can be had); "
      "traps, where URLs come without end; and pages that look like a challenge for robots, or "
      "empty without scripts.";
  command.options = WithArchiveOption(
      {{"--run", "N", "The run", "the last"}, {"--json", "", "As a JSON object"}});
  command.examples = {{"stele report", "How did the last import or crawl go?"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
