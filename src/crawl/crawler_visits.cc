// What becomes of a visit when its fetch is over.
#include <fmt/format.h>

#include <algorithm>

#include "crawl/crawl_report.h"
#include "crawl/crawler.h"
#include "crawl/missing_embeds.h"
#include "crawl/redirect_status.h"
#include "formats/http/message.h"

namespace stele::crawl {
namespace {

using std::chrono::milliseconds;

// Why a URL that was added before is not queued.
constexpr std::string_view kKnown = "known";
// Answers that ask for patience are asked again so often.
constexpr std::uint32_t kPatientTries = 5;
// So many time-outs and lost connections in a row, and a place is given up: one that never
// answered, and one that did, where it may be some of its pages that hang.
constexpr int kLostInARowMax = 10;
constexpr int kLostOfAnsweringMax = 100;
// So are those that ask for patience so often in a row: the ten pauses between are an hour and a
// half, or more where they asked for more.
constexpr int kPatientPausesMax = 11;
// Of a place that answered before and cannot be reached any more: with pauses that double from five
// seconds on, it has forty minutes to come back.
constexpr int kOutageTries = 10;
constexpr std::size_t kRedirectsMax = 20;
// So many that are worked on or written, and there is no time to make them small.
constexpr std::size_t kHurriedPerWorker = 16;

bool AsksForPatience(int status) { return status == 429 || status == 503; }

// What stands before the server did not reach it.
bool IsOfGateway(int status) { return status == 502 || status == 504; }

void Annotate(crawl_log::Line& line, std::string_view word) {
  if (!line.annotations.empty()) line.annotations += ',';
  line.annotations += word;
}

// It is the name that is wrong, whatever the port.
bool IsOfHost(net::FetchFailure failure) {
  return failure == net::FetchFailure::kNoAddress || failure == net::FetchFailure::kPrivate;
}

// It failed because its place cannot be reached, which answered before.
bool IsOutage(const Visit& visit, const Reachability& reachability) {
  const net::FetchFailure failure = visit.result.failure;
  if (!net::MayPass(failure)) return false;
  if (IsOfHost(failure)) return reachability.HasAnswered(visit.host());
  return failure == net::FetchFailure::kConnect && reachability.HasAnswered(visit.url.origin());
}

std::size_t RedirectsAtEnd(std::string_view hops) {
  const std::size_t last = hops.find_last_not_of('R');
  return last == std::string_view::npos ? hops.size() : hops.size() - last - 1;
}

std::string_view Header(const net::FetchResult& result, const Result<http::ResponseHead>& head,
                        std::string_view name) {
  if (!head || result.head.empty()) return {};
  return head->headers.Find(name).value_or("");
}

// A server that wants its cookie back before it answers.
bool ComesBackForACookie(const Visit& visit) {
  if (!IsRedirect(visit.result.status) || visit.candidate.tries > 0) return false;
  const Result<http::ResponseHead> head = http::ParseResponseHead(visit.result.head);
  if (!head || !head->headers.Find("Set-Cookie")) return false;
  const Result<url::Url> target = url::Parse(Header(visit.result, head, "Location"), &visit.url);
  return target && target->href_without_fragment() == visit.url.href_without_fragment();
}

// A cookie that a person gave.
bool Repeats(const cookies::Cookie& cookie, const Credentials& credentials) {
  return std::any_of(credentials.cookies().begin(), credentials.cookies().end(),
                     [&](const cookies::Cookie& given) {
                       return given.name == cookie.name && given.value == cookie.value;
                     });
}

}  // namespace

void Crawler::Post(Stage stage, const VisitPointer& visit) {
  const std::lock_guard lock(mutex_);
  events_.push_back({stage, visit});
  arrived_.notify_one();
}

Status Crawler::TakeEvents() {
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    events.swap(events_);
  }
  for (const Event& event : events) {
    Status handled;
    switch (event.stage) {
      case Stage::kFetched:
        handled = OnFetched(event.visit);
        break;
      case Stage::kWorked:
        handled = OnWorked(event.visit);
        break;
      case Stage::kKept:
        handled = OnKept(event.visit);
        break;
      case Stage::kToWorkOn:
        --working_;
        Work(event.visit);
        break;
    }
    if (!handled) return handled;
  }
  WakePages();
  for (const std::string& host : std::exchange(touched_, {})) {
    if (const Status scheduled = Schedule(host); !scheduled) return scheduled;
  }
  return {};
}

