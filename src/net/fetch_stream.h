#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/event_loop.h"
#include "net/fetch.h"
#include "net/fetch_tls.h"
#include "net/ip_address.h"

namespace stele::net {

struct StreamOutcome {
  enum class How : std::uint8_t {
    kGood,
    kEnd,     // the other side has nothing more to say
    kBroken,  // `error` says how
    kLocal,   // this machine has no descriptor, port or memory for it
  };
  How how = How::kGood;
  std::size_t size = 0;
  std::string error;

  bool good() const { return how == How::kGood; }
};

// A connection that calls back. All calls, and all callbacks, on the loop's thread; one operation
// at a time. An operation keeps the stream alive until its callback was called, which always
// happens later, never within the call.
class FetchStream {
 public:
  using Done = std::function<void(const StreamOutcome&)>;

  virtual ~FetchStream() = default;

  // Where a former try failed, it may be called again.
  virtual void Connect(const IpAddress& address, std::uint16_t port, Done done) = 0;
  // The TLS handshake, with any server. `key` tells it from others whose sessions are remembered.
  virtual void Secure(const std::string& host, const std::string& key, Done done) = 0;
  // All of `bytes`, which must live until then.
  virtual void Write(std::string_view bytes, Done done) = 0;
  virtual void Read(std::span<char> out, Done done) = 0;

  // Nothing has come and the other side has not closed.
  virtual bool Quiet() = 0;
  // The operation under way ends as broken.
  virtual void Close() = 0;

  // After Secure().
  virtual std::shared_ptr<const TlsFacts> tls() const = 0;
};

std::shared_ptr<FetchStream> NewFetchStream(EventLoop& loop, std::shared_ptr<FetchTls> tls);

}  // namespace stele::net
