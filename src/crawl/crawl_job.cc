#include "crawl/crawl_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "crawl/crawl_report.h"
#include "crawl/duplicate_report.h"
#include "crawl/form_login.h"
#include "crawl/kept_captures.h"
#include "crawl/known_documents.h"
#include "crawl/seed.h"
#include "net/event_loop.h"
#include "net/resolver.h"
#include "util/ascii.h"
#include "util/check.h"
#include "util/coding.h"

namespace stele::crawl {
namespace {

constexpr std::size_t kDiskWorkers = 2;
// A capture waits so long for others that are synced with it.
constexpr std::chrono::milliseconds kSyncEvery{20};
constexpr std::string_view kRunNote = "run";
constexpr std::string_view kRunKind = "crawl";
constexpr std::string_view kPatchNote = "what is missing in run ";

Result<net::ResolverOptions> ResolverOptionsOf(const CrawlSettings& settings) {
  net::ResolverOptions options;
  for (const auto& [host, text] : settings.resolve) {
    const std::optional<net::IpAddress> address = net::IpAddress::FromText(text);
    if (!address) {
      return Error{
          ErrorCode::kInvalid,
          fmt::format("{} is no address; write for example --resolve {}=192.0.2.1", text, host)};
    }
    options.overrides[AsciiLower(host)].push_back(*address);
  }
  return options;
}

// Everything that fetches, in the order in which it must be there.
struct Network {
  net::EventLoop loop;
  net::WorkerPool disk{kDiskWorkers};
  std::unique_ptr<net::Resolver> resolver;
  std::unique_ptr<net::Fetcher> fetcher;

  Status Open(const CrawlSettings& settings, const std::string& spool_folder, io::FileSystem& fs,
              const io::Clock& clock) {
    Result<net::ResolverOptions> options = ResolverOptionsOf(settings);
    if (!options) return options.error();
    Result<std::unique_ptr<net::Resolver>> opened = net::Resolver::Open(*options, loop);
    if (!opened) return opened.error();
    resolver = *std::move(opened);
    net::FetcherOptions fetching;
    fetching.spool_folder = spool_folder;
    fetching.idle_max = settings.connections;
    Result<std::unique_ptr<net::Fetcher>> fetches =
        net::Fetcher::Open(fetching, loop, *resolver, disk, fs, clock);
    if (!fetches) return fetches.error();
    fetcher = *std::move(fetches);
    return {};
  }
};

Result<Credentials> LoadCredentials(io::FileSystem& fs, const io::Clock& clock,
                                    const CrawlSettings& settings) {
  Credentials credentials;
  for (const std::string& seed : settings.seeds) {
    if (const Result<url::Url> url = ParseSeed(seed)) credentials.AddSeed(*url);
  }
  if (!settings.logins_file.empty()) {
    const Result<std::string> text = io::ReadFile(fs, settings.logins_file);
    if (!text) return text.error();
    const Status added = credentials.AddLogins(*text, settings.logins_file);
    if (!added) return added.error();
  }
  if (!settings.cookies_file.empty()) {
    const Result<std::string> text = io::ReadFile(fs, settings.cookies_file);
    if (!text) return text.error();
    credentials.AddCookies(*text, clock.Now());
    if (credentials.cookies().empty() && !TrimSpace(*text).empty()) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("{} has no cookie that still holds; a cookies.txt has seven fields "
                               "in a line, with tabs between them, as browsers export it",
                               settings.cookies_file)};
    }
  }
  return credentials;
}

// Logs in wherever a form is to be filled in; what comes of it is given like other cookies.
Status LogInByForms(const CrawlSettings& settings, net::Fetcher& fetcher, const io::Clock& clock,
                    const std::function<bool()>& is_stopped, Credentials& credentials) {
  std::optional<net::FetchProxy> proxy = settings.proxy;
  if (proxy) proxy->authorization = credentials.AuthorizationForProxy(proxy->host, proxy->port);
  for (const LoginByForm& login : credentials.forms()) {
    Result<std::vector<cookies::Cookie>> cookies =
        LogIn(login, UserAgentOf(settings), proxy, fetcher, clock, is_stopped);
    if (!cookies) return cookies.error();
    credentials.AddCookies(*std::move(cookies), clock.Now());
  }
  return {};
}

