// Limits, and what others want of a crawl while it runs. They wait; the thread that plans does it
// between two turns, so that nothing of the crawler needs a lock.
#include <algorithm>
#include <utility>

#include "crawl/crawler.h"
#include "formats/http/body.h"

namespace stele::crawl {
namespace {

Error OverError() { return {ErrorCode::kNotFound, "the crawl is over"}; }

}  // namespace

Status Crawler::Have(const std::function<Status()>& work) {
  Order order{work, {}, false};
  std::unique_lock lock(mutex_);
  if (!takes_orders_) return OverError();
  orders_.push_back(&order);
  arrived_.notify_one();
  obeyed_.wait(lock, [&] { return order.done; });
  return order.result;
}

Status Crawler::TakeOrders(const Show& show) {
  std::vector<Order*> orders;
  {
    const std::lock_guard lock(mutex_);
    orders.swap(orders_);
  }
  if (orders.empty()) return {};
  Status failed;
  for (Order* order : orders) {
    order->result = failed ? order->work() : failed;
    if (!order->result) failed = order->result;
  }
  // Who waits looks at what came of it.
  show(Progress());
  const std::lock_guard lock(mutex_);
  for (Order* order : orders) order->done = true;
  obeyed_.notify_all();
  return failed;
}

bool Crawler::CloseOrders() {
  const std::lock_guard lock(mutex_);
  if (!orders_.empty()) return false;
  takes_orders_ = false;
  return true;
}

void Crawler::RefuseOrders() {
  const std::lock_guard lock(mutex_);
  takes_orders_ = false;
  for (Order* order : orders_) {
    order->result = OverError();
    order->done = true;
  }
  orders_.clear();
  obeyed_.notify_all();
}

Status Crawler::Pause() {
  return Have([this] {
    paused_ = true;
    return Status();
  });
}

Status Crawler::Resume() {
  return Have([this] {
    paused_ = false;
    return Status();
  });
}

Status Crawler::End() {
  return Have([this] {
    Stop();
    return Status();
  });
}

bool Crawler::TimeIsOver() const {
  const std::int64_t max = std::chrono::milliseconds(settings_.time_max).count();
  return max > 0 && counts_.milliseconds >= static_cast<std::uint64_t>(max);
}

void Crawler::EndSlowFetches(Timestamp now) {
  constexpr std::int64_t kGrace = 3'000;
  const bool is_ending = stopping_ || TimeIsOver();
  // The limit may be lifted again.
  if (!is_ending) ending_at_ = {};
  if (is_ending && ending_at_ == Timestamp{}) ending_at_ = now;
  if (!is_ending || now.milliseconds - ending_at_.milliseconds <= kGrace) return;
  ending_at_ = now;
  if (stopping_) return parts_.fetcher.Stop();
  parts_.fetcher.CutShort();
}

std::uint64_t Crawler::PagesLeft() const {
  if (settings_.pages_max == 0) return UINT64_MAX;
  const std::uint64_t begun = counts_.pages + pages_under_way_;
  return begun < settings_.pages_max ? settings_.pages_max - begun : 0;
}

bool Crawler::BytesAreSpokenFor() const {
  if (settings_.bytes_max == 0 || fetching_ == 0) return false;
  const std::uint64_t files = counts_.files + working_;
  // How large they are here is not known before the first one came.
  if (files == 0) return true;
  const std::uint64_t bytes = counts_.bytes + working_bytes_;
  const std::size_t silent = fetching_ - std::min<std::size_t>(fetching_, announced_);
  return bytes + bytes_announced_ + silent * (bytes / files) >= settings_.bytes_max;
}

net::HeadVerdict Crawler::TakeAnnouncement(Visit& visit, const http::ResponseHead& head) {
  const std::uint64_t max = bytes_max_;
  if (max == 0 || visit.bytes_announced > 0) return net::HeadVerdict::kGoOn;
  const http::BodyPlan plan = http::PlanResponseBody(head, "GET");
  const bool says_it = plan.framing == http::BodyFraming::kLength && plan.length > 0;
  if (!says_it) return net::HeadVerdict::kGoOn;
  const std::uint64_t cut_at = settings_.file_bytes_max;  // does not change
  const std::uint64_t bytes = cut_at > 0 ? std::min(plan.length, cut_at) : plan.length;
  // One that passes the limit is taken, and none after it.
  const std::uint64_t before = bytes_announced_.fetch_add(bytes);
  if (bytes_here_ + before >= max) {
    bytes_announced_ -= bytes;
    visit.is_over_limit = true;
    return net::HeadVerdict::kAbort;
  }
  visit.bytes_announced = bytes;
  ++announced_;
  return net::HeadVerdict::kGoOn;
}

void Crawler::EndAnnouncement(Visit& visit) {
  if (visit.bytes_announced == 0) return;
  bytes_announced_ -= std::exchange(visit.bytes_announced, 0);
  --announced_;
}

void Crawler::TellBytes() {
  bytes_here_ = counts_.bytes + working_bytes_;
  bytes_max_ = settings_.bytes_max;
}

bool Crawler::PagesAreUsedUp() const {
  const bool is_idle = fetching_ == 0 && working_ == 0 && ready_.empty() && finished_.empty();
  return is_idle && !paused_ && PagesLeft() == 0;
}

void Crawler::WakePages() {
  for (std::uint64_t left = PagesLeft(); left > 0 && !waiting_for_pages_.empty(); --left) {
    touched_.insert(*waiting_for_pages_.begin());
    waiting_for_pages_.erase(waiting_for_pages_.begin());
  }
}

Status Crawler::ChangeLimits(const LimitChanges& changes) {
  return Have([&] {
    const CrawlLimits before = LimitsOf(settings_);
    const CrawlLimits after = Changed(before, changes);
    SetLimits(after, settings_);
    TellBytes();
    if (!changed_limits_) changed_limits_ = ChangedLimits{before, before};
    changed_limits_->after = after;
    // It may be lifted.
    limit_.clear();
    if (changes.delay) politeness_.SetDelay(*changes.delay, Now());
    for (const auto& [host, at] : ready_at_) touched_.insert(host);
    return Commit();
  });
}

Result<AddedUrls> Crawler::AddUrls(const UrlsToAdd& urls) {
  AddedUrls added;
  const Status done = Have([&] {
    for (const std::string& url : urls.urls) {
      if (const Status one = AddByHand(url, urls.seed, added); !one) return one;
    }
    return Commit();
  });
  if (!done) return done.error();
  return added;
}

Status Crawler::AddByHand(const std::string& text, bool seed, AddedUrls& added) {
  const Result<url::Url> url = ParseSeed(text);
  if (!url) {
    added.refused.emplace_back(text, url.error().text);
    return {};
  }
  Candidate candidate;
  candidate.url = url->href_without_fragment();
  candidate.seed = seed;
  if (seed) {
    candidate.source = candidate.url;
    scope_.AddSeed(*url);
    Trust(url->host());
    more_seeds_.push_back(*SeedText(text));
    schemeless_.Add(text);
  }
  const Result<std::string> refused = Consider(candidate);
  if (!refused) return refused.error();
  if (refused->empty()) {
    ++added.added;
  } else if (*refused == "known") {
    ++added.known;
  } else {
    added.refused.emplace_back(candidate.url, *refused);
  }
  return {};
}

Result<std::vector<HostQueue>> Crawler::LongestQueues(std::size_t max) {
  std::vector<HostQueue> queues;
  const Status done = Have([&] {
    parts_.frontier.VisitHosts([&](const std::string& host, std::uint64_t urls) {
      queues.push_back({host, urls});
    });
    return Status();
  });
  if (!done) return done.error();
  const auto shown = static_cast<std::ptrdiff_t>(std::min(max, queues.size()));
  std::partial_sort(queues.begin(), queues.begin() + shown, queues.end(),
                    [](const HostQueue& a, const HostQueue& b) { return a.waiting > b.waiting; });
  queues.resize(static_cast<std::size_t>(shown));
  return queues;
}

}  // namespace stele::crawl
