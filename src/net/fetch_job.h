#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/buffer.h"
#include "io/clock.h"
#include "io/file_system.h"
#include "net/event_loop.h"
#include "net/fetch.h"
#include "net/fetch_stream.h"
#include "net/fetch_tls.h"
#include "net/fetcher.h"
#include "net/idle_streams.h"
#include "net/lost_addresses.h"
#include "net/resolver.h"
#include "net/response_collector.h"
#include "net/spool_file.h"
#include "net/worker_pool.h"

namespace stele::net {

// What the fetches of one Fetcher share. Outlives them.
struct FetchSetting {
  const FetcherOptions options;
  EventLoop& loop;
  Resolver& resolver;
  WorkerPool& workers;
  io::FileSystem& fs;
  const io::Clock& clock;
  std::shared_ptr<FetchTls> tls;
  IdleStreams idle;
  LostAddresses lost = {};
  std::uint64_t spool_files = 0;
  std::atomic<std::uint64_t> connections_made = 0;
};

// One fetch, from the name of a host to the last byte. All calls on the loop's thread.
class FetchJob : public std::enable_shared_from_this<FetchJob> {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  using Done = std::function<void(FetchJob&, FetchResult)>;

  FetchJob(FetchSetting& setting, FetchRequest request, Done done);

  void Start();
  void OnTick(Moment now);
  void CutShort();
  void Cancel();

 private:
  enum class Step {
    kResolve,
    kConnect,
    kTunnel,   // through a proxy
    kSecure,   // the TLS handshake
    kSend,     //
    kReceive,  //
    kPause,    // until resume_at_, for the rate
    kSpool,    // a worker writes to the disk
    kOver,
  };

  std::string WithProxy(const std::string& error) const;
  void Resolve();
  void OnResolved(const Resolution& resolution);
  void ConnectNext();
  void OnConnected(const StreamOutcome& outcome);
  void OnTunnelAsked(const StreamOutcome& outcome);
  void ReadTunnel();
  void OnTunnelAnswer(const StreamOutcome& outcome);
  void Secure();
  void OnSecured(const StreamOutcome& outcome);
  void Send();
  void OnSent(const StreamOutcome& outcome);
  void Receive();
  void OnReceived(const StreamOutcome& outcome);
  void OnConnectionEnd(const StreamOutcome& outcome);
  void GoOn();
  void SpoolPending();
  Status Spool(const std::string& path, std::string_view bytes);  // on a worker
  void OnSpooled(const Status& status);
  void Complete();
  void OnTimeout();
  void Fail(FetchFailure failure, const std::string& error);
  void Finish();

  void Enter(Step step);
  FetchStream::Done Then(void (FetchJob::*next)(const StreamOutcome&));
  FetchTimings::Duration SinceBegin() const;
  bool MayRepeat() const;
  std::uint16_t port() const {
    return request_.proxy ? request_.proxy->port : request_.endpoint.port;
  }
  bool Tunnels() const { return request_.proxy && request_.endpoint.tls; }
  Status Compose();

  FetchSetting& setting_;
  const FetchRequest request_;
  Done done_;  // null once it was called
  const StreamKey key_;
  FetchResult result_;

  Step step_ = Step::kResolve;
  Moment begun_;
  Moment since_;                       // of the step, or of the last byte
  int attempt_ = 0;                    // calls that belong to an earlier one do not count
  std::vector<IpAddress> candidates_;  // not yet tried, the next one last
  IpAddress tried_;                    // the one that is tried, or was last
  std::string sent_;                   // the request with the proxy's authorization
  std::string tunnel_;                 // what is said to and by the proxy
  std::shared_ptr<FetchStream> stream_;
  codec::Buffer buffer_;
  std::optional<ResponseCollector> collector_;
  std::unique_ptr<SpoolFile> spool_;  // a worker's in kSpool
  Moment body_begun_;
  Moment resume_at_;
  bool cancelled_ = false;  // while in kSpool
  bool cut_short_ = false;  // likewise
};

}  // namespace stele::net