// With the files in it, where it is there.
Status RemoveFolder(io::FileSystem& fs, const std::string& folder) {
  const Result<bool> there = fs.Exists(folder);
  if (!there) return there.error();
  if (!*there) return {};
  const Result<std::vector<std::string>> names = fs.List(folder);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (const Status gone = fs.Remove(folder + '/' + name); !gone) return gone;
  }
  return fs.Remove(folder);
}

// A table with holes cannot be opened: it has another name before the first of its files goes. What
// an earlier interruption left goes with it.
Status RemoveTable(io::FileSystem& fs, const std::string& folder) {
  const std::string going = folder + ".gone";
  if (const Status removed = RemoveFolder(fs, going); !removed) return removed;
  const Result<bool> there = fs.Exists(folder);
  if (!there) return there.error();
  if (!*there) return {};
  if (const Status renamed = fs.Rename(folder, going); !renamed) return renamed;
  const Status synced = fs.SyncDirectory(io::ParentDirectory(folder));
  return synced ? RemoveFolder(fs, going) : synced;
}

archive::RunWriterOptions WriterOptions(const std::string& job, const CrawlSettings& settings) {
  archive::RunWriterOptions options;
  options.job = job;
  options.gather = kSyncEvery;
  options.warcinfo = {{"robots", std::string(NameOf(settings.robots))},
                      {"http-header-user-agent", UserAgentOf(settings)}};
  if (!settings.contact.empty()) options.warcinfo.emplace_back("operator", settings.contact);
  return options;
}

}  // namespace

Status JobFolder::Make(io::FileSystem& fs) const {
  for (const std::string& folder : {AllJobs(archive_), path_}) {
    if (const Status made = fs.MakeDirectory(folder); !made) return made;
  }
  return {};
}

Result<std::vector<std::string>> ListJobs(io::FileSystem& fs, const std::string& archive) {
  const std::string folder = JobFolder::AllJobs(archive);
  const Result<bool> there = fs.Exists(folder);
  if (!there) return there.error();
  if (!*there) return std::vector<std::string>();
  return fs.List(folder);
}

std::string JobNameOf(const url::Url& seed) {
  std::string name(seed.host_and_port());
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !IsAsciiAlnum(c) && c != '.' && c != '-'; },
      '_');
  return name;
}

bool IsJobName(std::string_view name) {
  // A colon ends the name in notes of runs.
  const auto is_wrong = [](char c) {
    return c == '/' || c == ':' || static_cast<unsigned char>(c) < ' ' || c == '\x7f';
  };
  return !name.empty() && !name.starts_with('.') &&
         std::none_of(name.begin(), name.end(), is_wrong);
}

Result<CrawlSettings> LoadSettings(io::FileSystem& fs, const JobFolder& folder) {
  const Result<std::string> text = io::ReadFile(fs, folder.Settings());
  if (!text) return text.error();
  return ParseSettings(*text, folder.Settings());
}

Status SaveSettings(io::FileSystem& fs, const JobFolder& folder, const CrawlSettings& settings) {
  if (const Status made = folder.Make(fs); !made) return made;
  return io::ReplaceFile(fs, folder.Settings(), FormatSettings(settings));
}

Result<ResumedSettings> LoadSettingsToRun(io::FileSystem& fs, const std::string& archive,
                                          const archive::Holdings& holdings,
                                          const std::string& job) {
  const JobFolder folder(archive, job);
  Result<CrawlSettings> now = LoadSettings(fs, folder);
  if (!now) return now.error();
  const archive::Run* last = nullptr;
  for (const auto& [number, run] : holdings.runs()) {
    if (JobOf(run) == job) last = &run;
  }
  if (last == nullptr || last->end) return ResumedSettings{*std::move(now), {}};
  const Result<std::string> then = io::ReadFile(fs, folder.RunJob(last->number));
  const Result<std::string> began = io::ReadFile(fs, folder.RunSettings(last->number));
  // It was killed before they were written, or an older program wrote it.
  if (!then || !began) return ResumedSettings{*std::move(now), {}};
  const Result<CrawlSettings> job_then = ParseSettings(*then, folder.RunJob(last->number));
  if (!job_then) return job_then.error();
  const Result<CrawlSettings> settings = ParseSettings(*began, folder.RunSettings(last->number));
  if (!settings) return settings.error();
  return SettingsToGoOnWith(*now, *job_then, *settings);
}

// The note of a run is "JOB: seeds".
std::string_view JobOf(const archive::Run& run) {
  if (run.kind != kRunKind && run.kind != archive::kPatchKind) return "";
  return std::string_view(run.note).substr(0, run.note.find(": "));
}

