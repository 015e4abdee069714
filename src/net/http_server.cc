// One acceptor hands sockets to the loops in turn. Each loop has a shard: its sessions, touched on
// its thread only, and a tick for their timeouts.
#include "net/http_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/event_loop.h"
#include "net/response_encoder.h"
#include "net/server_session.h"
#include "net/tls.h"
#include "net/worker_pool.h"

namespace stele::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, asio::io_context::executor_type>;
using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;

constexpr milliseconds kAcceptPause{100};  // when the machine has no more descriptors
constexpr milliseconds kTickMax{250};
constexpr milliseconds kTickMin{5};

// Often enough for the shortest timeout.
milliseconds TickFor(const HttpLimits& limits) {
  const milliseconds shortest = std::min(
      {limits.idle_timeout, limits.head_timeout, limits.transfer_timeout, limits.linger_timeout});
  return std::clamp(shortest / 4, kTickMin, kTickMax);
}

std::string TextOf(const asio::ip::tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", address, endpoint.port())
                                    : fmt::format("{}:{}", address, endpoint.port());
}

Error CannotListen(const asio::ip::tcp::endpoint& endpoint, const error_code& error) {
  const bool busy = error == asio::error::address_in_use;
  return {busy ? ErrorCode::kBusy : ErrorCode::kIo,
          fmt::format("cannot listen on {}: {}", TextOf(endpoint), error.message())};
}

Status CheckOptions(const HttpServerOptions& options) {
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return Error{ErrorCode::kInvalid, "TLS needs both a certificate file and a key file"};
  }
  if (options.workers == 0 || options.connections_max == 0 || options.limits.body_buffer == 0 ||
      options.limits.output_buffer == 0 || options.limits.head_size_max == 0) {
    return Error{ErrorCode::kInvalid, "workers, connections and buffers must not be 0"};
  }
  return {};
}

struct Shard {
  explicit Shard(EventLoop& owner) : loop(owner) {}
  EventLoop& loop;
  std::unordered_map<ServerSession*, std::shared_ptr<ServerSession>> sessions;
  std::unique_ptr<Timer> tick;
  bool stopping = false;
};

