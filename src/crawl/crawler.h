#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "archive/archive_writer.h"
#include "archive/run_writer.h"
#include "crawl/control/controlled.h"
#include "crawl/crawl_end.h"
#include "crawl/crawl_notes.h"
#include "crawl/crawl_settings.h"
#include "crawl/credentials.h"
#include "crawl/frontier.h"
#include "crawl/kept_captures.h"
#include "crawl/moved_rules.h"
#include "crawl/politeness.h"
#include "crawl/reachability.h"
#include "crawl/robots_cache.h"
#include "crawl/run_log.h"
#include "crawl/scope.h"
#include "crawl/seed.h"
#include "crawl/traps.h"
#include "crawl/visit.h"
#include "crawl/visit_work.h"
#include "dedup/duplicate_finder.h"
#include "formats/cookies/cookies.h"
#include "io/clock.h"
#include "net/fetcher.h"
#include "net/worker_pool.h"

namespace stele::crawl {

// Crawls: takes URLs from the frontier when their hosts may be asked, fetches, keeps what comes,
// and puts what it leads to into the frontier. One thread plans; fetching, work on responses and
// writing have their own. A URL is finished in the frontier only after its capture is durable.
class Crawler final : public Controlled {
 public:
  struct Parts {
    const io::Clock& clock;
    net::Fetcher& fetcher;
    archive::ArchiveWriter& archive;
    archive::RunWriter& writer;
    dedup::DuplicateFinder& duplicates;
    Frontier& frontier;
    RunLog& log;
    dedup::ArchiveOriginals* originals = nullptr;  // learns what is kept; null: nobody has to
  };

  // What a person asks for, in the forms that are worked with.
  struct Wishes {
    const CrawlSettings& settings;
    ScopeOptions scope;
    Credentials credentials;
    // Where it fills gaps: gives all that is to be fetched, in place of the seeds, which only say
    // what belongs to the crawl. Links to other pages are left alone then.
    using Add = std::function<Status(Candidate candidate)>;
    std::function<Status(const Add& add)> patches = nullptr;
  };

  // Borrows all parts for life. `run` is the one that is written.
  Crawler(const Parts& parts, Wishes wishes, std::uint32_t run);
  ~Crawler() override;

  // Called a few times a second, by the thread that runs.
  using Show = std::function<void(const CrawlProgress&)>;
  // Goes on with what the frontier has; the seeds are added where they are not there yet. Errors:
  // those of frontier and archive; what was not finished then can be gone on with.
  Result<CrawlEnd> Run(const Show& show);
  // Ends it soon, with everything that is under way finished. From any thread, or a signal handler.
  void Stop() { stopping_ = true; }

  // These wait for the thread that runs; they are refused as soon as it has ended.
  Status Pause() override;
  Status Resume() override;
  Status End() override;
  Result<AddedUrls> AddUrls(const UrlsToAdd& urls) override;
  Status ChangeLimits(const LimitChanges& changes) override;
  Result<std::vector<HostQueue>> LongestQueues(std::size_t max) override;

 private:
  struct Event {
    Stage stage;
    VisitPointer visit;
  };

  // Something that the thread that runs does for another one, which waits.
  struct Order {
    const std::function<Status()>& work;  // its errors end the crawl
    Status result;
    bool done = false;
  };

  // -- Around the loop.
  Result<CrawlEnd> Loop(const Show& show);
  Status Begin();
  Status AddSeeds();
  Status LoadNotes();
  Status LoadLimits();
  Status LoadLearned();
  void SaveLearned();
  // Says in the log what pages need, and which seeds, a limit left.
  Status LogLeft();
  Status Turn();
  void Wait();
  Status CommitIfDue();
  void ForgetHosts(Timestamp now);
  Status Commit();
  bool IsOver() const;
  bool LimitReached();
  bool TimeIsOver() const;
  // Once nothing more may begin, and some go on and on.
  void EndSlowFetches(Timestamp now);
  // Pages that are under way count.
  std::uint64_t PagesLeft() const;
  // With what is under way: what heads announced, and others if they are as large as what came.
  bool BytesAreSpokenFor() const;
  // Counts what a head announces, unless that is too much. From any thread.
  net::HeadVerdict TakeAnnouncement(Visit& visit, const http::ResponseHead& head);
  void EndAnnouncement(Visit& visit);
  // Tells whoever judges heads how many bytes are here.
  void TellBytes();
  // Only pages wait, and none may begin any more.
  bool PagesAreUsedUp() const;
  // Hosts whose turn it is for a page, as many as may begin.
  void WakePages();
  CrawlProgress Progress() const;
  CrawlEnd EndNow() const;

