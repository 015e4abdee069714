#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "crawl/control/control_server.h"
#include "crawl/crawl_job.h"

namespace stele::cli {

// What is crawled, and where it goes.
struct CrawlPlan {
  std::string directory;  // of an archive that is there
  std::string job;
  crawl::CrawlSettings settings;
  crawl::CrawlJob::Purpose purpose = crawl::CrawlJob::Purpose::kCrawl;
  std::vector<std::string> options = {};  // that hold because an interrupted run began with them
};

struct CrawlRunOptions {
  bool quiet = false;
  bool json = false;
  bool progress = false;                         // a line on the terminal
  std::optional<crawl::ControlOptions> control;  // nothing: nobody can talk to it
};

// One run of a job, with what a person is told about it.
class CrawlRun {
 public:
  CrawlRun(Context& context, CrawlRunOptions options)
      : context_(context), options_(std::move(options)) {}

  // Until it is over, or stopped. Call it once.
  ExitCode Run(const CrawlPlan& plan);
  // From any thread, also before Run().
  void Stop();
  // After Run(): somebody did, or `stele job stop`.
  bool was_stopped() const { return was_stopped_; }

 private:
  void SetJob(crawl::CrawlJob* job);
  void Announce(const crawl::CrawlJob& job, const CrawlPlan& plan, bool is_first);

  Context& context_;
  const CrawlRunOptions options_;
  bool was_stopped_ = false;
  std::mutex mutex_;  // of the following
  crawl::CrawlJob* job_ = nullptr;
  bool stopped_ = false;
};

// "12 pages, 40 files, 3.4 MB, 10/s, ...": how far it is, without its state.
std::string StatusLine(const crawl::CrawlStatus& status);

}  // namespace stele::cli