Status Crawler::OnFetched(const VisitPointer& visit) {
  --fetching_;
  const Timestamp now = Now();
  const net::FetchResult& result = visit->result;
  const std::string host = visit->host();
  // Waiting for a connection that did not come was no work for the host.
  const bool is_unheard = result.failure != net::FetchFailure::kNone && !result.reused &&
                          !result.timings.connected.has_value();
  const milliseconds took =
      is_unheard ? milliseconds(0) : std::chrono::duration_cast<milliseconds>(result.timings.done);
  politeness_.End(host, visit->kind, result.address ? result.address->ToText() : "", took, now);
  touched_.insert(host);
  if (visit->taken) touched_.insert(visit->taken->host);
  if (!visit->appended) return visit->appended;
  if (result.failure != net::FetchFailure::kNone) {
    Uncount(*visit);
    return OnFailed(visit);
  }
  reachability_.Answered(visit->url);
  if (visit->is_over_limit) {
    Uncount(*visit);
    parts_.frontier.Return(std::move(*visit->taken));
    return {};
  }
  const Result<bool> is_answer = IsAnswer(visit);
  if (!is_answer) return is_answer.error();
  if (!*is_answer) {
    Uncount(*visit);
    return {};
  }
  if (!AsksForPatience(result.status)) politeness_.Recover(host);
  if (visit->robots_redirects > 0) {
    const Result<bool> begun = moved_rules_.Begin(visit->candidate.url);
    if (!begun) return begun.error();
    visit->is_surplus = !*begun;
    if (visit->is_surplus) visit->kept.reset();
  }
  TakeCookies(*visit);
  TakeCutOff(*visit);
  if (!visit->is_surplus) visit->bytes_counted = result.payload_length;
  working_bytes_ += visit->bytes_counted;
  TellBytes();
  EndAnnouncement(*visit);
  Work(visit);
  return {};
}

void Crawler::Work(const VisitPointer& visit) {
  visit->hurried = ++working_ > kHurriedPerWorker * settings_.workers;
  workers_->Run([this, visit] { work_.Do(visit); });
}

void Crawler::Uncount(Visit& visit) {
  if (std::exchange(visit.is_counted_page, false)) --pages_under_way_;
  working_bytes_ -= std::exchange(visit.bytes_counted, 0);
  EndAnnouncement(visit);
}

Status Crawler::OnFailed(const VisitPointer& visit) {
  const net::FetchFailure failure = visit->result.failure;
  const std::string host = visit->host();
  const int status = net::HeritrixStatus(failure);
  if (failure == net::FetchFailure::kCancelled) {
    if (visit->taken) parts_.frontier.Return(std::move(*visit->taken));
    if (!visit->taken) robots_pending_.erase(host);
    return {};
  }
  const Result<bool> asks = AskByHttps(*visit);
  if (!asks) return asks.error();
  if (!visit->taken) return OnRobotsFailed(visit, *asks);
  if (LeavesSeed(*visit->taken, visit->url)) return {};
  const bool is_given_up = CountFailure(*visit);
  if (!is_given_up && settings_.tries_max > 1 && IsOutage(*visit, reachability_)) {
    parts_.frontier.Retry(*visit->taken, Frontier::Why::kPatience);
    return {};
  }
  const bool may_pass = net::MayPass(failure);
  if (may_pass && !is_given_up && visit->candidate.tries + 1 < settings_.tries_max) {
    parts_.frontier.Retry(*visit->taken);
    return {};
  }
  Give(visit, status, is_given_up ? kGivenUpAnnotation : "");
  return {};
}

