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
  // Makes whoever has the connection Poll() soon. `over`: the worker has nothing more to do for the
  // exchange; it may be the one who polls then.
  virtual void Wake(bool over) = 0;
  // No further request will be taken from the connection.
  virtual bool Stopping() const = 0;
};

// One request and its response, shared by the connection, wherever that runs, and one worker at a
// time: a bounded queue of body bytes one way, a bounded buffer of response bytes the other way.
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

  // -- For the connection. None of these waits.

  std::size_t BodyRoom();  // 0 also asks for a wake when there is room again
  void FeedBody(std::string_view bytes);
  void EndBody();
  void FailBody(Error error);
  // The connection is gone: whoever waits gets an error.
  void Abort();

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

  // These need mutex_.
  void Wake(bool over = false);
  Status StartLocked(const ResponseStart& start, std::optional<std::uint64_t> length);
  Status AppendBody(std::string_view bytes);
  void Finish();
  void FinishWithoutResponse();

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

  std::string body_;
  std::size_t body_at_ = 0;  // read up to here
  bool body_ended_ = false;
  bool body_paused_ = false;  // the connection waits for room
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
