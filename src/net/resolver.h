#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/event_loop.h"
#include "net/ip_address.h"
#include "util/result.h"

namespace stele::net {

struct ResolverOptions {
  // Instead of asking: host, in lower case, to its addresses. Always good, never asked for.
  std::map<std::string, std::vector<IpAddress>> overrides;
  // "192.0.2.53" or "192.0.2.53:5353", IPv6 in brackets; empty: those of the system.
  std::vector<std::string> servers;

  std::size_t cache_entries_max = 100'000;  // the least recently used go first
  std::chrono::seconds ttl_min{60};         // however short the servers say
  std::chrono::seconds ttl_max{21'600};
  std::chrono::seconds negative_ttl{300};         // the name does not exist, or has no address
  std::chrono::seconds failure_ttl{3};            // no server answered
  std::chrono::milliseconds attempt_time{3'000};  // for each question to each server
  int attempts = 3;
};

struct Resolution {
  // IPv4 first. Empty: `failure` says why.
  std::vector<IpAddress> addresses;
  std::string failure;          // for people
  bool exists = true;           // false: the name does not exist or has no address, for certain
  bool cached = false;          // no server was asked for this answer
  std::chrono::seconds ttl{0};  // how long it holds from now on
};

// Addresses of hosts, from a bounded cache or from the DNS. Addresses as names stand for
// themselves; "localhost" and names below it are the loopback's, as RFC 6761 wants. 0.0.0.0 and ::
// are no addresses. Thread-safe.
class Resolver {
 public:
  using Done = std::function<void(const Resolution&)>;

  // Asks on `loop`, which must outlive it. Errors: kInvalid for servers that are none, kIo.
  static Result<std::unique_ptr<Resolver>> Open(const ResolverOptions& options, EventLoop& loop);
  // Requires: the loop still runs, and this is not its thread; or it was stopped. What was asked
  // and not yet answered is answered by a failure.
  virtual ~Resolver() = default;

  // Calls `done` once, on the loop's thread; before it returns when it was called there and the
  // answer is known. The same name asked by several at a time is one question.
  virtual void Resolve(const std::string& host, Done done) = 0;

  // Questions that went to the servers.
  virtual std::uint64_t questions() const = 0;
};

}  // namespace stele::net
