#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/clock.h"
#include "net/http_handler.h"
#include "net/http_limits.h"
#include "util/result.h"

namespace stele::net {

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, no name; "0.0.0.0" or "::" for all
  std::uint16_t port = 0;             // 0: any free one
  // PEM files; both or neither. With them the server speaks TLS only.
  std::string certificate_file;
  std::string key_file;
  std::size_t loops = 1;     // 0: one for each core
  std::size_t workers = 16;  // threads: so many handlers may wait at once
  // So many of them do something at once, see WorkerPool; 0: all. For handlers that hardly wait,
  // the number of cores.
  std::size_t workers_at_once = 0;
  std::size_t connections_max = 4096;  // more are answered with 503 (TLS: closed)
  HttpLimits limits;
};

// HTTP/1.1 and 1.0 with keep-alive and pipelining. Requests of one connection are handled one after
// another, those of different ones at once. Thread-safe.
class HttpServer {
 public:
  // Serves when it returns. Borrows handler and clock for life.
  // Errors: kInvalid for options that cannot be used, kBusy when the port is taken, kIo.
  static Result<std::unique_ptr<HttpServer>> Open(const HttpServerOptions& options,
                                                  Handler& handler, const io::Clock& clock);
  virtual ~HttpServer() = default;  // Stop() without grace

  virtual std::uint16_t port() const = 0;
  virtual std::size_t connections() const = 0;  // open ones

  // Accepts no more connections and begins no more requests; those begun are finished, then their
  // connections are closed. What is not finished after `grace` is cut. Waits for handlers under
  // way in any case. Repeating it does nothing.
  virtual void Stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace stele::net