bool Crawler::CountFailure(const Visit& visit) {
  if (reachability_.Why(visit.url) != nullptr) return true;
  const net::FetchFailure failure = visit.result.failure;
  const std::string place = IsOfHost(failure) ? visit.host() : visit.url.origin();
  bool is_over = false;
  if (IsOfHost(failure) || failure == net::FetchFailure::kConnect || !visit.taken) {
    const int in_a_row = reachability_.CountRefused(place, visit.asked, Now());
    const auto tries = static_cast<int>(settings_.tries_max);
    const bool is_patient = tries > 1 && IsOutage(visit, reachability_);
    is_over = !net::MayPass(failure) || in_a_row >= (is_patient ? kOutageTries : tries);
    if (!is_over) politeness_.BackOff(visit.host(), std::nullopt, visit.asked, Now());
  } else {
    const bool has_answered = reachability_.HasAnswered(place);
    const int max = has_answered ? kLostOfAnsweringMax : kLostInARowMax;
    is_over = reachability_.CountLost(place) >= max;
  }
  if (is_over) {
    reachability_.GiveUp(place, {net::HeritrixStatus(failure), visit.result.error});
  }
  return is_over;
}

// Whoever waits for the rules asks once more, is told by the place that is given up, or, where it
// is another place that they were moved to, may fetch nothing (RFC 9309). Where there are rules
// that have expired, pages tell whether the place answers.
Status Crawler::OnRobotsFailed(const VisitPointer& visit, bool asks_by_https) {
  const std::string& origin = visit->robots_origin;
  const Result<bool> has_old = robots_.Prolong(origin, Now());
  if (!has_old) return has_old.error();
  const bool is_given_up = !*has_old && !asks_by_https && CountFailure(*visit);
  const url::Url whose = *url::Parse(origin);
  robots_pending_.erase(std::string(whose.host()));
  touched_.emplace(whose.host());
  // What leads elsewhere has answered, and ends no streak of the place that does not.
  const std::uint32_t max = visit->robots_redirects > 0 ? settings_.tries_max : kPatientTries;
  const bool is_over = *has_old || ++robots_tries_[origin] >= static_cast<int>(max);
  if (!is_given_up && !is_over) return {};
  if (const auto kept = std::exchange(visit->kept, std::nullopt)) {
    LogKept(visit->candidate, visit->url, *kept);
  } else {
    visit->line = LogLineOf(*visit, net::HeritrixStatus(visit->result.failure));
    if (is_given_up) Annotate(visit->line, kGivenUpAnnotation);
  }
  if (*has_old || reachability_.Why(whose) == nullptr) robots_tries_.erase(origin);
  if (!*has_old && reachability_.Why(whose) == nullptr) {
    visit->robots_note =
        robots_.Set(origin, robots::Access::kDisallowAll, WhyUnknown(*visit), Now());
  }
  finished_.push_back(visit);
  return {};
}

Result<bool> Crawler::IsAnswer(const VisitPointer& visit) {
  const net::FetchResult& result = visit->result;
  const bool has_tries = visit->taken && visit->candidate.tries + 1 < settings_.tries_max;
  if (IsOfGateway(result.status) && has_tries) {
    parts_.frontier.Retry(*visit->taken);
    return false;
  }
  if (!AsksForPatience(result.status)) return true;
  const Result<http::ResponseHead> head = http::ParseResponseHead(result.head);
  const std::string_view wait = Header(result, head, "Retry-After");
  const int pauses = politeness_.pauses(visit->host());
  politeness_.BackOff(visit->host(), ParseRetryAfter(wait, Now()), visit->asked, Now());
  if (politeness_.pauses(visit->host()) >= kPatientPausesMax) {
    reachability_.GiveUp(visit->url.origin(),
                         {net::HeritrixStatus(net::FetchFailure::kTimeout),
                          fmt::format("{} asked for patience {} times in a row ({})",
                                      visit->url.origin(), kPatientPausesMax, result.status)});
    return true;
  }
  // It was under way when the pause began, which says nothing of this URL: it keeps its place.
  if (visit->taken && politeness_.pauses(visit->host()) == pauses) {
    parts_.frontier.Return(std::move(*visit->taken));
    return false;
  }
  const std::uint32_t tries =
      visit->taken ? visit->candidate.waits
                   : static_cast<std::uint32_t>(robots_tries_[visit->robots_origin]++);
  if (tries + 1 >= kPatientTries) return true;
  if (visit->taken) {
    parts_.frontier.Retry(*visit->taken, Frontier::Why::kPatience);
  } else {
    const url::Url origin = *url::Parse(visit->robots_origin);
    robots_pending_.erase(std::string(origin.host()));
    touched_.emplace(origin.host());
  }
  return false;
}

