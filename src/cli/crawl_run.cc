#include "cli/crawl_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/amount.h"
#include "cli/archive_commands.h"
#include "cli/crawl_summary.h"
#include "crawl/crawl_report.h"
#include "crawl/missing_embeds.h"
#include "crawl/seed.h"

namespace stele::cli {
namespace {

// One line on the terminal, drawn over and over.
class ProgressLine {
 public:
  ProgressLine(Context& context, bool shown) : context_(context), shown_(shown) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(const crawl::CrawlStatus& status) {
    if (!shown_) return;
    drawn_ = true;
    std::string line = StatusLine(status);
    const crawl::CrawlState state = status.progress.state;
    if (state != crawl::CrawlState::kRunning) line += fmt::format("; {}", NameOf(state));
    static_cast<void>(context_.err.Write("\r\x1b[K" + line));
  }
  void Clear() {
    if (drawn_) static_cast<void>(context_.err.Write("\r\x1b[K"));
    drawn_ = false;
  }

 private:
  Context& context_;
  const bool shown_;
  bool drawn_ = false;
};

// The run of the same job before this one.
std::optional<std::uint32_t> RunBefore(const archive::Holdings& holdings, const std::string& job,
                                       std::uint32_t run) {
  std::optional<std::uint32_t> before;
  for (const auto& [number, other] : holdings.runs()) {
    if (number >= run || !other.end || crawl::JobOf(other) != job) continue;
    if (!crawl::PatchedRun(other)) before = number;
  }
  return before;
}

// How much of what was missing this run brought.
Status CountPatched(const archive::ArchiveView& view, const crawl::CrawlJob& job,
                    CrawlSummary& summary) {
  const std::uint32_t patched = *job.patched_run();
  PatchCount& patch = summary.patch.emplace();
  patch.run = patched;
  return crawl::VisitMissing(view.fs(), job.folder().RunFolder(patched),
                             [&](const crawl::MissingEmbed& missing) -> Status {
                               const auto found = crawl::RunThatHas(view, missing, patched);
                               if (!found) return found.error();
                               if (*found && **found < job.run()) return {};
                               ++patch.wanted;
                               if (*found) ++patch.found;
                               return {};
                             });
}

// Names the first places that did not answer, and counts the others.
void ComplainOfPlaces(const crawl::CrawlReport& report, Context& context) {
  constexpr std::size_t kShown = 5;
  std::size_t shown = 0;
  for (const auto& [origin, place] : report.given_up) {
    if (++shown > kShown) break;
    Complain(context, fmt::format("{} was given up, with {}: {}", origin, Count(place.urls, "URL"),
                                  place.problem));
  }
  if (report.given_up.size() <= kShown) return;
  Complain(context,
           fmt::format("{} more were given up: see stele report", report.given_up.size() - kShown));
}

// Where there is no http, a person may have left out the scheme. Servers of https hang up on http.
std::string HttpsInstead(const crawl::CrawlReport::Seed& seed) {
  const Result<url::Url> url = url::Parse(seed.url);
  // Without a scheme it was asked for so.
  if (!url || url->scheme() != "http" || !seed.redirect.empty()) return "";
  const bool is_refused = seed.status == net::HeritrixStatus(net::FetchFailure::kConnect);
  const bool is_lost = seed.status == net::HeritrixStatus(net::FetchFailure::kLost);
  if (url->port() ? !is_lost : !is_refused) return "";
  const std::string_view rest = std::string_view(seed.url).substr(seed.url.find(':'));
  return fmt::format("; it may answer by https: stele crawl https{}", rest);
}

void ComplainOfSeeds(const std::vector<crawl::CrawlReport::Seed>& seeds, Context& context) {
  for (const crawl::CrawlReport::Seed& seed : seeds) {
    Complain(context, fmt::format("the seed {} could not be fetched: {}{}", seed.url, seed.problem,
                                  HttpsInstead(seed)));
  }
}

// What a person types to crawl once more, from where the program was called.
std::string CommandFor(const std::string& directory) {
  return directory == "." ? "stele crawl" : fmt::format("stele crawl --archive {}", directory);
}

// Whether a site that was asked for stopped answering before all of it was there.
bool LostASite(const crawl::CrawlReport& report, const std::vector<std::string>& seeds) {
  std::set<std::string> by_https;  // http has nothing of these
  for (const crawl::CrawlReport::Seed& seed : report.seeds) {
    if (!seed.by_https.empty()) by_https.insert(seed.url);
  }
  return std::any_of(seeds.begin(), seeds.end(), [&](const std::string& seed) {
    Result<url::Url> url = crawl::ParseSeed(seed);
    if (url && by_https.contains(url->href())) url = crawl::ByHttps(url->href());
    return url && report.given_up.contains(url->origin());
  });
}

// Names the first seeds that http did not bring and https did.
void TellOfHttps(const crawl::CrawlReport& report, Context& context) {
  constexpr std::size_t kShown = 5;
  std::size_t told = 0;
  for (const crawl::CrawlReport::Seed& seed : report.seeds) {
    if (seed.by_https.empty() || ++told > kShown) continue;
    Complain(context, fmt::format("{} was asked for by https: {}", seed.url, seed.by_https));
  }
  if (told > kShown) {
    Complain(context, fmt::format("{} more were asked for by https: see stele report --json",
                                  told - kShown));
  }
}

// Says how it went; what a person should look at is in the exit code.
ExitCode Conclude(const crawl::CrawlJob& job, const CrawlPlan& plan, const crawl::CrawlEnd& end,
                  archive::ArchiveWriter& archive, const CrawlRunOptions& options,
                  Context& context) {
  if (end.why == crawl::CrawlEnd::Why::kStopped) {
    Complain(context, fmt::format("stopped in run {} after {}, with {} left; {} goes on with it",
                                  job.run(), Count(end.progress.counts.files, "file"),
                                  Count(end.progress.waiting, "URL"), CommandFor(plan.directory)));
    return ExitCode::kFailed;
  }
  const archive::ArchiveView view = archive.View();
  const bool is_patch = job.patched_run().has_value();
  Result<CrawlSummary> summary = SummarizeCrawl(
      view, job.run(), is_patch ? std::nullopt : RunBefore(view.holdings(), plan.job, job.run()));
  if (!summary) return Fail(context, summary.error());
  if (is_patch) {
    const Status counted = CountPatched(view, job, *summary);
    if (!counted) return Fail(context, counted.error());
  }
  summary->missing = job.report().missing_count;
  summary->failed = job.report().failed_count;
  for (const auto& [origin, place] : job.report().given_up) summary->given_up.push_back(origin);
  summary->too_deep = job.report().CountRejected(crawl::kTooDeep);
  summary->links_left_out = job.report().links_left_out;
  summary->traps = job.report().traps.size();
  summary->trapped_urls = job.report().trapped_urls;
  summary->repeated_secrets = job.report().repeated_secrets;
  summary->is_partial = end.why == crawl::CrawlEnd::Why::kLimit;
  summary->milliseconds = end.progress.counts.milliseconds;
  summary->bytes = end.progress.counts.bytes;
  for (const crawl::CrawlReport::Seed& seed : job.report().seeds) {
    if (!seed.is_good()) summary->failed_seeds.push_back(seed);
  }
  if (options.json || !options.quiet) {
    const Status written = context.out.Write(options.json ? summary->Json() : summary->Text());
    if (!written) return Fail(context, written.error());
  }
  if (end.why == crawl::CrawlEnd::Why::kLimit) {
    Complain(context, fmt::format("the limit of {0} was reached, with {1} left; the next stele "
                                  "crawl begins anew, and gets further with a higher --max-{0}",
                                  end.limit, Count(end.progress.waiting, "URL")));
  }
  if (!options.quiet) TellOfHttps(job.report(), context);
  ComplainOfPlaces(job.report(), context);
  if (const std::uint64_t busy = job.report().CountBusy(); busy > 0) {
    Complain(context, fmt::format("{} only said that the server had no time (429, 503); later, "
                                  "stele crawl asks again, and stele crawl --patch for embeds",
                                  Count(busy, "answer")));
  }
  if (summary->repeated_secrets > 0) {
    Complain(context, fmt::format("{} of the server repeat cookies that you gave, and are stored "
                                  "as they came: keep this archive to yourself",
                                  Count(summary->repeated_secrets, "response")));
  }
  ComplainOfSeeds(summary->failed_seeds, context);
  if (LostASite(job.report(), plan.settings.seeds)) {
    Complain(context, fmt::format("a site that was asked for is not whole; when it answers: {}",
                                  CommandFor(plan.directory)));
    return ExitCode::kDefects;
  }
  return summary->failed_seeds.empty() ? ExitCode::kDone : ExitCode::kDefects;
}

// There is nothing to patch.
ExitCode SayWhole(std::uint32_t run, const CrawlRunOptions& options, Context& context) {
  if (options.quiet && !options.json) return ExitCode::kDone;
  const std::string text =
      options.json
          ? fmt::format("{{\"patches\": {}, \"wanted\": 0, \"found\": 0}}\n", run)
          : fmt::format("Run {} has all that its pages need: there is nothing to patch\n", run);
  const Status written = context.out.Write(text);
  return written ? ExitCode::kDone : Fail(context, written.error());
}

// "http://a/ http://b/ http://c/ and 47 more"
std::string SeedsText(const std::vector<std::string>& seeds) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(seeds.size(), kShown); ++i) {
    text += (i > 0 ? " " : "") + seeds[i];
  }
  if (seeds.size() > kShown) text += fmt::format(" and {} more", seeds.size() - kShown);
  return text;
}

}  // namespace

