#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "access/gate.h"
#include "access/job_watch.h"
#include "access/monitor.h"
#include "access/origin.h"
#include "access/served_archive.h"
#include "io/clock.h"
#include "io/file_system.h"
#include "net/http_server.h"

namespace stele::access {

struct AccessServerOptions {
  net::HttpServerOptions pages;
  net::HttpServerOptions replay;
  Addresses::Options addresses;
  std::string web_directory;    // of the pages' files; empty: there are none
  std::string spool_directory;  // for downloads that are made first
  std::string software;         // "stele 0.1.0"
  bool leads_to_exact = true;   // as Call has it
  GateOptions gate;
  JobWatch::Options jobs;
};

// Serves archives: pages and API on one port, replayed pages on another. Thread-safe.
class AccessServer {
 public:
  // Serves when it returns. Borrows all for life; `log` may be null. Errors: those of
  // net::HttpServer::Open() and Gate::Open().
  static Result<std::unique_ptr<AccessServer>> Open(const AccessServerOptions& options,
                                                    ServedArchives& archives, io::FileSystem& fs,
                                                    const io::Clock& clock, io::Sink* log);
  virtual ~AccessServer() = default;  // Stop() without grace

  virtual std::uint16_t pages_port() const = 0;
  virtual std::uint16_t replay_port() const = 0;
  // As net::HttpServer::Stop().
  virtual void Stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace stele::access
