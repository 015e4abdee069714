#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "crawl/control/crawl_status.h"
#include "io/clock.h"

namespace stele::crawl {

// What a crawl told last, for any number of watchers, with rates over the last seconds and an
// estimate of the time that is left. Thread-safe.
class CrawlMonitor {
 public:
  // Borrows the clock for life.
  CrawlMonitor(const io::Clock& clock, std::string job, std::uint32_t run);

  // Told a few times a second by the crawl.
  void Tell(const CrawlProgress& progress);
  CrawlStatus Now() const;

  // Returns when the state is another one than `state`, after `time`, or when nobody tells anything
  // any more. False: the latter.
  bool WaitForChange(CrawlState state, std::chrono::milliseconds time) const;
  // Wakes all who wait.
  void Close();

 private:
  struct Sample {
    Timestamp time;
    CrawlCounts counts;
  };

  const io::Clock& clock_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  CrawlStatus status_;
  std::deque<Sample> samples_;  // of the last seconds, the oldest first
  bool closed_ = false;
};

}  // namespace stele::crawl
