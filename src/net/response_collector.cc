#include "net/response_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "util/ascii.h"
#include "util/check.h"

namespace stele::net {
namespace {

using http::Defect;

// After these nobody knows where the message ends.
constexpr std::array kBrokenFraming{Defect::kShortBody,    Defect::kNotChunked,
                                    Defect::kBadChunkSize, Defect::kNoFinalChunk,
                                    Defect::kNoFinalLine,  Defect::kMissingChunkEnd};

bool Says(const std::vector<std::string_view>& list, std::string_view option) {
  return std::any_of(list.begin(), list.end(),
                     [&](std::string_view one) { return EqualsIgnoreCase(one, option); });
}

bool RequestCloses(const FetchRequest& request) {
  return std::any_of(request.fields.begin(), request.fields.end(), [](const HeaderField& field) {
    return EqualsIgnoreCase(field.name, "Connection") && EqualsIgnoreCase(field.value, "close");
  });
}

bool ResponseKeepsAlive(const http::ResponseHead& head) {
  const std::vector<std::string_view> options = head.headers.List("Connection");
  if (Says(options, "close") || head.status < 200) return false;
  if (head.version == "HTTP/1.1") return true;
  return head.version == "HTTP/1.0" && Says(options, "keep-alive");
}

}  // namespace

ResponseCollector::ResponseCollector(const FetchRequest& request, FetchResult& result,
                                     std::size_t memory_max)
    : request_(request),
      result_(result),
      memory_max_(memory_max),
      parser_(request.limits.head_size_max) {}

void ResponseCollector::OnBytes(std::string_view bytes) {
  if (bytes.empty() || done()) return;
  size_ += bytes.size();
  if (state_ == State::kHead) {
    wire_ += bytes;
    ReadHead();
  } else {
    OnBody(bytes);
  }
}

void ResponseCollector::ReadHead() {
  switch (parser_.Parse(wire_, false)) {
    case http::HeadOutcome::kNeedMore:
      return;
    case http::HeadOutcome::kTooLong:
      return Fail(FetchFailure::kHeadTooLong,
                  fmt::format("the head of the response is longer than {} bytes",
                              request_.limits.head_size_max));
    case http::HeadOutcome::kNoHead:
      result_.failure = FetchFailure::kNotHttp;
      result_.error = "the answer is not HTTP";
      return BeginBody({});  // all that comes
    case http::HeadOutcome::kComplete:
      break;
  }
  const http::ResponseHead& head = parser_.head();
  result_.head_length = head.head_length;
  result_.status = head.status;
  result_.head = std::string(head.raw);
  result_.defects = head.defects;
  const http::BodyPlan plan = http::PlanResponseBody(head, request_.method);
  keeps_alive_ = plan.defects.empty() && plan.framing != http::BodyFraming::kUntilClose &&
                 ResponseKeepsAlive(head) && !RequestCloses(request_);
  const bool abort = request_.on_head != nullptr && request_.on_head(head) == HeadVerdict::kAbort;
  if (!head.interim.empty()) {
    const std::string_view last = head.interim.back().raw;
    const auto length = static_cast<std::size_t>(last.data() + last.size() - wire_.data());
    result_.interim = wire_.substr(0, length);
    result_.head_length -= length;
    wire_.erase(0, length);  // and with it all that `head` points to
  }
  if (abort) {
    result_.plan = plan;
    wire_.resize(static_cast<std::size_t>(result_.head_length));
    return Close(Truncation::kAborted);
  }
  BeginBody(plan);
}

// What came behind the head goes the way of all later bytes.
void ResponseCollector::BeginBody(const http::BodyPlan& plan) {
  state_ = State::kBody;
  result_.plan = plan;
  decoder_.emplace(plan);
  const std::string rest = wire_.substr(static_cast<std::size_t>(result_.head_length));
  wire_.resize(static_cast<std::size_t>(result_.head_length));
  if (plan.framing == http::BodyFraming::kLength) {
    wire_.reserve(std::max(wire_.size(), static_cast<std::size_t>(std::min<std::uint64_t>(
                                             memory_max_, wire_.size() + plan.length))));
  }
  if (decoder_->Decode({}).done) {
    result_.surplus = !rest.empty();
    return Close(Truncation::kNone);
  }
  OnBody(rest);
}

void ResponseCollector::OnBody(std::string_view bytes) {
  const std::uint64_t room = request_.limits.body_size_max - body_size_;
  const bool cut = bytes.size() > room;
  std::string_view rest = bytes.substr(0, cut ? static_cast<std::size_t>(room) : bytes.size());
  std::string_view kept = rest;
  bool ended = false;
  while (!rest.empty() && !ended) {
    const http::TransferDecoder::Step step = decoder_->Decode(rest);
    result_.payload_length += step.payload.size();
    rest.remove_prefix(step.consumed);
    ended = step.done;
  }
  kept.remove_suffix(rest.size());
  Keep(kept);
  if (ended) {
    result_.surplus = kept.size() < bytes.size();
    return Close(Truncation::kNone);
  }
  if (!cut) return;
  result_.payload_length += decoder_->Finish().size();
  Close(Truncation::kLength);
}

void ResponseCollector::Keep(std::string_view bytes) {
  body_size_ += bytes.size();
  const std::size_t room = memory_max_ > wire_.size() ? memory_max_ - wire_.size() : 0;
  wire_ += bytes.substr(0, room);
  if (bytes.size() > room) pending_ += bytes.substr(room);
}

void ResponseCollector::OnEnd(End end) {
  Check(!done());
  if (state_ == State::kHead) {
    const std::string_view what = touched() ? "within the head of the response" : "";
    if (end == End::kTimeout) {
      return Fail(FetchFailure::kTimeout, fmt::format("the server took too long {}", what));
    }
    return Fail(FetchFailure::kLost,
                fmt::format("the connection ended {}", touched() ? what : "without a response"));
  }
  result_.payload_length += decoder_->Finish().size();
  Close(TruncationAt(end));
}

// What a message lacks decides, not how the connection ended: a server that says "chunked" and
// forgets the last empty line has sent everything.
Truncation ResponseCollector::TruncationAt(End end) {
  const http::Defects& defects = decoder_->defects();
  if (defects.Has(Defect::kNoFinalLine)) return Truncation::kNone;
  if (end == End::kTimeout) return Truncation::kTime;
  const bool cut = defects.Has(Defect::kShortBody) || defects.Has(Defect::kBadChunkSize) ||
                   defects.Has(Defect::kNoFinalChunk);
  return cut || end == End::kBroken ? Truncation::kDisconnect : Truncation::kNone;
}

void ResponseCollector::Fail(FetchFailure failure, std::string error) {
  result_.failure = failure;
  result_.error = std::move(error);
  state_ = State::kDone;
}

void ResponseCollector::Close(Truncation truncation) {
  result_.truncation = truncation;
  if (decoder_) result_.defects.Add(decoder_->defects());
  state_ = State::kDone;
}

bool ResponseCollector::reusable() const {
  Check(done());
  if (result_.failure != FetchFailure::kNone || result_.truncation != Truncation::kNone) {
    return false;
  }
  return keeps_alive_ && !result_.surplus &&
         std::none_of(kBrokenFraming.begin(), kBrokenFraming.end(),
                      [this](Defect defect) { return result_.defects.Has(defect); });
}

}  // namespace stele::net