void Crawler::TakeCutOff(Visit& visit) {
  const std::optional<std::uint64_t> bytes = cut_off_.Take(visit.candidate.url);
  const bool is_whole = visit.result.truncation == net::Truncation::kNone;
  if (bytes && !is_whole && !visit.kept && visit.result.response.size() <= *bytes) {
    visit.is_surplus = true;
  }
  if (!visit.kept || !visit.kept->is_cut || !is_whole) return;
  LogKept(visit.candidate, visit.url, *visit.kept);
  visit.kept.reset();
}

void Crawler::TakeCookies(Visit& visit) {
  const Result<http::ResponseHead> head = http::ParseResponseHead(visit.result.head);
  if (!head) return;
  const cookies::Site site{visit.url.host(), visit.url.path(), visit.url.scheme() == "https"};
  for (const std::string_view value : head->headers.FindAll("Set-Cookie")) {
    std::optional<cookies::Cookie> cookie = cookies::ParseSetCookie(value, site, Now());
    if (!cookie) continue;
    visit.repeats_secret = visit.repeats_secret || Repeats(*cookie, credentials_);
    cookie_domains_.insert(cookie->domain);
    cookies_.Set(*std::move(cookie), Now());
  }
}

Status Crawler::OnWorked(const VisitPointer& visit) {
  if (visit->is_line_only) return {};
  if (visit->is_retold) {
    TakeCookies(*visit);
    if (visit->repeats_secret) Annotate(visit->line, kRepeatsSecret);
  }
  if (!visit->robots_origin.empty()) {
    const robots::Access access = robots::AccessFor(visit->result.status, visit->robots_redirects);
    const bool is_whole = access != robots::Access::kParse || !visit->is_cut();
    if (visit->robots_redirects > 0 && access != robots::Access::kFollow && !visit->is_surplus) {
      if (const Status added = AddLinksOfMovedRules(*visit); !added) return added;
    }
    return OnRobots(visit, is_whole ? access : robots::Access::kDisallowAll);
  }
  const bool may_be_whole = visit->is_cut() && !visit->is_retold && visit->candidate.tries == 0 &&
                            settings_.tries_max > 1;
  if (may_be_whole) cut_off_.Add(visit->candidate.url, visit->result.response.size());
  visit->again = may_be_whole || ComesBackForACookie(*visit);
  if (visit->candidate.seed && IsRedirect(visit->result.status) && !visit->again) {
    const std::string_view lost = FollowSeed(*visit);
    if (!lost.empty()) Annotate(visit->line, fmt::format("{}{}", kRedirectLost, lost));
  }
  being_kept_.insert(SeenKey(visit->candidate.url));
  return AddLinks(*visit);
}

Status Crawler::OnNotKept(const VisitPointer& visit) {
  const Error error = visit->appended.error();
  const bool is_damaged = error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kInvalid;
  // The stored copy, as stele verify tells: it is captured once more.
  if (is_damaged && visit->is_retold && visit->taken) {
    kept_.Finish(visit->candidate.url, visit->kept->id);
    touched_.insert(visit->taken->host);
    parts_.frontier.Return(std::move(*visit->taken));
    return {};
  }
  // It alone cannot be written, now or later.
  if (error.code != ErrorCode::kInvalid) return error;
  visit->result.error = error.text;
  visit->again = false;
  Give(visit, net::HeritrixStatus(net::FetchFailure::kLocal), "");
  return {};
}

