// The worker fills `out_` and wakes the connection when there is enough to send or nothing more
// will come; the connection takes all of it at once. So a large response alternates between two
// buffers: one is sent while the next is filled.
#include "net/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "util/check.h"

namespace stele::net {
namespace {

constexpr std::size_t kHeadSize = 256;  // of most responses
constexpr std::size_t kPullSize = std::size_t{64} << 10;

Error ClientGone() {
  return {ErrorCode::kIo, "the client has closed the connection or is too slow"};
}

std::string_view Rebase(std::string_view view, const char* from, const std::string& to) {
  return view.empty() ? std::string_view()
                      : std::string_view(to).substr(view.data() - from, view.size());
}

}  // namespace

Status ResponseWriter::Reply(int status, std::string_view content_type, std::string_view body) {
  ResponseStart start;
  start.status = status;
  start.fields.push_back({"Content-Type", std::string(content_type)});
  return Reply(start, body);
}

Exchange::Exchange(Setting setting, const http::RequestHead& head, const AcceptedRequest& accepted)
    : setting_(std::move(setting)),
      bytes_(head.raw),
      accepted_(accepted),
      body_source_(*this),
      keep_alive_(accepted.keep_alive) {
  const char* const from = head.raw.data();
  head_.method = Rebase(head.method, from, bytes_);
  head_.target = Rebase(head.target, from, bytes_);
  head_.version = Rebase(head.version, from, bytes_);
  for (const http::Field& field : head.headers.fields()) {
    head_.headers.Add(Rebase(field.name, from, bytes_), Rebase(field.value, from, bytes_));
  }
  head_.raw = bytes_;
  head_.head_length = bytes_.size();
  head_.defects = head.defects;
  // "/" stands for the path of a target that has none, and is not in the head.
  accepted_.path = accepted.path == "/" ? "/" : Rebase(accepted.path, from, bytes_);
  accepted_.query = Rebase(accepted.query, from, bytes_);
}

std::optional<std::uint64_t> Exchange::body_length() const {
  if (accepted_.plan.framing == http::BodyFraming::kChunked) return std::nullopt;
  return accepted_.plan.length;
}

void Exchange::Wake(bool over) {
  if (std::exchange(wake_pending_, true)) return;
  setting_.host->Wake(over);
}

// ---- For the connection ----

std::size_t Exchange::BodyRoom() {
  const std::lock_guard lock(mutex_);
  const std::size_t held = body_.size() - body_at_;
  const std::size_t room =
      setting_.limits.body_buffer - std::min(setting_.limits.body_buffer, held);
  body_paused_ = room == 0;
  return room;
}

void Exchange::FeedBody(std::string_view bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (body_at_ > 0) body_.erase(0, std::exchange(body_at_, 0));
    body_ += bytes;
  }
  changed_.notify_all();
}

void Exchange::EndBody() {
  {
    const std::lock_guard lock(mutex_);
    body_ended_ = true;
  }
  changed_.notify_all();
}

void Exchange::FailBody(Error error) {
  {
    const std::lock_guard lock(mutex_);
    body_error_ = std::move(error);
    keep_alive_ = false;
  }
  changed_.notify_all();
}

void Exchange::Abort() {
  {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
  }
  changed_.notify_all();
}

Exchange::Progress Exchange::Poll(std::string& out) {
  Progress progress;
  bool taken = false;
  {
    const std::lock_guard lock(mutex_);
    wake_pending_ = false;
    if (!out_.empty() &&
        (out.empty() || out.size() + out_.size() <= setting_.limits.output_buffer)) {
      chunks_.CloseChunk(out_);
      if (out.empty()) {
        out.swap(out_);
      } else {
        out += out_;
      }
      out_.clear();
      taken = true;
    }
    progress.started = started_;
    progress.finished = finished_ && out_.empty();
    progress.broken = broken_;
    progress.keep_alive = keep_alive_;
    progress.body_wanted = body_wanted_;
    progress.needs_pull = source_ != nullptr && !pulling_ && !finished_ && out_.empty();
    pulling_ |= progress.needs_pull;
  }
  if (taken) changed_.notify_all();
  return progress;
}

// ---- On a worker ----

Result<std::size_t> Exchange::ReadBody(std::span<char> out) {
  std::unique_lock lock(mutex_);
  if (!std::exchange(body_wanted_, true) && !body_ended_) Wake();
  changed_.wait(
      lock, [this] { return aborted_ || body_at_ < body_.size() || body_ended_ || body_error_; });
  if (aborted_) return ClientGone();
  if (body_at_ == body_.size()) {
    if (body_error_) return *body_error_;
    return std::size_t{0};
  }
  const std::size_t size = std::min(out.size(), body_.size() - body_at_);
  std::memcpy(out.data(), body_.data() + body_at_, size);
  body_at_ += size;
  if (body_at_ == body_.size()) {
    body_.clear();
    body_at_ = 0;
    if (std::exchange(body_paused_, false)) Wake();
  }
  return size;
}

