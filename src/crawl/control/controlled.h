#pragma once

#include <cstddef>
#include <vector>

#include "crawl/control/crawl_status.h"
#include "util/result.h"

namespace stele::crawl {

// A crawl, for those who change it while it runs. Thread-safe. Errors of all: kNotFound when it is
// over.
class Controlled {
 public:
  virtual ~Controlled() = default;

  // From now on nothing new is asked for; what is under way is finished.
  virtual Status Pause() = 0;
  virtual Status Resume() = 0;
  // It ends soon, with everything that is under way finished, and can be gone on with.
  virtual Status End() = 0;

  // What was added is durable when it returns.
  virtual Result<AddedUrls> AddUrls(const UrlsToAdd& urls) = 0;
  // Holds for all that is asked for afterwards, until the run ends, also where it is interrupted:
  // durable when it returns.
  virtual Status ChangeLimits(const LimitChanges& changes) = 0;
  // The longest first.
  virtual Result<std::vector<HostQueue>> LongestQueues(std::size_t max) = 0;
};

}  // namespace stele::crawl