Status Crawler::OnKept(const VisitPointer& visit) {
  --working_;
  Uncount(*visit);
  being_kept_.erase(SeenKey(visit->candidate.url));
  if (!visit->appended) return OnNotKept(visit);
  if (!visit->is_surplus) {
    ++counts_.files;
    counts_.bytes += visit->payload_bytes;
    if (visit->duplicate) ++counts_.duplicates;
  }
  TellBytes();
  const bool is_html = visit->mime_type.find("html") != std::string::npos;
  const bool is_there = visit->result.status == 200 || visit->is_unchanged();
  const bool is_told_again = visit->again || visit->is_line_only;
  if (visit->candidate.is_page() && is_html && is_there && !is_told_again) {
    // Hosts of which only pages wait need no pause any more.
    if (++counts_.pages == settings_.pages_max) {
      for (const auto& [host, at] : ready_at_) touched_.insert(host);
    }
  }
  LearnTraps(*visit);
  // The response is not needed any more, and others may wait for memory.
  visit->result = {};
  visit->outlinks = {};
  finished_.push_back(visit);
  return {};
}

std::string_view Crawler::FollowSeed(const Visit& visit) {
  const auto& links = visit.outlinks.links;
  const auto target =
      std::find_if(links.begin(), links.end(), [](const Outlink& link) { return link.hop == 'R'; });
  if (target == links.end()) return "nowhere";
  if (RedirectsAtEnd(visit.candidate.hops) >= kRedirectsMax) return "too-often";
  if (BeginsSession(visit.candidate.url, target->url)) return "";
  const std::string from = SeenKey(visit.candidate.url);
  std::string at = SeenKey(target->url);
  seed_redirects_.insert_or_assign(from, at);
  for (std::size_t i = 0; i <= kRedirectsMax; ++i) {
    if (at == from) return "circle";
    const auto next = seed_redirects_.find(at);
    if (next == seed_redirects_.end()) break;
    at = next->second;
  }
  return "";
}

Status Crawler::AddLinks(const Visit& visit) {
  const Candidate& from = visit.candidate;
  const bool is_redirect = IsRedirect(visit.result.status);
  const bool is_inside = visit.result.address && !visit.result.address->IsPublic();
  for (const Outlink& link : visit.outlinks.links) {
    const bool is_seed = from.seed && is_redirect && link.hop == 'R';
    // Most links of a site are to pages that were linked before.
    const bool is_known = !is_seed && link.hop != 'R' && parts_.frontier.WasSeenOfLate(link.url);
    const bool is_embed = link.hop == 'E' || (link.hop == 'R' && from.is_embed());
    if (is_known && (!is_embed || parts_.log.HasEmbed(link.url))) continue;
    Candidate candidate;
    candidate.url = link.url;
    candidate.via = from.url;
    candidate.hops = from.hops + link.hop;
    candidate.source = from.source;
    // Where a seed is redirected to, a person would have gone.
    candidate.seed = is_seed;
    if (visit.outlinks.nofollow && link.hop == 'L' && settings_.robots != RobotsPolicy::kIgnore) {
      parts_.log.AddRejected(candidate, "nofollow", Now());
      continue;
    }
    if (is_known) parts_.log.AddEmbed(candidate, Now());
    if (is_known || (patches_ && candidate.is_page())) continue;
    const Status added = AddCandidate(std::move(candidate), is_inside);
    if (!added) return added;
  }
  return {};
}

Status Crawler::AddCandidate(Candidate candidate, bool is_from_inside) {
  const Result<std::string> refused = Consider(candidate);
  if (!refused) return refused.error();
  const bool is_known = *refused == kKnown;
  if (!(refused->empty() || is_known) || !candidate.seed || candidate.hops.empty()) return {};
  const Result<url::Url> url = url::Parse(candidate.url);
  if (!url) return url.error();
  const bool is_more = scope_.AddSeed(*url);
  if (is_from_inside) Trust(url->host());
  if (is_known && !is_more) return {};
  more_seeds_.push_back(candidate.url);
  return is_known ? FollowAgain(std::move(candidate)) : Status();
}

