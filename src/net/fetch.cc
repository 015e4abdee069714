#include "net/fetch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace stele::net {
namespace {

struct FailureFacts {
  std::string_view name;
  int status;
  bool may_pass;
};
// In the order of FetchFailure.
constexpr std::array<FailureFacts, 11> kFailures{{
    {"none", 0, false},
    {"no-address", -1, true},
    {"private-address", -5001, false},
    {"connect", -2, true},
    {"lost", -3, true},
    {"timeout", -4, true},
    {"not-http", -3, false},
    {"head-too-long", -3, false},
    {"unfetchable", -7, false},
    {"local", -5, true},
    {"cancelled", -7000, true},
}};

const FailureFacts& FactsOf(FetchFailure failure) {
  return kFailures[static_cast<std::size_t>(failure)];
}

constexpr std::size_t kPiece = std::size_t{64} << 10;

// Takes the transfer coding off while it reads.
class PayloadSource final : public io::Source {
 public:
  PayloadSource(const http::BodyPlan& plan, std::unique_ptr<io::Source> body)
      : decoder_(plan), body_(std::move(body)), piece_(kPiece, '\0') {}

  Result<std::size_t> Read(std::span<char> out) override {
    for (;;) {
      if (!payload_.empty()) {
        const std::size_t size = std::min(out.size(), payload_.size());
        std::memcpy(out.data(), payload_.data(), size);
        payload_.remove_prefix(size);
        return size;
      }
      if (done_) return std::size_t{0};
      if (in_.empty()) {
        const Result<std::size_t> size = body_->Read(piece_);
        if (!size) return size;
        in_ = std::string_view(piece_).substr(0, *size);
        if (*size == 0) {
          done_ = true;
          payload_ = decoder_.Finish();
          continue;
        }
      }
      const http::TransferDecoder::Step step = decoder_.Decode(in_);
      payload_ = step.payload;
      in_.remove_prefix(step.consumed);
      done_ = step.done;
    }
  }

 private:
  http::TransferDecoder decoder_;
  std::unique_ptr<io::Source> body_;
  std::string piece_;
  std::string_view in_;       // of piece_, not yet decoded
  std::string_view payload_;  // of piece_ or of the decoder, not yet given out
  bool done_ = false;
};

}  // namespace

std::string_view NameOf(FetchFailure failure) { return FactsOf(failure).name; }
int HeritrixStatus(FetchFailure failure) { return FactsOf(failure).status; }
bool MayPass(FetchFailure failure) { return FactsOf(failure).may_pass; }

std::string_view WarcTruncated(Truncation truncation) {
  switch (truncation) {
    case Truncation::kNone:
      return "";
    case Truncation::kLength:
      return "length";
    case Truncation::kTime:
      return "time";
    case Truncation::kDisconnect:
      return "disconnect";
    case Truncation::kAborted:
      break;
  }
  return "unspecified";
}

std::unique_ptr<io::Source> FetchResult::OpenPayload() const {
  return std::make_unique<PayloadSource>(plan, response.Open(head_length));
}

std::optional<std::string_view> FetchResult::PayloadInMemory(std::string& joined) const {
  const std::optional<std::string_view> bytes = response.InMemory();
  if (!bytes) return std::nullopt;
  const std::string_view body = bytes->substr(static_cast<std::size_t>(head_length));
  if (plan.framing != http::BodyFraming::kChunked) return body;
  http::Payload payload;
  http::DecodeTransfer(plan, body, payload);
  if (payload.joined.empty()) return payload.bytes;
  joined = std::move(payload.joined);
  return joined;
}

}  // namespace stele::net
