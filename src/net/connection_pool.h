#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "net/socket_stream.h"
#include "net/tls.h"
#include "util/result.h"

namespace stele::net {

// Open connections by endpoint, kept for the next request. Thread-safe.
class ConnectionPool {
 public:
  struct Options {
    std::size_t open_max = 256;  // per endpoint; whoever comes later waits
    std::size_t idle_max = 64;   // per endpoint; more are closed
    std::chrono::milliseconds idle_time_max{50'000};
    std::chrono::milliseconds connect_timeout{10'000};
  };
  struct Lease {
    std::unique_ptr<SocketStream> stream;
    bool used_before = false;  // it may have died since
  };

  // `tls` of MakeClientTls().
  ConnectionPool(const Options& options, TlsContext tls)
      : options_(options), tls_(std::move(tls)) {}

  enum class Want {
    kAny,    // an idle one where there is one; it was used a moment ago or looks alive
    kAlive,  // an idle one that looks alive where there is one
    kFresh,  // a new one
  };
  // Errors: those of SocketStream::Connect(); kBusy when none became free in time.
  Result<Lease> Take(const Endpoint& endpoint, Want want, Deadline deadline);
  // Every stream that was taken comes back, exactly once: itself when it can serve another request,
  // null when it was closed.
  void GiveBack(const Endpoint& endpoint, std::unique_ptr<SocketStream> stream);

  std::size_t idle() const;

 private:
  struct Idle {
    std::unique_ptr<SocketStream> stream;
    std::chrono::steady_clock::time_point since;
  };
  struct Host {
    std::size_t open = 0;    // idle ones included
    std::vector<Idle> idle;  // the most recent last
  };

  // These need mutex_, and hand out what has expired, to be closed without it.
  std::unique_ptr<SocketStream> TakeIdle(Host& host, Want want, std::vector<Idle>& expired);
  void Sweep(std::vector<Idle>& expired);

  const Options options_;
  const TlsContext tls_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Endpoint, Host> hosts_;
  std::chrono::steady_clock::time_point swept_ = std::chrono::steady_clock::now();
};

}  // namespace stele::net
