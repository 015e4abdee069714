#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "io/clock.h"
#include "net/http_handler.h"
#include "net/http_limits.h"
#include "net/worker_pool.h"

namespace boost::asio {
class io_context;
}
struct ssl_ctx_st;

namespace stele::net {

// A ServerConnection with its socket and its clock. All calls on the loop's thread.
class ServerSession {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  virtual ~ServerSession() = default;
  virtual void Start() = 0;
  virtual void OnTick(Moment now) = 0;  // now and then: timeouts are as exact as this is frequent
  virtual void Stop() = 0;              // when what is under way is done
  virtual void Kill() = 0;              // at once
};

struct SessionSetting {
  boost::asio::io_context& context;  // all references outlive the session
  const HttpLimits& limits;
  const io::Clock& clock;
  Handler& handler;
  WorkerPool& workers;
  std::string peer;
  // Called once, on the loop's thread, when the connection is closed.
  std::function<void(ServerSession&)> on_closed;
};

// Takes over `socket`, a connected TCP socket. With `tls`, which it shares, it speaks TLS.
std::shared_ptr<ServerSession> NewSession(SessionSetting setting, int socket, ssl_ctx_st* tls);

}  // namespace stele::net
