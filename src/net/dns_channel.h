#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/event_loop.h"
#include "net/ip_address.h"
#include "util/result.h"

namespace stele::net {

// Questions to DNS servers, without a cache. All calls on the loop's thread, but for opening.
class DnsChannel {
 public:
  struct Options {
    std::vector<std::string> servers;  // empty: the system's
    std::chrono::milliseconds attempt_time;
    int attempts;
  };
  struct Answer {
    std::vector<IpAddress> addresses;  // none: `failure` says why
    std::chrono::seconds ttl{0};       // the shortest of them
    std::string failure;
    bool exists = true;  // false: for certain there is none
  };
  using Done = std::function<void(const Answer&)>;

  // Errors: kInvalid for servers that are none, kIo.
  static Result<std::unique_ptr<DnsChannel>> Open(const Options& options, EventLoop& loop);
  virtual ~DnsChannel() = default;  // answers what was asked, by a failure

  // Both kinds of addresses. `done` is called once, perhaps at once.
  virtual void Ask(const std::string& host, Done done) = 0;
};

}  // namespace stele::net
