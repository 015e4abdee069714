#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/input_buffer.h"
#include "util/result.h"

struct ssl_ctx_st;

namespace stele::net {

using Deadline = std::chrono::steady_clock::time_point;

struct Endpoint {
  bool tls = false;
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 80;

  bool operator==(const Endpoint&) const = default;
  auto operator<=>(const Endpoint&) const = default;
  // "https://host:443".
  std::string ToText() const;
};

// A connection whose calls wait, but never beyond a deadline. For one thread at a time.
// Errors name the endpoint: kBusy when a deadline passed, kIo otherwise.
class SocketStream {
 public:
  virtual ~SocketStream() = default;

  // Tries the addresses of the host one after another. With TLS (`context` of MakeClientTls) the
  // certificate must be for the host where the context verifies. Resolving a name is the system's
  // and not bounded by the deadline. Errors: kInvalid too, for a certificate that is not trusted.
  static Result<std::unique_ptr<SocketStream>> Connect(const Endpoint& endpoint,
                                                       ssl_ctx_st* context, Deadline deadline);

  // At least one byte; 0 at the end.
  virtual Result<std::size_t> Read(std::span<char> out, Deadline deadline) = 0;
  // At least one byte of them. `heed_input`: 0 when none can be written but something has come
  // (never with TLS).
  virtual Result<std::size_t> WriteSome(std::string_view bytes, Deadline deadline,
                                        bool heed_input) = 0;
  Status Write(std::string_view bytes, Deadline deadline);  // all of them
  // Nothing has come and the other side has not closed.
  virtual bool Quiet() = 0;
  // The first bytes that have come, without taking them; empty where there are none or where they
  // cannot be seen (TLS).
  virtual std::string Peek(std::size_t size_max) = 0;

  // For what was read and not yet used. It lives with the connection, so that its memory serves all
  // requests.
  InputBuffer& input() { return input_; }

 private:
  InputBuffer input_;
};

}  // namespace stele::net