Status Exchange::StartLocked(const ResponseStart& start, std::optional<std::uint64_t> length) {
  if (aborted_) return ClientGone();
  if (started_) return Error{ErrorCode::kInvalid, "a response was already started"};
  if (Status good = CheckStart(start); !good) return good;
  started_ = true;
  bodiless_ = head_.method == "HEAD" || !StatusHasBody(start.status);
  left_ = length;
  chunked_ = !length && !bodiless_ && !accepted_.http_1_0;
  if (!length && !bodiless_ && accepted_.http_1_0) keep_alive_ = false;
  if (setting_.host->Stopping()) keep_alive_ = false;
  ConnectionField connection = ConnectionField::kNone;
  if (!keep_alive_) connection = ConnectionField::kClose;
  if (keep_alive_ && accepted_.http_1_0) connection = ConnectionField::kKeepAlive;
  // The length of a 304 is that of another response: none is known unless the handler says it.
  if (!StatusHasBody(start.status)) length = start.length;
  out_.reserve(kHeadSize + std::min<std::uint64_t>(length.value_or(0), kPullSize));
  AppendHead(start, length, chunked_, connection, setting_.clock.Now(), out_);
  return {};
}

Status Exchange::AppendBody(std::string_view bytes) {
  if (left_) {
    if (bytes.size() > *left_) {
      broken_ = true;
      return Error{ErrorCode::kInvalid, "the body is longer than the response said"};
    }
    *left_ -= bytes.size();
  }
  if (bodiless_) return {};
  if (chunked_) {
    chunks_.Append(bytes, out_);
  } else {
    out_ += bytes;
  }
  return {};
}

Status Exchange::Reply(const ResponseStart& start, std::string_view body) {
  const std::lock_guard lock(mutex_);
  if (start.length && *start.length != body.size()) {
    return Error{ErrorCode::kInvalid, "the body does not have the length that the response says"};
  }
  if (Status good = StartLocked(start, body.size()); !good) return good;
  return AppendBody(body);
}

Status Exchange::SendFrom(const ResponseStart& start, std::unique_ptr<io::Source> body) {
  const std::lock_guard lock(mutex_);
  if (Status good = StartLocked(start, start.length); !good) return good;
  if (bodiless_) {
    left_.reset();
    return {};
  }
  source_ = std::move(body);
  pulling_ = true;
  return {};
}

Status Exchange::Start(const ResponseStart& start) {
  const std::lock_guard lock(mutex_);
  return StartLocked(start, start.length);
}

Status Exchange::Write(std::string_view bytes) {
  const std::size_t limit = setting_.limits.output_buffer;
  std::unique_lock lock(mutex_);
  if (!started_ || source_ != nullptr) {
    return Error{ErrorCode::kInvalid, "Write() needs a Start() before it"};
  }
  while (!bytes.empty()) {
    if (out_.size() >= limit) {
      Wake();
      changed_.wait(lock, [this, limit] { return aborted_ || out_.size() < limit; });
    }
    if (aborted_) return ClientGone();
    const std::string_view piece =
        bodiless_ ? bytes : bytes.substr(0, limit - std::min(limit, out_.size()));
    if (Status good = AppendBody(piece); !good) return good;
    bytes.remove_prefix(piece.size());
  }
  return {};
}

Status Exchange::Flush() {
  const std::lock_guard lock(mutex_);
  if (aborted_) return ClientGone();
  if (!out_.empty()) Wake();
  return {};
}

void Exchange::Abandon() {
  const std::lock_guard lock(mutex_);
  broken_ = true;
}

void Exchange::FinishWithoutResponse() {
  if (!body_error_) {
    keep_alive_ = false;
    out_.clear();
    started_ = true;
    AppendRefusal(500, "The server has no answer to this request.", setting_.clock.Now(), out_);
    return;
  }
  int status = 400;
  if (body_error_->code == ErrorCode::kFull) status = 413;
  if (body_error_->code == ErrorCode::kIo) status = 408;
  started_ = true;
  AppendRefusal(status, fmt::format("Bad request: {}.", body_error_->text), setting_.clock.Now(),
                out_);
}

void Exchange::Finish() {
  if (!started_ && !broken_) FinishWithoutResponse();
  if (left_.value_or(0) > 0 && !bodiless_) broken_ = true;
  if (chunked_ && !broken_) chunks_.End(out_);
  finished_ = true;
  source_.reset();
  Wake(true);
}

void Exchange::RunHandler(Handler& handler) {
  bool threw = false;
  try {
    handler.Handle(*this, *this);
  } catch (...) {
    threw = true;
  }
  {
    const std::lock_guard lock(mutex_);
    if (threw && started_) broken_ = true;
    if (source_ == nullptr || broken_) return Finish();
  }
  RunPull();  // nobody else touches the source before that
}

void Exchange::RunPull() {
  const std::unique_ptr<char[]> room(new char[kPullSize]);
  const std::span<char> piece(room.get(), kPullSize);
  for (;;) {
    Result<std::size_t> size = std::size_t{0};
    try {
      size = source_->Read(piece);
    } catch (...) {
      size = Error{ErrorCode::kIo, "the source of a response threw"};
    }
    const std::lock_guard lock(mutex_);
    if (!size || aborted_) broken_ = true;
    const bool ended = broken_ || *size == 0;
    if (ended || !AppendBody(std::string_view(piece.data(), *size))) {
      Finish();
      return;
    }
    if (out_.size() + kPullSize > setting_.limits.output_buffer) {
      pulling_ = false;
      Wake();
      return;
    }
  }
}

}  // namespace stele::net
