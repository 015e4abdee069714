#include "crawl/control/crawl_monitor.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace stele::crawl {
namespace {

constexpr std::int64_t kRateMilliseconds = 10'000;
constexpr std::int64_t kSampleMilliseconds = 500;

double PerSecond(std::uint64_t now, std::uint64_t before, std::int64_t milliseconds) {
  if (milliseconds <= 0 || now < before) return 0;
  return static_cast<double>(now - before) * 1000 / static_cast<double>(milliseconds);
}

// Of what is known, and what the limits leave of it.
std::optional<std::chrono::seconds> LeftOf(const CrawlProgress& progress, const CrawlRates& rates) {
  if (progress.state != CrawlState::kRunning) return std::nullopt;
  std::optional<double> left;
  const auto at_most = [&](double seconds) { left = std::min(left.value_or(seconds), seconds); };
  const auto rest = [](std::uint64_t max, std::uint64_t now) {
    return static_cast<double>(max - std::min(max, now));
  };
  const CrawlLimits& limits = progress.limits;
  const CrawlCounts& counts = progress.counts;
  if (rates.files > 0)
    at_most(static_cast<double>(progress.waiting + progress.under_way) / rates.files);
  if (limits.pages_max > 0 && rates.pages > 0) {
    at_most(rest(limits.pages_max, counts.pages) / rates.pages);
  }
  if (limits.bytes_max > 0 && rates.bytes > 0) {
    at_most(rest(limits.bytes_max, counts.bytes) / rates.bytes);
  }
  if (limits.time_max.count() > 0) {
    const auto max = static_cast<std::uint64_t>(limits.time_max.count()) * 1000;
    at_most(rest(max, counts.milliseconds) / 1000);
  }
  // What would take longer than a thousand years is not known.
  constexpr double kSecondsMax = 3e10;
  if (!left || *left > kSecondsMax) return std::nullopt;
  return std::chrono::seconds(std::llround(std::ceil(*left)));
}

}  // namespace

CrawlMonitor::CrawlMonitor(const io::Clock& clock, std::string job, std::uint32_t run)
    : clock_(clock) {
  status_.job = std::move(job);
  status_.run = run;
  status_.pid = ::getpid();
  status_.started = status_.time = clock.Now();
}

void CrawlMonitor::Tell(const CrawlProgress& progress) {
  const Timestamp now = clock_.Now();
  const std::lock_guard lock(mutex_);
  const bool is_new_state = progress.state != status_.progress.state;
  status_.progress = progress;
  status_.time = now;
  // The oldest that is old enough stays.
  while (samples_.size() > 1 &&
         now.milliseconds - samples_[1].time.milliseconds >= kRateMilliseconds) {
    samples_.pop_front();
  }
  if (!samples_.empty()) {
    const Sample& before = samples_.front();
    const std::int64_t span = now.milliseconds - before.time.milliseconds;
    status_.rates.pages = PerSecond(progress.counts.pages, before.counts.pages, span);
    status_.rates.files = PerSecond(progress.counts.files, before.counts.files, span);
    status_.rates.bytes = PerSecond(progress.counts.bytes, before.counts.bytes, span);
  }
  if (samples_.empty() ||
      now.milliseconds - samples_.back().time.milliseconds >= kSampleMilliseconds) {
    samples_.push_back({now, progress.counts});
  }
  status_.left = LeftOf(progress, status_.rates);
  if (is_new_state) changed_.notify_all();
}

CrawlStatus CrawlMonitor::Now() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool CrawlMonitor::WaitForChange(CrawlState state, std::chrono::milliseconds time) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [&] { return closed_ || status_.progress.state != state; });
  return !closed_;
}

void CrawlMonitor::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace stele::crawl