std::optional<std::uint32_t> PatchedRun(const archive::Run& run) {
  const std::size_t at = run.note.rfind(kPatchNote);
  if (run.kind != archive::kPatchKind || at == std::string::npos) return std::nullopt;
  const std::optional<std::uint64_t> number =
      ParseDecimal(std::string_view(run.note).substr(at + kPatchNote.size()));
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

Status CheckSettings(io::FileSystem& fs, const io::Clock& clock, const CrawlSettings& settings) {
  if (const auto scope = ScopeOptionsOf(settings); !scope) return scope.error();
  if (const auto rules = RulesOf(settings.duplicates); !rules) return rules.error();
  if (const auto addresses = ResolverOptionsOf(settings); !addresses) return addresses.error();
  const Result<Credentials> credentials = LoadCredentials(fs, clock, settings);
  if (!credentials) return credentials.error();
  return KnownDocuments::CheckIndex(fs, settings.duplicates);
}

CrawlJob::CrawlJob(const Environment& environment, const std::string& name,
                   const CrawlSettings& settings)
    : environment_(environment),
      name_(name),
      folder_(environment.archive.layout().directory(), name),
      settings_(settings) {}

CrawlJob::~CrawlJob() = default;

Result<std::unique_ptr<CrawlJob>> CrawlJob::Open(const Environment& environment,
                                                 const std::string& name,
                                                 const CrawlSettings& settings, Purpose purpose) {
  std::unique_ptr<CrawlJob> job(new CrawlJob(environment, name, settings));
  const Status usable = CheckSettings(environment.fs, environment.clock, settings);
  if (!usable) return usable.error();
  Result<std::unique_ptr<KnownDocuments>> known =
      KnownDocuments::Load(environment.fs, settings.duplicates);
  if (!known) return known.error();
  job->known_ = *std::move(known);
  if (const Status made = job->folder_.Make(environment.fs); !made) return made.error();
  if (const Status opened = job->OpenFrontier(); !opened) return opened.error();
  Result<bool> interrupted = job->FindInterrupted();
  if (!interrupted) return interrupted.error();
  job->resumed_ = *interrupted;
  if (*interrupted && purpose == Purpose::kPatch && !job->patched_run_) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("run {} was interrupted; go on with it before you patch it: stele "
                             "crawl",
                             job->run_)};
  }
  if (!*interrupted) {
    if (const Status written = job->WriteMissingReports(); !written) return written.error();
    if (purpose == Purpose::kPatch) {
      if (const Status found = job->FindPatch(); !found) return found.error();
    }
    if (!job->has_work_) return job;
    if (const Status begun = job->BeginRun(); !begun) return begun.error();
  }
  if (const Status made = environment.fs.MakeDirectory(job->folder_.RunFolder(job->run_)); !made) {
    return made.error();
  }
  if (const Status saved = job->SaveRunSettings(); !saved) return saved.error();
  return job;
}

Status CrawlJob::SaveRunSettings() const {
  const Result<CrawlSettings> job = LoadSettings(environment_.fs, folder_);
  const std::string settings = FormatSettings(settings_);
  const Status saved =
      io::ReplaceFile(environment_.fs, folder_.RunJob(run_), job ? FormatSettings(*job) : settings);
  return saved ? io::ReplaceFile(environment_.fs, folder_.RunSettings(run_), settings) : saved;
}

std::optional<std::uint32_t> CrawlJob::LastRun() const {
  const archive::ArchiveView view = environment_.archive.View();
  std::optional<std::uint32_t> last;
  for (const auto& [number, run] : view.holdings().runs()) {
    if (run.end && JobOf(run) == name_) last = number;
  }
  return last;
}

Status CrawlJob::FindPatch() {
  patched_run_ = LastRun();
  if (!patched_run_) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("the job {} has no run yet that could be patched", name_)};
  }
  has_work_ = false;
  const Status visited = VisitGaps([&](const MissingEmbed&) -> Status {
    has_work_ = true;
    return {};
  });
  return visited && !has_work_ ? RemoveTables() : visited;
}

Status CrawlJob::VisitGaps(const std::function<Status(const MissingEmbed& gap)>& visit) const {
  const archive::ArchiveView view = environment_.archive.View();
  const std::string folder = folder_.RunFolder(*patched_run_);
  return VisitMissing(environment_.fs, folder, [&](const MissingEmbed& missing) -> Status {
    const Result<std::optional<std::uint32_t>> found = RunThatHas(view, missing, *patched_run_);
    if (!found) return found.error();
    return *found ? Status() : visit(missing);
  });
}

