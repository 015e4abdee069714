#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/http/message.h"
#include "io/clock.h"
#include "net/exchange.h"
#include "net/http_limits.h"
#include "net/input_buffer.h"
#include "net/request_reader.h"

namespace stele::net {

// What a connection needs from whoever carries its bytes.
class ConnectionHost {
 public:
  virtual ~ConnectionHost() = default;
  // Calls `work` on a thread that may wait; not before the connection's method has returned.
  virtual void RunOnWorker(std::function<void()> work) = 0;
  // Its Wake() makes the host call OnWake() soon.
  virtual std::shared_ptr<ExchangeHost> ForExchanges() = 0;
};

// One connection of the server without its socket: bytes come in, bytes go out, requests go to the
// handler one after another. For one thread at a time. It never waits and keeps no time: the host
// asks what is waited for and says when that has taken too long.
//
//   kHead ──▶ kExchange ──▶ kHead …
//     │           └──▶ kDrain (unread body) ──▶ kHead
//     └──▶ kFlush (last response) ──▶ kLinger (until the client closes) ──▶ kClosed
class ServerConnection {
 public:
  struct Setting {
    const HttpLimits& limits;  // all of these outlive the connection
    const io::Clock& clock;
    Handler& handler;
    ConnectionHost& host;
    std::string peer;
    bool secure = false;
  };
  explicit ServerConnection(Setting setting);
  ~ServerConnection();

  // What the next bytes from the client are awaited for.
  enum class Wait {
    kNothing,  // do not read
    kRequest,  // the client is idle
    kHead,     // the rest of a head
    kBody,
    kLinger,  // what comes is dropped
  };
  Wait wait() const;
  // Nothing more has to come for the request that is being handled.
  bool whole_request() const { return state_ == State::kExchange && body_->done(); }

  std::span<char> InputRoom();
  void OnInput(std::size_t size);  // so many bytes are now in the InputRoom()
  void OnEof();
  void OnWake();
  void OnTimeout();  // of wait()
  void OnStop();     // the server ends: finish what is under way, begin nothing new
  void Abort();      // the connection is lost

  // To be sent; stays where it is until OnOutput().
  std::string_view output() const { return std::string_view(sending_).substr(sent_); }
  void OnOutput(std::size_t size);  // so many bytes of it were sent

  // All is sent: the sending side shall be closed.
  bool lingering() const { return state_ == State::kLinger; }
  bool closed() const { return state_ == State::kClosed; }
  // The client shall notice that something is missing: close with a reset.
  bool cut() const { return cut_; }

 private:
  enum class State { kHead, kExchange, kDrain, kFlush, kLinger, kClosed };

  void Advance();
  bool Step();  // false: nothing more to do until something happens
  bool StepHead();
  bool StepExchange();
  bool StepDrain();
  void BeginExchange();
  void ReadBody();
  void Dispatch();
  bool EndExchange(const Exchange::Progress& progress);
  void Refuse(int status, std::string_view text);
  void NextOutput();

  bool BodyEnded() const { return body_->done() || body_failed_; }

  const Setting setting_;
  State state_ = State::kHead;
  bool stopping_ = false;
  bool eof_ = false;
  bool cut_ = false;

  InputBuffer in_;
  http::RequestParser parser_;
  std::string sending_;
  std::size_t sent_ = 0;
  std::string next_;  // to be sent after `sending_`

  // Of kExchange and kDrain.
  std::shared_ptr<Exchange> exchange_;
  std::optional<BodyReader> body_;
  bool body_failed_ = false;
  bool body_full_ = false;  // no room until the handler reads
  bool dispatched_ = false;
  bool expecting_ = false;  // the client waits for 100 Continue
  bool keep_alive_ = false;
  std::size_t drain_left_ = 0;
};

}  // namespace stele::net
