// One thread plans. It takes events (fetched, worked on, kept) from a list that the others fill,
// starts what may be started, and now and then commits: what is durable in the archive by then is
// finished in the frontier, and the logs are cut to what the frontier knows.
#include "crawl/crawler.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "crawl/endpoint.h"
#include "util/ascii.h"
#include "util/coding.h"

namespace stele::crawl {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kCommitEvery{100};
constexpr std::size_t kCommitVisits = 2'000;
constexpr milliseconds kShowEvery{200};
// What was freed between things that are in use is given back to the system; malloc would keep it,
// and a crawl of days would seem to grow.
constexpr milliseconds kTrimEvery{60'000};
constexpr milliseconds kWaitMax{100};
// Visits that are worked on or written, for each connection.
constexpr std::size_t kWorkingPerConnection = 4;
// A host that does not answer gives so many URLs back at a time.
constexpr int kDroppedAtOnce = 1'000;
// So many hosts, or twice as many as have to be, are remembered before the others are forgotten.
constexpr std::size_t kHostsRemembered = 1'000;
// By http, where https is still to be tried.
constexpr milliseconds kFirstConnectMax{5'000};
constexpr std::string_view kLimitsNote = "limits";
constexpr std::string_view kTrustedNote = "trusted";
constexpr std::string_view kCutOffNote = "cut-off";
// Before the domains of cookies.
constexpr std::string_view kCookieNotes = "cookies ";

std::int64_t Since(Timestamp earlier, Timestamp now) {
  return now.milliseconds - earlier.milliseconds;
}

// 0 is no limit.
milliseconds TimeOrNone(std::chrono::seconds limit) {
  constexpr std::chrono::hours kYears(100'000);
  return limit.count() > 0 ? limit : kYears;
}

template <typename Texts>
std::string EncodeTexts(const Texts& texts) {
  std::string out;
  for (const std::string& text : texts) PutSized(out, text);
  return out;
}

// Views into `bytes`.
std::vector<std::string_view> DecodeTexts(const std::optional<std::string>& bytes) {
  std::vector<std::string_view> texts;
  if (!bytes) return texts;
  ByteReader in(*bytes);
  while (in.good() && !in.AtEnd()) texts.push_back(in.Sized());
  return texts;
}

}  // namespace

Crawler::Crawler(const Parts& parts, Wishes wishes, std::uint32_t run)
    : parts_(parts),
      settings_(wishes.settings),
      run_(run),
      user_agent_(UserAgentOf(settings_)),
      credentials_(std::move(wishes.credentials)),
      patches_(std::move(wishes.patches)),
      scope_(std::move(wishes.scope)),
      politeness_(settings_.politeness),
      robots_(parts.frontier, ProductTokenOf(user_agent_)),
      moved_rules_(parts.frontier),
      same_answers_(PathWithArguments, settings_.same_answers_max),
      same_pages_(FirstFolder, settings_.same_pages_max),
      work_({parts.archive, parts.writer, parts.duplicates, parts.originals}, settings_.duplicates,
            ProductTokenOf(user_agent_), settings_.favicons,
            [this](Stage stage, const VisitPointer& visit) { Post(stage, visit); }),
      workers_(std::make_unique<net::WorkerPool>(std::max<std::size_t>(1, settings_.workers))) {
  for (const cookies::Cookie& cookie : credentials_.cookies()) cookies_.Set(cookie, Now());
}

Crawler::~Crawler() {
  // Nobody may call back any more, and nobody may ask for more.
  workers_->Stop();
  parts_.fetcher.Stop();
  static_cast<void>(parts_.writer.Flush());
}

Result<CrawlEnd> Crawler::Run(const Show& show) {
  Result<CrawlEnd> end = Loop(show);
  RefuseOrders();
  return end;
}

Result<CrawlEnd> Crawler::Loop(const Show& show) {
  if (const Status begun = Begin(); !begun) return begun.error();
  for (;;) {
    if (IsOver()) {
      // What is to be fetched once more waits again after that.
      if (const Status committed = Commit(); !committed) return committed.error();
      if (IsOver() && CloseOrders()) break;
    }
    if (const Status taken = TakeOrders(show); !taken) return taken.error();
    if (const Status turned = Turn(); !turned) return turned.error();
    const Timestamp now = Now();
    if (Since(shown_at_, now) >= kShowEvery.count()) {
      shown_at_ = now;
      show(Progress());
    }
    EndSlowFetches(now);
    if (!IsOver()) Wait();
  }
  const CrawlEnd end = EndNow();
  if (end.why == CrawlEnd::Why::kLimit) {
    if (const Status logged = LogLeft(); !logged) return logged.error();
  }
  show(end.progress);
  return end;
}

CrawlEnd Crawler::EndNow() const {
  CrawlEnd end;
  end.progress = Progress();
  end.progress.state = CrawlState::kDone;
  end.limit = limit_;
  if (parts_.frontier.unfinished() == 0) return end;
  end.why = limit_.empty() ? CrawlEnd::Why::kStopped : CrawlEnd::Why::kLimit;
  end.progress.state = limit_.empty() ? CrawlState::kStopped : CrawlState::kLimit;
  return end;
}

Status Crawler::Begin() {
  begun_ = committed_at_ = trimmed_at_ = shown_at_ = turned_at_ = Now();
  if (const Status loaded = LoadNotes(); !loaded) return loaded;
  Result<KeptCaptures> kept = KeptCaptures::Find(parts_.frontier, parts_.archive.View(), run_);
  if (!kept) return kept.error();
  kept_ = *std::move(kept);
  if (const Status added = AddSeeds(); !added) return added;
  std::vector<std::string> hosts;
  parts_.frontier.VisitHosts(
      [&](const std::string& host, std::uint64_t) { hosts.push_back(host); });
  for (const std::string& host : hosts) {
    if (const Status scheduled = Schedule(host); !scheduled) return scheduled;
  }
  return {};
}

Status Crawler::LoadNotes() {
  Result<std::optional<std::string>> counts = parts_.frontier.Note("counts");
  if (!counts) return counts.error();
  if (*counts) counts_ = DecodeCounts(**counts);
  milliseconds_before_ = counts_.milliseconds;
  Result<std::optional<std::string>> seeds = parts_.frontier.Note("seeds");
  if (!seeds) return seeds.error();
  for (const std::string_view seed : DecodeTexts(*seeds)) more_seeds_.emplace_back(seed);
  seeds_saved_ = more_seeds_.size();
  const Result<std::optional<std::string>> trusted = parts_.frontier.Note(kTrustedNote);
  if (!trusted) return trusted.error();
  for (const std::string_view host : DecodeTexts(*trusted)) more_trusted_.emplace(host);
  const Result<std::optional<std::string>> cut_off = parts_.frontier.Note(kCutOffNote);
  if (!cut_off) return cut_off.error();
  if (*cut_off) cut_off_ = CutOffs::Decode(**cut_off);
  Result<std::optional<std::string>> last = parts_.frontier.Note(LastFinished::kNote);
  if (!last) return last.error();
  if (*last) last_finished_ = LastFinished::Decode(**last);
  if (const Status limits = LoadLimits(); !limits) return limits;
  TellBytes();
  return LoadLearned();
}

// What a person changed before an interruption.
Status Crawler::LoadLimits() {
  const Result<std::optional<std::string>> note = parts_.frontier.Note(kLimitsNote);
  if (!note) return note.error();
  if (*note) changed_limits_ = ChangedLimits::Decode(**note);
  if (!changed_limits_) return {};
  const CrawlLimits settings = LimitsOf(settings_);
  const CrawlLimits limits = changed_limits_->Over(settings);
  changed_limits_ = ChangedLimits{settings, limits};
  SetLimits(limits, settings_);
  if (limits.delay != settings.delay) politeness_.SetDelay(limits.delay, Now());
  return {};
}

// Cookies that servers set, and traps.
Status Crawler::LoadLearned() {
  const Status cookies = parts_.frontier.VisitNotes(kCookieNotes, [&](auto, auto value) {
    for (const cookies::Cookie& cookie : DecodeCookies(value)) cookies_.Set(cookie, Now());
  });
  if (!cookies) return cookies;
  return LoadTraps();
}

void Crawler::SaveLearned() {
  for (const std::string& domain : std::exchange(cookie_domains_, {})) {
    std::vector<cookies::Cookie> cookies = cookies_.Of(domain);
    // What a person gave is stored nowhere.
    std::erase_if(cookies, [&](const cookies::Cookie& cookie) {
      return std::any_of(credentials_.cookies().begin(), credentials_.cookies().end(),
                         [&](const auto& given) { return given.value == cookie.value; });
    });
    parts_.frontier.SetNote(std::string(kCookieNotes) + domain, EncodeCookies(cookies));
  }
  SaveTraps();
}

Status Crawler::LogLeft() {
  const Timestamp now = Now();
  const Status visited = parts_.frontier.VisitWaiting([&](const Candidate& candidate) {
    const bool is_named =
        !candidate.is_page() || candidate.seed || parts_.log.HasEmbed(candidate.url);
    if (is_named) parts_.log.AddRejected(candidate, "limit " + limit_, now);
  });
  return visited ? Commit() : visited;
}

Status Crawler::Turn() {
  if (const Status taken = TakeEvents(); !taken) return taken;
  if (const Status started = StartReady(); !started) return started;
  SettleSeeds();
  if (limit_.empty() && PagesAreUsedUp()) limit_ = "pages";
  return CommitIfDue();
}

void Crawler::Wait() {
  std::int64_t wait = kWaitMax.count();
  if (HasRoom() && limit_.empty() && !ready_.empty()) {
    wait = std::clamp<std::int64_t>(-Since(ready_.begin()->first, Now()), 0, wait);
  }
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, milliseconds(wait), [&] { return !events_.empty() || !orders_.empty(); });
}

bool Crawler::IsOver() const {
  if (fetching_ > 0 || working_ > 0) return false;
  if (stopping_ || !limit_.empty()) return true;
  // Another node may still come to something for this one.
  const bool may_get_more = !settings_.share.is_all() && !patches_;
  return !paused_ && !may_get_more && parts_.frontier.waiting() == 0;
}

bool Crawler::LimitReached() {
  if (!limit_.empty()) return true;
  const auto reached = [](std::uint64_t value, std::uint64_t max) {
    return max > 0 && value >= max;
  };
  if (reached(counts_.bytes + working_bytes_, settings_.bytes_max)) limit_ = "bytes";
  if (TimeIsOver()) limit_ = "time";
  return !limit_.empty();
}

CrawlProgress Crawler::Progress() const {
  CrawlProgress progress;
  progress.counts = counts_;
  progress.waiting = parts_.frontier.waiting();
  progress.hosts = parts_.frontier.hosts_waiting();
  progress.under_way = fetching_;
  if (paused_) progress.state = CrawlState::kPaused;
  if (stopping_) progress.state = CrawlState::kStopping;
  progress.limits = LimitsOf(settings_);
  progress.limit = limit_;
  return progress;
}

Status Crawler::CommitIfDue() {
  const Timestamp now = Now();
  if (paused_) milliseconds_paused_ += Since(turned_at_, now);
  turned_at_ = now;
  counts_.milliseconds = milliseconds_before_ + static_cast<std::uint64_t>(std::max<std::int64_t>(
                                                    0, Since(begun_, now) - milliseconds_paused_));
  if (finished_.size() < kCommitVisits && Since(committed_at_, now) < kCommitEvery.count())
    return {};
  committed_at_ = now;
  if (Since(trimmed_at_, now) >= kTrimEvery.count()) {
    trimmed_at_ = now;
    ::malloc_trim(0);
  }
  ForgetHosts(now);
  return Commit();
}

void Crawler::ForgetHosts(Timestamp now) {
  if (politeness_.hosts() < hosts_remembered_max_) return;
  politeness_.Forget(now, [&](const std::string& host) { return parts_.frontier.HasRows(host); });
  hosts_remembered_max_ = std::max(kHostsRemembered, 2 * politeness_.hosts());
}

Status Crawler::Commit() {
  const Timestamp now = Now();
  for (const VisitPointer& visit : finished_) {
    if (visit->capture) last_finished_.Add(*visit->capture);
    if (!visit->line.uri.empty()) {
      const Decision decision = scope_.Decide(visit->candidate, visit->url, YearOf(now));
      if (decision.accepted && visit->robots_origin.empty()) Explain(decision.reason, visit->line);
      parts_.log.Add(std::move(visit->line), now);
    }
    if (visit->kept) {
      last_finished_.Add(visit->kept->id);
      kept_.Finish(visit->candidate.url, visit->kept->id);
    }
    if (!visit->robots_note.empty()) {
      robots_.Keep(visit->robots_origin, std::move(visit->robots_note));
    }
    const bool is_captured = visit->capture || visit->kept;
    if (visit->robots_redirects > 0 && is_captured) moved_rules_.Finish(visit->url);
    if (!visit->taken) continue;
    if (visit->again) {
      parts_.frontier.Retry(*visit->taken);
      if (const Status scheduled = Schedule(visit->taken->host); !scheduled) return scheduled;
    } else {
      parts_.frontier.Finish(*visit->taken);
    }
  }
  finished_.clear();
  if (const Status flushed = parts_.log.Flush(); !flushed) return flushed;
  parts_.frontier.SetNote("logs", parts_.log.sizes().Encode());
  parts_.frontier.SetNote("counts", EncodeCounts(counts_));
  if (!last_finished_.empty())
    parts_.frontier.SetNote(LastFinished::kNote, last_finished_.Encode());
  if (changed_limits_) parts_.frontier.SetNote(kLimitsNote, changed_limits_->Encode());
  SaveLearned();
  if (std::exchange(seeds_saved_, more_seeds_.size()) != more_seeds_.size()) {
    parts_.frontier.SetNote("seeds", EncodeTexts(more_seeds_));
    parts_.frontier.SetNote(kTrustedNote, EncodeTexts(more_trusted_));
  }
  kept_.Save(parts_.frontier);
  parts_.frontier.SetNote(kCutOffNote, cut_off_.Encode());
  return parts_.frontier.Commit();
}

// ---- What is fetched when.

void Crawler::Unschedule(const std::string& host) {
  const auto found = ready_at_.find(host);
  if (found == ready_at_.end()) return;
  ready_.erase({found->second, host});
  ready_at_.erase(found);
}

Status Crawler::Schedule(const std::string& host) {
  Unschedule(host);
  if (robots_pending_.contains(host)) return {};
  const Result<std::optional<bool>> is_page = parts_.frontier.FirstIsPage(host);
  if (!is_page) return is_page.error();
  if (!*is_page) return {};
  const Politeness::Kind kind = **is_page ? Politeness::Kind::kPage : Politeness::Kind::kEmbed;
  const bool dead = reachability_.WhyPlace(host) != nullptr;
  waiting_for_pages_.erase(host);
  if (**is_page && PagesLeft() == 0 && !dead) {
    waiting_for_pages_.insert(host);
    return {};
  }
  if (!dead && !politeness_.HasRoom(host, kind)) return {};
  const Timestamp at = dead ? Timestamp{} : politeness_.ReadyAt(host, kind);
  ready_.emplace(at, host);
  ready_at_.emplace(host, at);
  return {};
}

bool Crawler::HasRoom() const {
  return !stopping_ && !paused_ && fetching_ < settings_.connections &&
         working_ < kWorkingPerConnection * settings_.connections && !BytesAreSpokenFor();
}

Status Crawler::StartReady() {
  // What is given back without being asked for is committed now and then, too.
  while (HasRoom() && !LimitReached() && !ready_.empty() && ready_.begin()->first <= Now() &&
         finished_.size() < kCommitVisits) {
    const std::string host = ready_.begin()->second;
    Unschedule(host);
    const Result<bool> has_turn = HasTurn(host);
    if (!has_turn) return has_turn.error();
    if (*has_turn) {
      if (const Status started = StartNext(host); !started) return started;
    }
    if (const Status scheduled = Schedule(host); !scheduled) return scheduled;
  }
  return {};
}

Result<bool> Crawler::HasTurn(const std::string& host) {
  if (reachability_.WhyPlace(host) != nullptr) return true;
  const Result<std::optional<bool>> is_page = parts_.frontier.FirstIsPage(host);
  if (!is_page) return is_page.error();
  if (is_page->value_or(false) && PagesLeft() == 0) return false;
  const Politeness::Kind kind =
      is_page->value_or(true) ? Politeness::Kind::kPage : Politeness::Kind::kEmbed;
  const Timestamp now = Now();
  return politeness_.TakeTurn(host, kind, now) <= now;
}

Status Crawler::DropDeadHost(const std::string& host) {
  const Reachability::Failure failure = *reachability_.WhyPlace(host);
  for (int i = 0; i < kDroppedAtOnce; ++i) {
    Result<std::optional<Frontier::Taken>> taken = parts_.frontier.Take(host);
    if (!taken) return taken.error();
    if (!*taken) return {};
    Result<url::Url> url = url::Parse((*taken)->candidate.url);
    if (!url) return url.error();
    GiveTaken(**std::move(taken), *url, failure, kGivenUpAnnotation);
  }
  return {};
}

Status Crawler::StartNext(const std::string& host) {
  if (reachability_.WhyPlace(host) != nullptr) return DropDeadHost(host);
  Result<std::optional<Frontier::Taken>> taken = parts_.frontier.Take(host);
  if (!taken) return taken.error();
  if (!*taken) return {};
  Result<url::Url> url = url::Parse((*taken)->candidate.url);
  if (!url) return url.error();
  if (LeavesSeed(**taken, *url)) return {};
  if (const Reachability::Failure* failure = reachability_.Why(*url)) {
    GiveTaken(**std::move(taken), *url, *failure, kGivenUpAnnotation);
    return {};
  }
  if (const std::string_view trap = TrapOfWaiting((*taken)->candidate, *url); !trap.empty()) {
    parts_.log.AddRejected((*taken)->candidate, trap, Now());
    FinishTaken(**std::move(taken), *url);
    return {};
  }
  const Result<bool> allowed = RobotsAllow(**taken, *url);
  if (!allowed) return allowed.error();
  if (*allowed) StartTaken(**std::move(taken), *url);
  return {};
}

void Crawler::StartTaken(Frontier::Taken taken, const url::Url& url) {
  const VisitPointer visit = std::make_shared<Visit>(url);
  visit->candidate = taken.candidate;
  // Who only looks for links leaves it to who has captured it.
  if (!taken.candidate.links_only) visit->kept = kept_.Of(taken.candidate.url);
  for (const KeptCaptures::Kept& earlier : kept_.TakeEarlier(taken.candidate.url)) {
    LogKept(taken.candidate, url, earlier);
  }
  visit->kind = taken.candidate.is_page() ? Politeness::Kind::kPage : Politeness::Kind::kEmbed;
  visit->is_surplus = taken.candidate.links_only;
  visit->taken = std::move(taken);
  visit->is_counted_page = visit->candidate.is_page();
  if (visit->is_counted_page) ++pages_under_way_;
  // How a revisit came about that headers decided on, the archive does not say in full.
  const bool can_be_retold = visit->kept && !visit->kept->is_cut &&
                             !work_.header_filter().is_on() &&
                             HasItsPayload(parts_.archive.View(), visit->kept->id);
  if (can_be_retold) return Retell(visit, *visit->kept);
  Fetch(visit);
}

void Crawler::FinishTaken(Frontier::Taken taken, const url::Url& url) {
  const VisitPointer visit = std::make_shared<Visit>(url);
  visit->candidate = taken.candidate;
  visit->taken = std::move(taken);
  finished_.push_back(visit);
}

bool Crawler::IsTrusted(std::string_view host) const {
  const std::string name(host);
  if (seed_hosts_.contains(name) || more_trusted_.contains(name)) return true;
  return std::any_of(settings_.resolve.begin(), settings_.resolve.end(),
                     [&](const auto& entry) { return EqualsIgnoreCase(entry.first, host); });
}

void Crawler::Trust(std::string_view host) {
  more_trusted_.emplace(host);
  reachability_.Forgive(std::string(host), net::HeritrixStatus(net::FetchFailure::kPrivate));
}

void Crawler::Fetch(const VisitPointer& visit) {
  const url::Url& url = visit->url;
  net::FetchRequest request;
  request.endpoint = EndpointOf(url);
  request.target = url.path_and_query();
  request.fields = {{"Host", std::string(url.host_and_port())},
                    {"User-Agent", user_agent_},
                    {"Accept", "*/*"},
                    {"Accept-Encoding", "gzip"}};
  const bool leaves_tls = visit->candidate.via.starts_with("https:") && !request.endpoint.tls;
  if (!visit->candidate.via.empty() && !leaves_tls) {
    request.fields.push_back({"Referer", visit->candidate.via});
  }
  const cookies::Site site{url.host(), url.path(), request.endpoint.tls};
  if (std::string cookie = cookies_.HeaderFor(site, Now()); !cookie.empty()) {
    request.fields.push_back({"Cookie", std::move(cookie)});
  }
  if (std::string login = credentials_.AuthorizationFor(url); !login.empty()) {
    request.fields.push_back({"Authorization", std::move(login)});
  }
  visit->has_secrets = credentials_.GoesTo(url, Now());
  request.private_addresses = IsTrusted(url.host());
  request.proxy = settings_.proxy;
  if (request.proxy) {
    request.proxy->authorization =
        credentials_.AuthorizationForProxy(request.proxy->host, request.proxy->port);
  }
  if (settings_.file_bytes_max > 0) request.limits.body_size_max = settings_.file_bytes_max;
  request.limits.rate_max = settings_.rate_max;
  request.limits.total_time_max = TimeOrNone(settings_.file_time_max);
  request.limits.idle_time_max = request.limits.connect_time_max =
      TimeOrNone(settings_.idle_time_max);
  if (schemeless_.IsUntried(url.origin())) {
    request.limits.connect_time_max = std::min(request.limits.connect_time_max, kFirstConnectMax);
  }
  politeness_.Begin(visit->host(), visit->kind);
  visit->asked = Now();
  ++fetching_;
  const bool is_first = visit->taken && visit->candidate.tries == 0;
  if (!is_first || !work_.header_filter().is_on()) return Send(visit, std::move(request));
  workers_->Run([this, visit, request = std::move(request)]() mutable {
    const Status arranged = work_.header_filter().Arrange(visit, request);
    if (arranged) return Send(visit, std::move(request));
    visit->appended = arranged;
    visit->result.failure = net::FetchFailure::kLocal;
    Post(Stage::kFetched, visit);
  });
}

void Crawler::Send(const VisitPointer& visit, net::FetchRequest request) {
  if (visit->taken) {
    request.on_head = [this, visit,
                       judge = std::move(request.on_head)](const http::ResponseHead& head) {
      const bool is_wanted = !judge || judge(head) == net::HeadVerdict::kGoOn;
      return is_wanted ? TakeAnnouncement(*visit, head) : net::HeadVerdict::kAbort;
    };
  }
  parts_.fetcher.Fetch(std::move(request), [this, visit](net::FetchResult result) {
    visit->result = std::move(result);
    Post(Stage::kFetched, visit);
  });
}

}  // namespace stele::crawl