  // -- What others want while it runs.
  Status Have(const std::function<Status()>& work);
  Status TakeOrders(const Show& show);
  // True when none waits; none is taken any more then.
  bool CloseOrders();
  void RefuseOrders();
  Status AddByHand(const std::string& url, bool seed, AddedUrls& added);
  Timestamp Now() const { return parts_.clock.Now(); }

  // -- What is fetched when.
  // For another fetch.
  bool HasRoom() const;
  Status StartReady();
  // False: another host at its address comes first.
  Result<bool> HasTurn(const std::string& host);
  Status StartNext(const std::string& host);
  void StartTaken(Frontier::Taken taken, const url::Url& url);
  // False: its robots.txt is asked for first, or forbids it.
  Result<bool> RobotsAllow(Frontier::Taken& taken, const url::Url& url);
  Status StartRobots(const std::string& origin, const url::Url& at, int redirects,
                     const std::string& via);
  // Ends it without a line in crawl.log: another visit has captured it, or it is in a trap.
  void FinishTaken(Frontier::Taken taken, const url::Url& url);
  void Fetch(const VisitPointer& visit);
  // From any thread.
  void Send(const VisitPointer& visit, net::FetchRequest request);
  // Its addresses need not be public.
  bool IsTrusted(std::string_view host) const;
  // From now on; it may have been given up for its addresses.
  void Trust(std::string_view host);
  Status Schedule(const std::string& host);
  void Unschedule(const std::string& host);
  Status DropDeadHost(const std::string& host);

  // -- What becomes of visits.
  // True: it failed, and seeds of its origin are asked for by https from now on.
  Result<bool> AskByHttps(const Visit& visit);
  // True: the same seed is asked for by the other scheme, or was.
  bool LeavesSeed(Frontier::Taken& taken, const url::Url& url);
  void SettleSeeds();
  Status TakeEvents();
  void Post(Stage stage, const VisitPointer& visit);
  Status OnFetched(const VisitPointer& visit);
  void Work(const VisitPointer& visit);
  void Uncount(Visit& visit);
  Status OnFailed(const VisitPointer& visit);
  // True: its place is given up, now or before.
  bool CountFailure(const Visit& visit);
  Status OnRobotsFailed(const VisitPointer& visit, bool asks_by_https);
  // False: it is no answer to keep, and will be tried again.
  Result<bool> IsAnswer(const VisitPointer& visit);
  Status OnWorked(const VisitPointer& visit);
  Status OnKept(const VisitPointer& visit);
  Status OnNotKept(const VisitPointer& visit);
  // If what they were moved to belongs to the crawl.
  Status AddLinksOfMovedRules(const Visit& visit);
  // What keeps a robots.txt from us.
  static std::string WhyUnknown(const Visit& visit);
  Status OnRobots(const VisitPointer& visit, robots::Access access);
  Status AddSitemaps(const Visit& visit, const robots::Robots& rules);
  void TakeCookies(Visit& visit);
  // Where it was cut off before, it is kept only when more came this time.
  void TakeCutOff(Visit& visit);
  // Why a redirected seed leads to no page: "nowhere", "circle", "too-often"; empty: it may.
  std::string_view FollowSeed(const Visit& visit);
  Status AddLinks(const Visit& visit);
  // `is_from_inside`: the address that led to it is not public.
  Status AddCandidate(Candidate candidate, bool is_from_inside = false);
  // A page whose links were left before its host belonged to the crawl leads on now.
  Status FollowAgain(Candidate candidate);
  // Why it is not queued: "known", or the reason in scope.log. Empty: it is.
  Result<std::string> Consider(const Candidate& candidate);