Status Crawler::FollowAgain(Candidate candidate) {
  if (!being_kept_.contains(SeenKey(candidate.url))) {
    const Result<std::optional<std::uint32_t>> captured =
        RunThatHas(parts_.archive.View(), candidate.url, run_);
    if (!captured) return captured.error();
    // It waits, or is being fetched.
    if (!*captured) return {};
  }
  candidate.links_only = true;
  const Result<url::Url> url = url::Parse(candidate.url);
  if (url) touched_.emplace(url->host());
  return parts_.frontier.AddAgain(candidate);
}

Result<std::string> Crawler::Consider(const Candidate& candidate) {
  const Result<url::Url> url = url::Parse(candidate.url);
  if (!url || !url->is_http()) return std::string("no http or https URL");
  const auto refuse = [&](std::string reason) {
    parts_.log.AddRejected(candidate, reason, Now());
    return reason;
  };
  if (RedirectsAtEnd(candidate.hops) > kRedirectsMax) return refuse("redirects");
  const Decision decision = scope_.Decide(candidate, *url, YearOf(Now()));
  const std::string_view trap = TrapOf(candidate, *url);
  if (decision.reason == kTooDeep || (candidate.is_page() && !trap.empty())) {
    const Result<bool> seen = parts_.frontier.WasSeen(candidate.url);
    if (!seen) return seen.error();
    if (*seen) return std::string(kKnown);
  }
  if (!decision.accepted) return refuse(decision.reason);
  if (!trap.empty()) return refuse(std::string(trap));
  // What a page needs is fetched by whoever has the page, in its slot.
  if (candidate.is_page() && !settings_.share.Owns(url->host())) {
    return refuse(HostShare::ReasonFor(settings_.share.OwnerOf(url->host())));
  }
  if (moved_rules_.IsBeingCaptured(candidate.url)) return std::string(kKnown);
  const Result<Frontier::Added> added = parts_.frontier.Add(candidate);
  if (!added) return added.error();
  if (*added == Frontier::Added::kOverBudget) return refuse("host-limit");
  if (*added == Frontier::Added::kTooManyQueries) return refuse(std::string(kQueriesTrap));
  if (*added == Frontier::Added::kTooManyCombinations) {
    return refuse(std::string(kCombinationsTrap));
  }
  if (*added == Frontier::Added::kSeen) {
    if (candidate.is_embed()) parts_.log.AddEmbed(candidate, Now());
    return std::string(kKnown);
  }
  touched_.emplace(url->host());
  return std::string();
}

void Crawler::Give(const VisitPointer& visit, int status, std::string_view annotation) {
  cut_off_.Take(visit->candidate.url);
  if (const auto kept = kept_.Of(visit->candidate.url)) return Retell(visit, *kept);
  visit->line = {};
  if (!visit->candidate.links_only) {
    visit->line = LogLineOf(*visit, status);
    if (!annotation.empty()) Annotate(visit->line, annotation);
    if (annotation != kByHttpsAnnotation) ++counts_.failures;
  }
  visit->result = {};
  finished_.push_back(visit);
}

void Crawler::Retell(const VisitPointer& visit, const KeptCaptures::Kept& kept) {
  visit->kept = kept;
  visit->is_retold = true;
  visit->result = {};
  Work(visit);
}

void Crawler::LogKept(const Candidate& candidate, const url::Url& url,
                      const KeptCaptures::Kept& kept) {
  kept_.Take(kept);
  const VisitPointer visit = std::make_shared<Visit>(url);
  visit->candidate = candidate;
  // How often it had been asked for by then is not known.
  visit->candidate.tries = 0;
  visit->is_line_only = true;
  Retell(visit, kept);
}

void Crawler::GiveTaken(Frontier::Taken taken, const url::Url& url,
                        const Reachability::Failure& failure, std::string_view annotation) {
  const VisitPointer visit = std::make_shared<Visit>(url);
  visit->candidate = taken.candidate;
  visit->taken = std::move(taken);
  visit->result.error = failure.error;
  Give(visit, failure.status, annotation);
}

}  // namespace stele::crawl