class Server final : public HttpServer {
 public:
  Server(HttpServerOptions options, Handler& handler, const io::Clock& clock, TlsContext tls)
      : options_(std::move(options)),
        handler_(handler),
        clock_(clock),
        tls_(std::move(tls)),
        loops_(options_.loops),
        workers_(options_.workers, options_.workers_at_once),
        acceptor_(loops_.at(0).context()) {
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      shards_.push_back(std::make_unique<Shard>(loops_.at(i)));
    }
  }
  ~Server() override { Stop(milliseconds(0)); }

  Status Listen(const asio::ip::tcp::endpoint& endpoint) {
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return CannotListen(endpoint, error);
    port_ = acceptor_.local_endpoint(error).port();
    loops_.at(0).Post([this] { Accept(); });
    for (const auto& shard : shards_) {
      shard->loop.Post([this, shard = shard.get()] { Tick(*shard); });
    }
    return {};
  }

  std::uint16_t port() const override { return port_; }
  std::size_t connections() const override { return connections_; }

  void Stop(milliseconds grace) override {
    const std::lock_guard once(stop_mutex_);
    if (std::exchange(stopped_, true)) return;
    StopAccepting();
    if (grace.count() > 0) {
      ForEachSession([](ServerSession& session) { session.Stop(); });
      WaitForSessions(grace);
    }
    ForEachSession([](ServerSession& session) { session.Kill(); });
    // What handlers wait for has been aborted above, and every session that could give the workers
    // more to do is closed.
    WaitForSessions(milliseconds::max());
    workers_.Stop();
    loops_.Stop();
  }

 private:
  // Afterwards no connection is added.
  void StopAccepting() {
    std::promise<void> done;
    loops_.at(0).Post([this, &done] {
      accept_pause_.reset();
      error_code ignored;
      acceptor_.close(ignored);
      done.set_value();
    });
    done.get_future().wait();
  }

  void Accept() {
    acceptor_.async_accept([this](const error_code& error, Socket socket) {
      if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
      if (error) {
        accept_pause_ = loops_.at(0).CallAfter(kAcceptPause, [this] { Accept(); });
        return;
      }
      Admit(std::move(socket));
      Accept();
    });
  }

  void Admit(Socket socket) {
    error_code error;
    const asio::ip::tcp::endpoint peer = socket.remote_endpoint(error);
    if (error) return;
    if (connections_ >= options_.connections_max) {
      if (tls_ != nullptr) return;
      std::string refusal;
      AppendRefusal(503, "The server has too many connections; try again later.", clock_.Now(),
                    refusal);
      socket.non_blocking(true, error);
      socket.write_some(asio::buffer(refusal), error);
      return;
    }
    ++connections_;
    Shard& shard = *shards_[next_shard_++ % shards_.size()];
    const int descriptor = socket.release(error);
    shard.loop.Post([this, &shard, descriptor, peer = TextOf(peer)] {
      const std::shared_ptr<ServerSession> session =
          NewSession({shard.loop.context(), options_.limits, clock_, handler_, workers_, peer,
                      [this, &shard](ServerSession& closed) { Forget(shard, closed); }},
                     descriptor, tls_.get());
      shard.sessions.emplace(session.get(), session);
      session->Start();
      if (shard.stopping) session->Stop();
    });
  }

  void Forget(Shard& shard, ServerSession& session) {
    shard.sessions.erase(&session);
    {
      const std::lock_guard lock(closed_mutex_);
      --connections_;
    }
    closed_.notify_all();
  }

  // A copy, because sessions leave the shard when they close.
  static std::vector<std::shared_ptr<ServerSession>> SessionsOf(const Shard& shard) {
    std::vector<std::shared_ptr<ServerSession>> sessions;
    for (const auto& [key, session] : shard.sessions) sessions.push_back(session);
    return sessions;
  }

  void Tick(Shard& shard) {
    const auto now = steady_clock::now();
    for (const auto& session : SessionsOf(shard)) session->OnTick(now);
    shard.tick = shard.loop.CallAfter(TickFor(options_.limits), [this, &shard] { Tick(shard); });
  }

  void ForEachSession(const std::function<void(ServerSession&)>& call) {
    for (const auto& shard : shards_) {
      shard->loop.Post([shard = shard.get(), call] {
        shard->stopping = true;
        for (const auto& session : SessionsOf(*shard)) call(*session);
      });
    }
  }

  void WaitForSessions(milliseconds limit) {
    std::unique_lock lock(closed_mutex_);
    const auto none = [this] { return connections_ == 0; };
    if (limit == milliseconds::max()) {
      closed_.wait(lock, none);
    } else {
      closed_.wait_for(lock, limit, none);
    }
  }

  const HttpServerOptions options_;
  Handler& handler_;
  const io::Clock& clock_;
  const TlsContext tls_;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> connections_ = 0;  // lowered under closed_mutex_
  std::mutex closed_mutex_;
  std::condition_variable closed_;
  std::mutex stop_mutex_;
  bool stopped_ = false;

  // Handlers wake loops: workers end before loops do. Sockets and timers end before their loops.
  EventLoops loops_;
  WorkerPool workers_;
  Acceptor acceptor_;
  std::unique_ptr<Timer> accept_pause_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::size_t next_shard_ = 0;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Open(const HttpServerOptions& options,
                                                     Handler& handler, const io::Clock& clock) {
  if (Status good = CheckOptions(options); !good) return good.error();
  error_code error;
  const asio::ip::address address = asio::ip::make_address(options.address, error);
  if (error) {
    return Error{ErrorCode::kInvalid, fmt::format("{} is no IP address", options.address)};
  }
  TlsContext tls;
  if (!options.certificate_file.empty()) {
    Result<TlsContext> made = MakeServerTls(options.certificate_file, options.key_file);
    if (!made) return made.error();
    tls = std::move(*made);
  }
  try {
    auto server = std::make_unique<Server>(options, handler, clock, std::move(tls));
    if (Status good = server->Listen({address, options.port}); !good) return good.error();
    return std::unique_ptr<HttpServer>(std::move(server));
  } catch (const std::system_error& refused) {
    return Error{ErrorCode::kIo,
                 fmt::format("no threads or descriptors for an HTTP server: {}", refused.what())};
  }
}

}  // namespace stele::net