  // -- Traps, as far as captures tell of them.
  Status LoadTraps();
  void SaveTraps();
  void LearnTraps(const Visit& visit);
  // The reason in scope.log; empty: it is in none.
  std::string_view TrapOf(const Candidate& candidate, const url::Url& url) const;
  // The same of a page that waited, and may have been found before its trap was.
  std::string_view TrapOfWaiting(const Candidate& candidate, const url::Url& url) const;

  // Ends what was not captured, or is retold.
  void Give(const VisitPointer& visit, int status, std::string_view annotation);
  // Ends what an interrupted part of this run has captured, by the stored copy.
  void Retell(const VisitPointer& visit, const KeptCaptures::Kept& kept);
  // Gives what was captured besides a line of its own.
  void LogKept(const Candidate& candidate, const url::Url& url, const KeptCaptures::Kept& kept);
  void GiveTaken(Frontier::Taken taken, const url::Url& url, const Reachability::Failure& failure,
                 std::string_view annotation);

  const Parts parts_;
  CrawlSettings settings_;  // the limits change while it runs
  const std::uint32_t run_;
  const std::string user_agent_;
  const Credentials credentials_;
  const std::function<Status(const Wishes::Add& add)> patches_;
  Scope scope_;
  Politeness politeness_;
  std::size_t hosts_remembered_max_ = 0;  // by politeness, until some are forgotten
  Reachability reachability_;
  RobotsCache robots_;
  MovedRules moved_rules_;
  RepeatedContents same_answers_;  // to ever new arguments
  RepeatedContents same_pages_;    // in one folder
  cookies::CookieJar cookies_;
  VisitWork work_;
  std::unique_ptr<net::WorkerPool> workers_;

  // Hosts that something waits for, by when they may be asked.
  std::set<std::pair<Timestamp, std::string>> ready_;
  std::unordered_map<std::string, Timestamp> ready_at_;
  std::unordered_set<std::string> waiting_for_pages_;  // hosts whose next page may not begin
  std::unordered_set<std::string> robots_pending_;     // hosts
  std::unordered_map<std::string, int> robots_tries_;  // by origin
  std::unordered_map<std::string, std::string> seed_redirects_;  // by keys, from and to
  std::vector<std::string> more_seeds_;  // added, or where seeds were redirected to
  SchemelessSeeds schemeless_;
  std::vector<Frontier::Taken> seeds_by_https_;  // wait for what comes of that
  std::size_t seeds_saved_ = 0;                  // of them, in the frontier
  std::unordered_set<std::string> seed_hosts_;   // that the settings name
  std::set<std::string> more_trusted_;           // added, or private seeds led there
  KeptCaptures kept_;
  CutOffs cut_off_;
  std::vector<VisitPointer> finished_;       // to be committed
  std::unordered_set<std::string> touched_;  // hosts that got new URLs
  std::size_t fetching_ = 0;
  std::size_t working_ = 0;                     // fetched, and not yet finished
  std::unordered_set<std::string> being_kept_;  // keys; their links are known, the archive has not
  std::uint64_t working_bytes_ = 0;
  std::uint64_t pages_under_way_ = 0;       // fetched or worked on
  std::atomic<std::size_t> announced_ = 0;  // fetches whose heads said how long they are
  std::atomic<std::uint64_t> bytes_announced_ = 0;
  std::atomic<std::uint64_t> bytes_here_ = 0;  // kept or worked on
  std::atomic<std::uint64_t> bytes_max_ = 0;   // of the settings; 0: none
  CrawlCounts counts_;
  LastFinished last_finished_;
  std::optional<ChangedLimits> changed_limits_;
  std::unordered_set<std::string> cookie_domains_;  // whose cookies changed
  Timestamp begun_;
  Timestamp committed_at_;
  Timestamp trimmed_at_;
  Timestamp shown_at_;
  std::uint64_t milliseconds_before_ = 0;
  Timestamp turned_at_;
  std::int64_t milliseconds_paused_ = 0;
  std::string limit_;
  Timestamp ending_at_;  // when the end of what is under way was last waited for, or ordered; or 0

  bool paused_ = false;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;  // of the following
  std::condition_variable arrived_;
  std::vector<Event> events_;
  std::vector<Order*> orders_;
  std::condition_variable obeyed_;
  bool takes_orders_ = true;
};

}  // namespace stele::crawl