Status CrawlJob::BeginRun() {
  // What a finished run left behind.
  if (const Status removed = RemoveTables(); !removed) return removed;
  if (const Status opened = OpenFrontier(); !opened) return opened;
  const std::string note = patched_run_
                               ? fmt::format("{}: {}{}", name_, kPatchNote, *patched_run_)
                               : fmt::format("{}: {}", name_, fmt::join(settings_.seeds, " "));
  Result<std::uint32_t> run =
      environment_.archive.BeginRun(patched_run_ ? archive::kPatchKind : kRunKind, note);
  if (!run) return run.error();
  run_ = *run;
  std::string number;
  PutFixed32(number, run_);
  frontier_->SetNote(kRunNote, std::move(number));
  return frontier_->Commit();
}

Status CrawlJob::OpenFrontier() {
  Result<std::unique_ptr<store::BlockTable>> table =
      store::OpenDurableRocksTable(folder_.FrontierFolder());
  if (!table) return table.error();
  table_ = *std::move(table);
  Frontier::Options options;
  options.host_urls_max = settings_.host_urls_max;
  options.query_urls_max = settings_.query_urls_max;
  Result<std::unique_ptr<Frontier>> frontier = Frontier::Open(*table_, options);
  if (!frontier) return frontier.error();
  frontier_ = *std::move(frontier);
  return {};
}

Result<bool> CrawlJob::FindInterrupted() {
  const Result<std::optional<std::string>> note = frontier_->Note(kRunNote);
  if (!note) return note.error();
  if (!*note) return false;
  ByteReader in(**note);
  run_ = in.Fixed32();
  const archive::ArchiveView view = environment_.archive.View();
  const auto& runs = view.holdings().runs();
  const auto run = runs.find(run_);
  if (run == runs.end() || run->second.end || JobOf(run->second) != name_) return false;
  patched_run_ = PatchedRun(run->second);
  return true;
}

Status CrawlJob::RemoveTables() {
  frontier_.reset();
  table_.reset();
  for (const std::string& folder : {folder_.FrontierFolder(), folder_.DigestFolder()}) {
    if (const Status removed = RemoveTable(environment_.fs, folder); !removed) return removed;
  }
  return {};
}

Result<RunLog::Sizes> CrawlJob::LogSizes() {
  const Result<std::optional<std::string>> note = frontier_->Note("logs");
  if (!note) return note.error();
  return RunLog::Sizes::Decode(note->value_or(""));
}

Status CrawlJob::TakePatch(Crawler::Wishes& wishes, CrawlSettings& settings) const {
  const archive::ArchiveView view = environment_.archive.View();
  // Where the seeds were redirected to is in the log of the run that began with them.
  std::uint32_t first = *patched_run_;
  const auto& runs = view.holdings().runs();
  for (auto run = runs.find(first); run != runs.end(); run = runs.find(first)) {
    const std::optional<std::uint32_t> before = PatchedRun(run->second);
    if (!before || *before >= first) break;
    first = *before;
  }
  const Result<CrawlReport> report = ReadCrawlReport(environment_.fs, folder_.RunFolder(first));
  if (!report) return report.error();
  for (const CrawlReport::Seed& seed : report->seeds) {
    if (!seed.redirect.empty()) settings.seeds.push_back(seed.redirect);
  }
  wishes.patches = [this](const Crawler::Wishes::Add& add) {
    return VisitGaps([&](const MissingEmbed& missing) {
      Candidate candidate;
      candidate.url = missing.url;
      candidate.via = missing.page;
      candidate.hops = missing.hops;
      return add(std::move(candidate));
    });
  };
  return {};
}

void CrawlJob::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (crawler_ != nullptr) crawler_->Stop();
}

void CrawlJob::SetCrawler(Crawler* crawler) {
  const std::lock_guard lock(mutex_);
  crawler_ = crawler;
  if (crawler != nullptr && stopped_) crawler->Stop();
}

