#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "io/clock.h"
#include "net/http_handler.h"
#include "net/http_limits.h"
#include "net/request_reader.h"
#include "net/response_encoder.h"

namespace stele::net {

// What an exchange asks of whoever carries the connection's bytes. From any thread.
class ExchangeHost {
 public:
  virtual ~ExchangeHost() = default;
  // Makes the loop Poll() soon.
  virtual void Wake() = 0;
  // Sends what goes out without waiting, and returns how much that was. Called while nothing else
  // is sent, and not after Abort().
  virtual std::size_t SendNow(std::string_view bytes) = 0;
};

// One request and its response, shared by the connection on its loop and one worker at a time: a
// bounded queue of body bytes one way, a bounded buffer of response bytes the other way.
class Exchange final : public Request, public ResponseWriter {
 public:
  struct Setting {
    const HttpLimits& limits;  // these outlive the exchange
    const io::Clock& clock;
    std::string peer;
    bool secure = false;
    std::shared_ptr<ExchangeHost> host;  // at most one Wake() between two polls
  };

  // `accepted` was judged from `head`, which lies at the front of `bytes`; both are copied.
  Exchange(Setting setting, const http::RequestHead& head, const AcceptedRequest& accepted);

  // -- On the loop. None of these waits.

  std::size_t BodyRoom();  // 0 also asks for a wake when there is room again
  void FeedBody(std::string_view bytes);
  void EndBody();
  void FailBody(Error error);
  // The connection is gone: whoever waits gets an error.
  void Abort();
  // The response shall say that the connection ends, if it is not too late to say so.
  void ForbidKeepAlive();
  // Until the next Poll() nothing is being sent, and the loop will poll without being woken when
  // the client sends more: the worker may send the end of a response itself, and wakes nobody when
  // all of it went out.
  void AllowSending();

  struct Progress {
    bool started = false;      // there is a response
    bool finished = false;     // and all of it has been taken
    bool broken = false;       // and its end is missing: cut the connection
    bool keep_alive = false;   // of a finished one
    bool body_wanted = false;  // the handler has begun to read
    bool needs_pull = false;   // RunPull() shall be called by a worker; reported once
  };
  // Moves response bytes to the end of `out` unless it would then exceed the output buffer.
  Progress Poll(std::string& out);

  // Runs a handler that does not wait, and wakes nobody. Requires: the body has ended or failed.
  void RunQuickHandler(Handler& handler);

  // -- On a worker.

  void RunHandler(Handler& handler);
  void RunPull();  // more of the source given to SendFrom()

  const http::RequestHead& head() const override { return head_; }
  std::string_view path() const override { return accepted_.path; }
  std::string_view query() const override { return accepted_.query; }
  std::string_view peer() const override { return setting_.peer; }
  bool secure() const override { return setting_.secure; }
  io::Source& body() override { return body_source_; }
  std::optional<std::uint64_t> body_length() const override;

  Status Reply(const ResponseStart& start, std::string_view body) override;
  Status SendFrom(const ResponseStart& start, std::unique_ptr<io::Source> body) override;
  Status Start(const ResponseStart& start) override;
  Status Write(std::string_view bytes) override;
  Status Flush() override;
  void Abandon() override;

 private:
  class BodySource final : public io::Source {
   public:
    explicit BodySource(Exchange& exchange) : exchange_(exchange) {}
    Result<std::size_t> Read(std::span<char> out) override { return exchange_.ReadBody(out); }

   private:
    Exchange& exchange_;
  };

  void CallHandler(Handler& handler);

  // These need mutex_.
  void Wake();
  Status StartLocked(const ResponseStart& start, std::optional<std::uint64_t> length);
  Status AppendBody(std::string_view bytes);
  void Finish();
  void FinishWithoutResponse();
  bool SendTheRest();  // false: there is something left for the loop to do

  Result<std::size_t> ReadBody(std::span<char> out);

  const Setting setting_;
  const std::string bytes_;  // of the head
  http::RequestHead head_;   // in bytes_
  AcceptedRequest accepted_;
  BodySource body_source_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool wake_pending_ = false;
  bool aborted_ = false;
  bool on_loop_ = false;   // nothing may wait
  bool may_send_ = false;  // by AllowSending()

  std::string body_;
  std::size_t body_at_ = 0;  // read up to here
  bool body_ended_ = false;
  bool body_paused_ = false;  // the loop waits for room
  bool body_wanted_ = false;
  std::optional<Error> body_error_;

  std::string out_;
  ChunkWriter chunks_;
  bool keep_alive_;
  bool chunked_ = false;
  bool bodiless_ = false;              // bytes of the body are dropped
  std::optional<std::uint64_t> left_;  // of a body of known length
  bool started_ = false;
  bool finished_ = false;
  bool broken_ = false;
  std::unique_ptr<io::Source> source_;
  bool pulling_ = false;  // a worker is at it, or has been asked for
};

}  // namespace stele::net
