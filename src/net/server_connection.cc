// Advance() takes steps until none is possible; every event only changes what it is about and
// advances. Requests of one connection are handled one after another, so pipelining needs no queue:
// bytes of later requests wait in the input, and beyond its size in the client.
#include "net/server_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "util/check.h"

namespace stele::net {
namespace {

constexpr std::size_t kHeadRead = std::size_t{16} << 10;
constexpr std::size_t kBodyRead = std::size_t{64} << 10;
constexpr std::size_t kIdleInput = std::size_t{16} << 10;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

ServerConnection::ServerConnection(Setting setting)
    : setting_(std::move(setting)), parser_(setting_.limits.head_size_max) {}

ServerConnection::~ServerConnection() {
  if (exchange_) exchange_->Abort();
}

// ---- Events ----

std::span<char> ServerConnection::InputRoom() {
  if (state_ == State::kLinger) in_.Clear();
  const bool body = (state_ == State::kExchange && !BodyEnded()) || state_ == State::kDrain;
  return in_.Room(body ? kBodyRead : kHeadRead);
}

void ServerConnection::OnInput(std::size_t size) {
  in_.Added(size);
  Advance();
}

void ServerConnection::OnEof() {
  eof_ = true;
  Advance();
}

void ServerConnection::OnWake() { Advance(); }

void ServerConnection::OnTimeout() {
  switch (wait()) {
    case Wait::kNothing:
      return;
    case Wait::kRequest:
    case Wait::kLinger:
      state_ = State::kClosed;
      return;
    case Wait::kHead:
      Refuse(408, "The head of the request took too long to arrive.");
      break;
    case Wait::kBody:
      if (state_ == State::kDrain) {
        state_ = State::kFlush;
      } else if (dispatched_) {
        body_failed_ = true;
        exchange_->FailBody({ErrorCode::kIo, "the body took too long to arrive"});
      } else {
        Refuse(408, "The body of the request took too long to arrive.");
      }
      break;
  }
  Advance();
}

void ServerConnection::OnStop() {
  stopping_ = true;
  Advance();
}

void ServerConnection::Abort() {
  if (exchange_) exchange_->Abort();
  exchange_.reset();
  state_ = State::kClosed;
  cut_ = true;
}

void ServerConnection::OnOutput(std::size_t size) {
  sent_ += size;
  Check(sent_ <= sending_.size());
  if (sent_ == sending_.size()) Advance();
}

ServerConnection::Wait ServerConnection::wait() const {
  if (eof_) return Wait::kNothing;
  switch (state_) {
    case State::kHead:
      // A client that takes no responses gets no further requests read.
      if (!output().empty() || !next_.empty()) return Wait::kNothing;
      return in_.empty() ? Wait::kRequest : Wait::kHead;
    case State::kExchange:
      return BodyEnded() || expecting_ || body_full_ ? Wait::kNothing : Wait::kBody;
    case State::kDrain:
      return Wait::kBody;
    case State::kLinger:
      return Wait::kLinger;
    default:
      return Wait::kNothing;
  }
}

// ---- Steps ----

void ServerConnection::Advance() {
  do {
    NextOutput();
  } while (Step());
  NextOutput();
}

void ServerConnection::NextOutput() {
  if (sent_ < sending_.size() || next_.empty()) return;
  sending_.clear();
  sent_ = 0;
  sending_.swap(next_);
}

bool ServerConnection::Step() {
  switch (state_) {
    case State::kHead:
      return StepHead();
    case State::kExchange:
      return StepExchange();
    case State::kDrain:
      return StepDrain();
    case State::kFlush:
      if (!output().empty() || !next_.empty()) return false;
      state_ = eof_ || cut_ ? State::kClosed : State::kLinger;
      return true;
    case State::kLinger:
      if (eof_) state_ = State::kClosed;
      return false;
    case State::kClosed:
      return false;
  }
  return false;
}

bool ServerConnection::StepHead() {
  if (!next_.empty()) return false;
  if (in_.empty()) {
    if (eof_ || stopping_) {
      state_ = State::kFlush;
      return true;
    }
    if (output().empty()) in_.Shrink(kIdleInput);
    return false;
  }
  switch (parser_.Parse(in_.view(), false)) {
    case http::HeadOutcome::kComplete:
      BeginExchange();
      return true;
    case http::HeadOutcome::kNeedMore:
      if (!eof_) return false;
      Refuse(400, "Bad request: the connection ended before the head did.");
      return true;
    case http::HeadOutcome::kTooLong:
      Refuse(431, fmt::format("The head of the request is longer than {} bytes.",
                              setting_.limits.head_size_max));
      return true;
    case http::HeadOutcome::kNoHead:
      Refuse(400, "Bad request: this is no HTTP request.");
      return true;
  }
  return false;
}

void ServerConnection::BeginExchange() {
  const http::RequestHead& head = parser_.head();
  AcceptedRequest accepted;
  if (const auto refusal = JudgeHead(head, in_.view(), setting_.limits.body_size_max, accepted)) {
    Refuse(refusal->status, refusal->text);
    return;
  }
  if (stopping_) accepted.keep_alive = false;
  exchange_ =
      std::make_shared<Exchange>(Exchange::Setting{setting_.limits, setting_.clock, setting_.peer,
                                                   setting_.secure, setting_.host.ForExchanges()},
                                 head, accepted);
  body_.emplace(accepted.plan, setting_.limits.body_size_max);
  if (body_->done()) exchange_->EndBody();
  body_failed_ = false;
  body_full_ = false;
  dispatched_ = false;
  in_.Consume(head.head_length);
  // A client that sends its body at once waits for nothing.
  expecting_ = accepted.expect_continue && in_.empty();
  parser_.Reset();
  state_ = State::kExchange;
}

void ServerConnection::ReadBody() {
  while (!BodyEnded() && !expecting_) {
    const std::size_t room = exchange_->BodyRoom();
    body_full_ = room == 0;
    if (body_full_) return;
    if (in_.empty()) {
      if (!eof_) return;
      body_failed_ = true;
      exchange_->FailBody({ErrorCode::kIo, "the connection ended before the body did"});
      return;
    }
    const Result<BodyReader::Step> step = body_->Decode(in_.view().substr(0, room));
    if (!step) {
      body_failed_ = true;
      exchange_->FailBody(step.error());
      return;
    }
    if (!step->payload.empty()) exchange_->FeedBody(step->payload);
    in_.Consume(step->consumed);
    if (step->done) exchange_->EndBody();
  }
}

void ServerConnection::Dispatch() {
  dispatched_ = true;
  setting_.host.RunOnWorker(
      [exchange = exchange_, handler = &setting_.handler] { exchange->RunHandler(*handler); });
}

bool ServerConnection::StepExchange() {
  // First: whatever the worker does after this look wakes us again.
  Exchange::Progress progress;
  if (dispatched_) progress = exchange_->Poll(next_);
  ReadBody();
  if (!dispatched_) {
    if (body_failed_) {
      // Nobody has seen the request: the same answers as for a handler that gives none.
      class NoHandler final : public Handler {
        void Handle(Request&, ResponseWriter&) override {}
      } none;
      dispatched_ = true;
      exchange_->RunHandler(none);
      return true;
    }
    if (body_->done() || body_full_ || expecting_) Dispatch();
    return false;
  }
  if (progress.needs_pull) {
    setting_.host.RunOnWorker([exchange = exchange_] { exchange->RunPull(); });
  }
  if (progress.finished) return EndExchange(progress);
  if (expecting_ && progress.body_wanted) {
    if (!progress.started) next_ += kContinue;
    expecting_ = false;
    return true;
  }
  return false;
}

bool ServerConnection::EndExchange(const Exchange::Progress& progress) {
  exchange_.reset();
  keep_alive_ = progress.keep_alive && !progress.broken && !body_failed_ && !stopping_;
  cut_ = progress.broken;
  const bool unread = !BodyEnded();
  if (cut_ || body_failed_ || (unread && expecting_)) {
    state_ = State::kFlush;
  } else if (unread) {
    drain_left_ = setting_.limits.drain_max;
    state_ = State::kDrain;
  } else {
    state_ = keep_alive_ ? State::kHead : State::kFlush;
  }
  return true;
}

bool ServerConnection::StepDrain() {
  while (!in_.empty()) {
    const Result<BodyReader::Step> step = body_->Decode(in_.view());
    if (!step || step->consumed > drain_left_) {
      state_ = State::kFlush;
      return true;
    }
    drain_left_ -= step->consumed;
    in_.Consume(step->consumed);
    if (step->done) {
      state_ = keep_alive_ ? State::kHead : State::kFlush;
      return true;
    }
  }
  if (!eof_) return false;
  state_ = State::kFlush;
  return true;
}

void ServerConnection::Refuse(int status, std::string_view text) {
  if (exchange_) exchange_->Abort();
  exchange_.reset();
  AppendRefusal(status, text, setting_.clock.Now(), next_);
  state_ = State::kFlush;
}

}  // namespace stele::net
