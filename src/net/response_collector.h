#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "formats/http/body.h"
#include "formats/http/message.h"
#include "net/fetch.h"

namespace stele::net {

// Takes what comes over a connection after a request and knows where the response ends. Keeps every
// byte of it, knows no socket and no clock. Not thread-safe.
class ResponseCollector {
 public:
  // Borrows `request` and `result` for life. What it learns goes into `result`, but for the bytes
  // themselves, of which about `memory_max` stay here; see pending().
  ResponseCollector(const FetchRequest& request, FetchResult& result, std::size_t memory_max);

  void OnBytes(std::string_view bytes);
  enum class End {
    kClosed,   // the other side has nothing more to say
    kBroken,   // it was cut off
    kTimeout,  // we do not wait any longer
  };
  // Instead of further bytes. Requires: !done().
  void OnEnd(End end);

  bool done() const { return state_ == State::kDone; }
  bool touched() const { return size_ > 0; }
  bool has_head() const { return state_ == State::kBody; }
  // The connection may serve another request. Requires: done().
  bool reusable() const;

  // What came after the bytes that stay in memory. Whoever takes it keeps it: TakePending().
  const std::string& pending() const { return pending_; }
  std::string TakePending() { return std::exchange(pending_, {}); }
  std::uint64_t body_size() const { return body_size_; }

  std::string TakeMemory() { return std::exchange(wire_, {}); }

 private:
  enum class State { kHead, kBody, kDone };

  void ReadHead();
  void BeginBody(const http::BodyPlan& plan);
  void OnBody(std::string_view bytes);
  void Keep(std::string_view bytes);
  void Fail(FetchFailure failure, std::string error);
  void Close(Truncation truncation);
  Truncation TruncationAt(End end);

  const FetchRequest& request_;
  FetchResult& result_;
  const std::size_t memory_max_;
  State state_ = State::kHead;
  http::ResponseParser parser_;
  std::string wire_;
  std::string pending_;
  std::uint64_t size_ = 0;  // that came, kept or not
  std::uint64_t body_size_ = 0;
  std::optional<http::TransferDecoder> decoder_;
  bool keeps_alive_ = false;  // the heads of both sides say so
};

}  // namespace stele::net
