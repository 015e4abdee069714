#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "crawl/control/controlled.h"
#include "crawl/control/crawl_monitor.h"
#include "io/clock.h"
#include "io/file_system.h"
#include "io/random.h"
#include "net/http_handler.h"
#include "util/result.h"

namespace stele::net {
class HttpServer;
}

namespace stele::crawl {

// 32 random bytes as hexadecimal digits.
std::string NewToken(io::Random& random);

struct ControlOptions {
  std::uint16_t port = 0;  // on 127.0.0.1; 0: any free one
  std::string token;
};

// Answers other programs on this machine about one crawl: docs/formats/crawl-status.md. The files
// that tell where it is are there as long as it lives. Thread-safe.
class ControlServer final : public net::Handler {
 public:
  // `folder` is that of the job. Borrows everything but the options for life. Errors: kBusy when
  // the port is taken, kIo.
  static Result<std::unique_ptr<ControlServer>> Open(io::FileSystem& fs, const io::Clock& clock,
                                                     const std::string& folder,
                                                     const ControlOptions& options,
                                                     CrawlMonitor& monitor, Controlled& crawl);
  // Ends all streams; what the monitor was told last is their end.
  ~ControlServer() override;

  std::uint16_t port() const { return port_; }

  void Handle(net::Request& request, net::ResponseWriter& response) override;

 private:
  ControlServer(io::FileSystem& fs, std::string folder, std::string token, CrawlMonitor& monitor,
                Controlled& crawl);
  Status WriteFiles();
  // Why it is not answered; empty: it is.
  std::string WhyRefused(const net::Request& request) const;
  void HandleGet(net::Request& request, net::ResponseWriter& response);
  void HandlePost(net::Request& request, net::ResponseWriter& response);
  Result<std::string> Obey(std::string_view path, std::string_view body);
  void SendEvents(net::ResponseWriter& response);

  io::FileSystem& fs_;
  const std::string folder_;
  const std::string token_;
  CrawlMonitor& monitor_;
  Controlled& crawl_;
  std::atomic<std::uint16_t> port_ = 0;
  std::atomic<int> streams_ = 0;
  std::unique_ptr<net::HttpServer> server_;  // ends first
};

}  // namespace stele::crawl