Result<CrawlEnd> CrawlJob::Crawl(RunLog& log, const Show& show, const ControlOptions* control) {
  archive::ArchiveWriter& archive = environment_.archive;
  Network network;
  if (const Status opened =
          network.Open(settings_, folder_.RunFolder(run_), environment_.fs, environment_.clock);
      !opened) {
    return opened.error();
  }
  Result<ScopeOptions> scope = ScopeOptionsOf(settings_);
  if (!scope) return scope.error();
  Result<Credentials> credentials = LoadCredentials(environment_.fs, environment_.clock, settings_);
  if (!credentials) return credentials.error();
  const auto is_stopped = [this] {
    const std::lock_guard lock(mutex_);
    return stopped_;
  };
  const Status logged_in =
      LogInByForms(settings_, *network.fetcher, environment_.clock, is_stopped, *credentials);
  if (!logged_in) return logged_in.error();
  archive::RunWriter writer(archive, run_, WriterOptions(name_, settings_));
  const Result<KeptCaptures> kept = KeptCaptures::Find(*frontier_, archive.View(), run_);
  if (!kept) return kept.error();
  const Status known =
      known_->Begin(environment_.fs, archive, run_, folder_.DigestFolder(), kept->ids());
  if (!known) return known.error();
  CrawlMonitor monitor(environment_.clock, name_, run_);
  Result<CrawlEnd> end = CrawlEnd();
  CrawlSettings settings = settings_;
  Crawler::Wishes wishes{settings, *std::move(scope), *std::move(credentials)};
  if (patched_run_) {
    if (const Status taken = TakePatch(wishes, settings); !taken) return taken.error();
  }
  {
    Crawler crawler({environment_.clock, *network.fetcher, archive, writer, known_->finder(),
                     *frontier_, log, known_->learner()},
                    std::move(wishes), run_);
    std::unique_ptr<ControlServer> server;
    if (control != nullptr) {
      Result<std::unique_ptr<ControlServer>> opened = ControlServer::Open(
          environment_.fs, environment_.clock, folder_.path(), *control, monitor, crawler);
      if (!opened) return opened.error();
      server = *std::move(opened);
    }
    SetCrawler(&crawler);
    end = crawler.Run([&](const CrawlProgress& progress) {
      monitor.Tell(progress);
      show(monitor.Now());
    });
    SetCrawler(nullptr);
  }
  const Status finished = writer.Finish();
  if (end && !finished) return finished.error();
  return end;
}

Result<CrawlReport> CrawlJob::WriteReportsOf(std::uint32_t run) {
  const std::string folder = folder_.RunFolder(run);
  Result<CrawlReport> report = ReadCrawlReport(environment_.fs, folder);
  if (!report) return report.error();
  const Status dropped = DropCaptured(environment_.archive.View(), run, *report);
  if (!dropped) return dropped.error();
  // The frontier is that of run_.
  if (run == run_) {
    frontier_->VisitHosts(
        [&](const std::string& host, std::uint64_t urls) { report->hosts[host].remaining = urls; });
  }
  const Status told =
      WriteDuplicateReport(environment_.fs, folder, settings_.duplicates, report->duplicates);
  if (!told) return told.error();
  // The last that is written is looked for by WriteMissingReports().
  const Status written = WriteReports(environment_.fs, folder, *report);
  if (!written) return written.error();
  return report;
}

Status CrawlJob::WriteMissingReports() {
  const std::optional<std::uint32_t> last = LastRun();
  if (!last) return {};
  const std::string folder = folder_.RunFolder(*last);
  const Result<bool> has_log = environment_.fs.Exists(RunLog::CrawlLogPath(folder));
  if (!has_log) return has_log.error();
  const Result<bool> has_report = environment_.fs.Exists(folder + "/report.json");
  if (!has_report) return has_report.error();
  if (!*has_log || *has_report) return {};
  const Result<CrawlReport> report = WriteReportsOf(*last);
  return report ? Status() : report.error();
}

Result<CrawlEnd> CrawlJob::Run(const Show& show, const ControlOptions* control) {
  Check(has_work_);
  const Result<RunLog::Sizes> sizes = LogSizes();
  if (!sizes) return sizes.error();
  Result<std::unique_ptr<RunLog>> log =
      RunLog::Open(environment_.fs, folder_.RunFolder(run_), *sizes);
  if (!log) return log.error();
  Result<CrawlEnd> end = Crawl(**log, show, control);
  if (!end || end->why == CrawlEnd::Why::kStopped) return end;
  if (const Status ended = environment_.archive.EndRun(run_); !ended) return ended.error();
  Result<CrawlReport> report = WriteReportsOf(run_);
  if (!report) return report.error();
  report_ = *std::move(report);
  if (const Status removed = RemoveTables(); !removed) return removed.error();
  return end;
}

}  // namespace stele::crawl
