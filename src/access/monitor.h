#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "io/clock.h"
#include "io/stream.h"
#include "net/http_handler.h"

namespace stele::access {

// Counts requests, and writes a line for each where there is a log. Thread-safe.
class Monitor {
 public:
  // `log` may be null; it must be fit for several threads. Both are borrowed for life.
  Monitor(const io::Clock& clock, io::Sink* log) : clock_(clock), log_(log) {}

  struct Answered {
    std::string_view server;  // "pages", "replay"
    int status = 0;
    std::int64_t milliseconds = 0;  // until the answer was begun or complete
  };
  void Note(const net::Request& request, const Answered& answered);
  Timestamp Now() const { return clock_.Now(); }

  // In the text form of Prometheus.
  std::string Metrics() const;

 private:
  const io::Clock& clock_;
  io::Sink* const log_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> counts_;  // by server and status
  std::map<std::string, std::int64_t> milliseconds_;             // by server
};

// A handler that another one does the work for. Borrows both for life.
class MonitoredHandler final : public net::Handler {
 public:
  MonitoredHandler(std::string server, net::Handler& handler, Monitor& monitor)
      : server_(std::move(server)), handler_(handler), monitor_(monitor) {}
  void Handle(net::Request& request, net::ResponseWriter& response) override;

 private:
  const std::string server_;
  net::Handler& handler_;
  Monitor& monitor_;
};

}  // namespace stele::access
