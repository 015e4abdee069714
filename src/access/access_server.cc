#include "access/access_server.h"

#include "access/overview.h"
#include "access/pages_service.h"
#include "access/replay_service.h"
#include "access/static_files.h"
#include "io/random.h"

namespace stele::access {
namespace {

constexpr std::string_view kReplayFolder = "/replay";
constexpr std::string_view kWorker = "sw.js";

class TwoServers final : public AccessServer {
 public:
  TwoServers(const AccessServerOptions& options, std::unique_ptr<Gate> gate,
             ServedArchives& archives, io::FileSystem& fs, const io::Clock& clock, io::Sink* log)
      : gate_(std::move(gate)),
        overviews_(archives, clock),
        jobs_(options.jobs),
        addresses_(options.addresses),
        monitor_(clock, log),
        page_files_(fs, options.web_directory),
        replay_files_(fs, options.web_directory.empty()
                              ? ""
                              : options.web_directory + std::string(kReplayFolder)),
        pages_(*gate_, archives, overviews_, jobs_, addresses_, page_files_, monitor_, clock,
               {.software = options.software,
                .spool_directory = options.spool_directory,
                .has_worker = replay_files_.Read(kWorker).has_value(),
                .leads_to_exact = options.leads_to_exact}),
        replay_(*gate_, archives, addresses_, replay_files_, clock),
        watched_pages_("pages", pages_, monitor_),
        watched_replay_("replay", replay_, monitor_) {}

  ~TwoServers() override { jobs_.Stop(); }

  Status Start(const AccessServerOptions& options, const io::Clock& clock) {
    Result<std::unique_ptr<net::HttpServer>> pages =
        net::HttpServer::Open(options.pages, watched_pages_, clock);
    if (!pages) return pages.error();
    pages_server_ = std::move(*pages);
    Result<std::unique_ptr<net::HttpServer>> replay =
        net::HttpServer::Open(options.replay, watched_replay_, clock);
    if (!replay) return replay.error();
    replay_server_ = std::move(*replay);
    addresses_.SetPorts(pages_server_->port(), replay_server_->port());
    return {};
  }

  std::uint16_t pages_port() const override { return pages_server_->port(); }
  std::uint16_t replay_port() const override { return replay_server_->port(); }
  void Stop(std::chrono::milliseconds grace) override {
    jobs_.Stop();
    pages_server_->Stop(grace);
    replay_server_->Stop(grace);
  }

 private:
  const std::unique_ptr<Gate> gate_;
  Overviews overviews_;
  JobWatch jobs_;
  Addresses addresses_;
  Monitor monitor_;
  const StaticFiles page_files_;
  const StaticFiles replay_files_;
  PagesService pages_;
  ReplayService replay_;
  MonitoredHandler watched_pages_;
  MonitoredHandler watched_replay_;
  std::unique_ptr<net::HttpServer> pages_server_;
  std::unique_ptr<net::HttpServer> replay_server_;
};

}  // namespace

Result<std::unique_ptr<AccessServer>> AccessServer::Open(const AccessServerOptions& options,
                                                         ServedArchives& archives,
                                                         io::FileSystem& fs, const io::Clock& clock,
                                                         io::Sink* log) {
  io::SystemRandom random;
  Result<std::unique_ptr<Gate>> gate = Gate::Open(options.gate, fs, clock, random);
  if (!gate) return gate.error();
  auto servers = std::make_unique<TwoServers>(options, *std::move(gate), archives, fs, clock, log);
  if (const Status started = servers->Start(options, clock); !started) return started.error();
  return std::unique_ptr<AccessServer>(std::move(servers));
}

}  // namespace stele::access
