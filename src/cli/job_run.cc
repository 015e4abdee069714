// Runs jobs when they are due. When that is, the ledger says: nothing is remembered here but what
// went wrong, so that it is not tried again at once.
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>

#include "cli/archive_commands.h"
#include "cli/crawl_run.h"
#include "cli/file_jobs.h"
#include "cli/job_commands.h"
#include "cli/stop_signals.h"
#include "crawl/control/running_crawl.h"
#include "crawl/job_schedule.h"

namespace stele::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr milliseconds kLookAtLeast = minutes(1);  // job files may change
constexpr milliseconds kAfterFailure = minutes(5);

// A job of one of the archives.
struct DueJob {
  std::string directory;
  crawl::ScheduledJob job;
};

class Scheduler {
 public:
  Scheduler(const Arguments& arguments, Context& context)
      : arguments_(arguments), context_(context), watcher_(context, [this] { Stop(); }) {
    directories_ = arguments.GetAll("--archive");
    if (directories_.empty()) directories_.push_back(ArchiveDirectory(arguments));
  }

  // Each job that is due now, once.
  ExitCode RunOnce() {
    ExitCode worst = ExitCode::kDone;
    for (const std::string& directory : directories_) {
      Result<std::vector<DueJob>> jobs = JobsOf(directory);
      if (!jobs) {
        worst = std::max(worst, Fail(context_, jobs.error()));
        continue;
      }
      for (const DueJob& one : *jobs) {
        if (IsStopped()) return ExitCode::kFailed;
        if (one.job.is_due(Now())) worst = std::max(worst, Run(one));
      }
    }
    // A job whose file is wrong may have been due.
    return told_.empty() ? worst : std::max(worst, ExitCode::kDefects);
  }

  // Until somebody stops it.
  ExitCode RunForever() {
    while (!IsStopped()) {
      std::optional<DueJob> first;
      for (const std::string& directory : directories_) {
        Result<std::vector<DueJob>> jobs = JobsOf(directory);
        // It may be better the next time.
        if (!jobs) Complain(context_, jobs.error().text);
        if (!jobs) continue;
        for (DueJob& one : *jobs) {
          if (!one.job.next) continue;
          if (!first || NextOf(one) < NextOf(*first)) first = std::move(one);
        }
      }
      if (first && NextOf(*first) <= Now()) {
        Run(*first);
      } else {
        WaitUntil(first ? NextOf(*first) : Timestamp{INT64_MAX});
      }
    }
    return ExitCode::kDone;
  }

 private:
  Timestamp Now() const { return context_.clock.Now(); }

  void Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (running_ != nullptr) running_->Stop();
    woken_.notify_all();
  }

  bool IsStopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

  void WaitUntil(Timestamp time) {
    const std::int64_t wait =
        std::clamp<std::int64_t>(time.milliseconds - Now().milliseconds, 0, kLookAtLeast.count());
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, milliseconds(wait), [&] { return stopped_; });
  }

  // None where another process crawls in this archive.
  Result<std::vector<DueJob>> JobsOf(const std::string& directory) {
    const auto running = crawl::FindRunningCrawl(context_.fs, directory);
    if (!running) return running.error();
    if (*running) return std::vector<DueJob>();
    auto reader = archive::ArchiveReader::Open(context_.fs, directory);
    if (!reader) return reader.error();
    Result<std::vector<crawl::ScheduledJob>> jobs =
        crawl::LoadSchedule(context_.fs, directory, (*reader)->View().holdings());
    if (!jobs) return jobs.error();
    std::vector<DueJob> due;
    for (crawl::ScheduledJob& job : *jobs) {
      if (!job.settings) Tell(directory + '/' + job.name, job.settings.error().text);
      if (job.settings) due.push_back({directory, std::move(job)});
    }
    return due;
  }

  // What is wrong with a file is said once, not every minute.
  void Tell(const std::string& what, const std::string& text) {
    if (std::exchange(told_[what], text) != text) Complain(context_, text);
  }

  Timestamp NextOf(const DueJob& one) const {
    const auto held = held_.find({one.directory, one.job.name});
    return std::max(*one.job.next, held == held_.end() ? Timestamp{} : held->second);
  }

  ExitCode Run(const DueJob& one) {
    CrawlRunOptions options;
    options.quiet = arguments_.Has("--quiet");
    options.json = arguments_.Has("--json");
    options.progress = ShowsProgress(arguments_, context_);
    options.control.emplace();
    options.control->token = crawl::NewToken(context_.random);
    CrawlRun run(context_, std::move(options));
    SetRunning(&run);
    CrawlPlan plan{one.directory, one.job.name, *one.job.settings};
    if (one.job.is_interrupted()) TakeOptions(plan);
    plan.settings.workers = static_cast<std::size_t>(std::max(1, context_.cores));
    const Timestamp begun = Now();
    const ExitCode code = run.Run(plan);
    SetRunning(nullptr);
    // Whoever stopped it does not want it to go on at once.
    const milliseconds pause =
        run.was_stopped() ? milliseconds(plan.settings.every) : kAfterFailure;
    if (code == ExitCode::kFailed || code == ExitCode::kUsage) {
      held_[{one.directory, one.job.name}] = Timestamp{begun.milliseconds + pause.count()};
    }
    return code;
  }

  // Of the run that was interrupted; where they cannot be had, whoever opens the job says why.
  void TakeOptions(CrawlPlan& plan) {
    const auto reader = archive::ArchiveReader::Open(context_.fs, plan.directory);
    if (!reader) return;
    Result<crawl::ResumedSettings> resumed = crawl::LoadSettingsToRun(
        context_.fs, plan.directory, (*reader)->View().holdings(), plan.job);
    if (!resumed) return;
    plan.settings = std::move(resumed->settings);
    plan.options = std::move(resumed->options);
  }

  void SetRunning(CrawlRun* run) {
    const std::lock_guard lock(mutex_);
    running_ = run;
    if (run != nullptr && stopped_) run->Stop();
  }

  const Arguments& arguments_;
  Context& context_;
  std::vector<std::string> directories_;
  std::map<std::pair<std::string, std::string>, Timestamp> held_;  // not before
  std::map<std::string, std::string> told_;
  std::mutex mutex_;  // of the following
  std::condition_variable woken_;
  CrawlRun* running_ = nullptr;
  bool stopped_ = false;
  const StopWatcher watcher_;  // ends first
};

ExitCode Run(const Arguments& arguments, Context& context) {
  Scheduler scheduler(arguments, context);
  return arguments.Has("--once") ? scheduler.RunOnce() : scheduler.RunForever();
}

}  // namespace

Command JobRunCommand() {
  Command command;
  command.name = "run";
  command.summary = "Run jobs when they are due";
  command.details =
      "A job is due when `every` of its job.toml has passed since its last run began, when it has "
      "never run, or when its last run was interrupted, which is gone on with. Runs that were "
      "missed are made up for by one.\n\n"
      "Stays, and runs one job at a time, until SIGINT or SIGTERM; a crawl that runs is then "
      "stopped cleanly. For cron there is --once. Archives in which another process crawls are "
      "left alone.";
  command.options = {
      Repeatable({"--archive", "DIR", "The archive; else $STELE_ARCHIVE is taken", "."}),
      {"--once", "", "Run what is due now, and end"},
      {"--json", "", "The summaries as JSON objects"},
      {"--quiet", "", "No messages but complaints"}};
  command.examples = {
      {"stele job run --archive press --archive sites", "Stay, and keep both fresh"},
      {"0 * * * *  stele job run --once --archive press", "The same by cron"}};
  command.run = Run;
  return command;
}

}  // namespace stele::cli
