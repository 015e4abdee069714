#pragma once

#include <string>

#include "crawl/control/crawl_status.h"

namespace stele::crawl {

// How a crawl came to its end.
struct CrawlEnd {
  enum class Why {
    kDone,     // nothing is left
    kLimit,    // a limit was reached
    kStopped,  // it can go on
  };
  Why why = Why::kDone;
  std::string limit;  // "pages", "bytes", "time"
  CrawlProgress progress;
};

}  // namespace stele::crawl
