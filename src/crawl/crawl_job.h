#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/archive_writer.h"
#include "crawl/control/control_server.h"
#include "crawl/crawl_report.h"
#include "crawl/crawl_settings.h"
#include "crawl/crawler.h"
#include "crawl/known_documents.h"
#include "crawl/missing_embeds.h"
#include "io/clock.h"
#include "io/file_system.h"
#include "store/container_table.h"
#include "util/result.h"

namespace stele::crawl {

// Where the files of a job are in an archive: docs/crawling.md, "Files".
class JobFolder {
 public:
  JobFolder(const std::string& archive, const std::string& job)
      : path_(AllJobs(archive) + '/' + job), archive_(archive) {}

  static std::string AllJobs(const std::string& archive) { return archive + "/crawl"; }
  const std::string& path() const { return path_; }
  std::string Settings() const { return path_ + "/job.toml"; }
  std::string FrontierFolder() const { return path_ + "/frontier"; }
  std::string DigestFolder() const { return path_ + "/digests"; }
  std::string RunFolder(std::uint32_t run) const { return path_ + "/run-" + std::to_string(run); }
  // What a run began with, options and all, and what the job said then.
  std::string RunSettings(std::uint32_t run) const { return RunFolder(run) + "/settings.toml"; }
  std::string RunJob(std::uint32_t run) const { return RunFolder(run) + "/job.toml"; }
  // Makes the folders that are missing.
  Status Make(io::FileSystem& fs) const;

 private:
  std::string path_;
  std::string archive_;
};

// The jobs of an archive, sorted. Errors: kIo.
Result<std::vector<std::string>> ListJobs(io::FileSystem& fs, const std::string& archive);
// What a job is called that begins with this seed: "example.org", "127.0.0.1_8080".
std::string JobNameOf(const url::Url& seed);
// Whether a job can be called so: it is the name of a folder, which is not hidden.
bool IsJobName(std::string_view name);
// Errors: kNotFound when there is no such job; kInvalid.
Result<CrawlSettings> LoadSettings(io::FileSystem& fs, const JobFolder& folder);
Status SaveSettings(io::FileSystem& fs, const JobFolder& folder, const CrawlSettings& settings);

// What a job does now: where its last run was interrupted, with the options that this one began
// with, as far as its files tell. Errors: those of LoadSettings().
Result<ResumedSettings> LoadSettingsToRun(io::FileSystem& fs, const std::string& archive,
                                          const archive::Holdings& holdings,
                                          const std::string& job);

// The job of a run, where a crawl wrote it; empty where it was something else.
std::string_view JobOf(const archive::Run& run);
// The run whose gaps this one fills; nothing where it fills none.
std::optional<std::uint32_t> PatchedRun(const archive::Run& run);

// Whether a run can begin with them: they make sense, and the files that they name can be used.
// Errors: kInvalid, kNotFound, kCorrupt, kIo.
Status CheckSettings(io::FileSystem& fs, const io::Clock& clock, const CrawlSettings& settings);

// One run of a job: a new one, or the one that was interrupted.
class CrawlJob {
 public:
  struct Environment {
    io::FileSystem& fs;
    const io::Clock& clock;
    archive::ArchiveWriter& archive;
  };

  enum class Purpose {
    kCrawl,  // on with what was interrupted, or all anew
    kPatch,  // fetch what pages of the last run need and it did not bring
  };

  // Borrows what is in `environment` for life. Requires: IsJobName(name). Errors: those of
  // CheckSettings(), before anything begins; kInvalid where there is nothing to patch yet; kBusy,
  // kIo.
  static Result<std::unique_ptr<CrawlJob>> Open(const Environment& environment,
                                                const std::string& name,
                                                const CrawlSettings& settings,
                                                Purpose purpose = Purpose::kCrawl);
  ~CrawlJob();

  // False: the last run, patched_run(), has all that its pages need. No run has begun then.
  bool has_work() const { return has_work_; }
  std::uint32_t run() const { return run_; }
  bool is_resumed() const { return resumed_; }
  std::optional<std::uint32_t> patched_run() const { return patched_run_; }
  const JobFolder& folder() const { return folder_; }

  // Crawls until nothing is left, a limit is reached, or Stop(). Where it was not stopped, the run
  // is over then, and its reports are written. Requires: has_work().
  // Other programs can watch and change it meanwhile, unless `control` is null.
  using Show = std::function<void(const CrawlStatus&)>;
  Result<CrawlEnd> Run(const Show& show, const ControlOptions* control = nullptr);
  // What the logs of a run that is over say.
  const CrawlReport& report() const { return report_; }
  // From any thread.
  void Stop();

 private:
  CrawlJob(const Environment& environment, const std::string& name, const CrawlSettings& settings);
  Status OpenFrontier();
  // False: there is none, or it is over.
  Result<bool> FindInterrupted();
  Status BeginRun();
  // So that it goes on with the same after an interruption.
  Status SaveRunSettings() const;
  // Which run is to be patched, and whether something is missing there.
  Status FindPatch();
  // What pages of the patched run need, and no run has brought since.
  Status VisitGaps(const std::function<Status(const MissingEmbed& gap)>& visit) const;
  // The last run of this job that is over.
  std::optional<std::uint32_t> LastRun() const;
  // What becomes of the crawl when it fills the gaps of a run.
  Status TakePatch(Crawler::Wishes& wishes, CrawlSettings& settings) const;
  // What is needed only while a run goes on.
  Status RemoveTables();
  void SetCrawler(Crawler* crawler);
  // The reports of a run that is over.
  Result<CrawlReport> WriteReportsOf(std::uint32_t run);
  // Those of the last run, where it was killed before it wrote them.
  Status WriteMissingReports();
  Result<CrawlEnd> Crawl(RunLog& log, const Show& show, const ControlOptions* control);
  Result<RunLog::Sizes> LogSizes();

  const Environment environment_;
  const std::string name_;
  const JobFolder folder_;
  const CrawlSettings settings_;
  std::unique_ptr<store::BlockTable> table_;
  std::unique_ptr<Frontier> frontier_;
  std::unique_ptr<KnownDocuments> known_;
  std::uint32_t run_ = 0;
  bool has_work_ = true;
  bool resumed_ = false;
  std::optional<std::uint32_t> patched_run_;
  CrawlReport report_;
  std::mutex mutex_;  // of the following
  bool stopped_ = false;
  Crawler* crawler_ = nullptr;  // while it runs
};

}  // namespace stele::crawl