std::string StatusLine(const crawl::CrawlStatus& status) {
  const crawl::CrawlProgress& progress = status.progress;
  const crawl::CrawlCounts& counts = progress.counts;
  std::string line =
      fmt::format("{}, {}, {}, {:.0f}/s, {}/s; {} wait on {}, {} under way; {} known, {} failed",
                  Count(counts.pages, "page"), Count(counts.files, "file"), ByteCount(counts.bytes),
                  status.rates.files, ByteCount(static_cast<std::uint64_t>(status.rates.bytes)),
                  progress.waiting, Count(progress.hosts, "host"), progress.under_way,
                  counts.duplicates, counts.failures);
  if (status.left) line += fmt::format("; {} left", DurationText(*status.left));
  return line;
}

void CrawlRun::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (job_ != nullptr) job_->Stop();
}

void CrawlRun::SetJob(crawl::CrawlJob* job) {
  const std::lock_guard lock(mutex_);
  job_ = job;
  if (job != nullptr && stopped_) job->Stop();
}

void CrawlRun::Announce(const crawl::CrawlJob& job, const CrawlPlan& plan, bool is_first) {
  if (options_.quiet) return;
  std::string text;
  if (job.is_resumed()) {
    text = fmt::format(
        "Going on with run {}, which was interrupted{}{}\n", job.run(),
        plan.options.empty() ? "" : ", with what it began with: ", fmt::join(plan.options, ", "));
  } else if (!is_first) {
    const std::optional<std::uint32_t> patched = job.patched_run();
    text = fmt::format("Run {} of {}: {}\n", job.run(), plan.job,
                       patched
                           ? fmt::format("what pages of run {} need and it did not bring", *patched)
                           : SeedsText(plan.settings.seeds));
  }
  static_cast<void>(context_.err.Write(text));
}

