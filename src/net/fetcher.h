#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "io/clock.h"
#include "io/file_system.h"
#include "net/event_loop.h"
#include "net/fetch.h"
#include "net/resolver.h"
#include "net/worker_pool.h"
#include "util/result.h"

namespace stele::net {

struct FetcherOptions {
  // A response up to this size stays in memory; the rest goes to a file in `spool_folder`, through
  // pieces of this size.
  std::size_t memory_max = std::size_t{256} << 10;
  std::string spool_folder = ".";

  std::size_t idle_per_host_max = 8;
  std::size_t idle_max = 1024;                      // in all; the oldest are closed first
  std::chrono::milliseconds idle_time_max{15'000};  // less than servers keep theirs
  std::size_t tls_sessions_max = 20'000;            // remembered for quick handshakes
  // Authorities that TlsFacts::distrust judges by, PEM; empty: the system's.
  std::string ca_file;
};

// Fetches for a crawler: any number of requests at a time, on one event loop, and every byte as it
// came over the wire. It accepts whatever servers send and tells what was wrong with it; it follows
// no redirects, keeps no cookies and decodes no contents. How many requests one host gets is the
// caller's business.
class Fetcher {
 public:
  // On the loop's thread: must be short, or hand on to a worker. May call Fetch().
  using Done = std::function<void(FetchResult)>;

  // All of these must outlive it; disk work is done by `workers`. Errors: kInvalid, for a CA file
  // that cannot be used.
  static Result<std::unique_ptr<Fetcher>> Open(const FetcherOptions& options, EventLoop& loop,
                                               Resolver& resolver, WorkerPool& workers,
                                               io::FileSystem& fs, const io::Clock& clock);
  virtual ~Fetcher() = default;  // Stop()

  // From any thread. Calls `done` exactly once, always later, never before this returns. A request
  // whose kept connection dies before the first byte of the response is sent once more, on a new
  // one, where the method is GET, HEAD or OPTIONS.
  virtual void Fetch(FetchRequest request, Done done) = 0;

  // Ends what is under way as if its time were over: Truncation::kTime where the head is there,
  // else kCancelled. Returns before that; what is asked later is fetched.
  virtual void CutShort() = 0;

  // Ends what is under way, and whatever is asked later, with kCancelled; returns when all were
  // told. Repeating it does nothing. Requires: the loop still runs, and this is not its thread.
  virtual void Stop() = 0;

  virtual std::size_t under_way() const = 0;
  virtual std::size_t idle_connections() const = 0;
  virtual std::uint64_t connections_made() const = 0;
};

}  // namespace stele::net