ExitCode CrawlRun::Run(const CrawlPlan& plan) {
  ExitCode code = ExitCode::kDone;
  std::unique_ptr<archive::ArchiveWriter> archive =
      OpenArchiveToWrite(plan.directory, "crawl", context_, code);
  if (archive == nullptr) return code;
  const bool is_first = archive->View().holdings().runs().empty();
  const crawl::JobFolder folder(plan.directory, plan.job);
  if (const Result<bool> there = context_.fs.Exists(folder.Settings()); there && !*there) {
    const Status saved = crawl::SaveSettings(context_.fs, folder, plan.settings);
    if (!saved) return Fail(context_, saved.error());
  }
  Result<std::unique_ptr<crawl::CrawlJob>> job = crawl::CrawlJob::Open(
      {context_.fs, context_.clock, *archive}, plan.job, plan.settings, plan.purpose);
  if (!job) return Fail(context_, job.error());
  if (!(*job)->has_work()) return SayWhole(*(*job)->patched_run(), options_, context_);
  Announce(**job, plan, is_first);
  SetJob(job->get());
  ProgressLine progress(context_, options_.progress);
  Result<crawl::CrawlEnd> end =
      (*job)->Run([&](const crawl::CrawlStatus& now) { progress.Show(now); },
                  options_.control ? &*options_.control : nullptr);
  SetJob(nullptr);
  progress.Clear();
  if (!end) {
    const ExitCode failed = Fail(context_, end.error());
    if (end.error().code == ErrorCode::kFull) {
      Complain(context_, fmt::format("make room; stele crawl goes on with run {} then, and nothing "
                                     "is lost",
                                     (*job)->run()));
    }
    return failed;
  }
  was_stopped_ = end->why == crawl::CrawlEnd::Why::kStopped;
  return Conclude(**job, plan, *end, *archive, options_, context_);
}

}  // namespace stele::cli
