#include "formats/record/payload.h"

#include <algorithm>

#include "util/ascii.h"

namespace stele::record {
namespace {

// Most heads are shorter; of a longer one, more is looked at.
constexpr std::size_t kHeadBytesUsual = 2048;

bool IsHttpUri(std::string_view uri) {
  return StartsWithIgnoreCase(uri, "http:") || StartsWithIgnoreCase(uri, "https:");
}

}  // namespace

BlockKind BlockKindOf(const Record& record) {
  // Writers forget or misspell the msgtype, so the type of the record decides.
  const bool http = record.content_type.empty()
                        ? IsHttpUri(record.target_uri)
                        : StartsWithIgnoreCase(record.content_type, "application/http");
  if (!http) return BlockKind::kOther;
  switch (record.type) {
    case RecordType::kResponse:
    case RecordType::kRevisit:
      return BlockKind::kHttpResponse;
    case RecordType::kRequest:
      return BlockKind::kHttpRequest;
    default:
      return BlockKind::kOther;
  }
}

void PayloadStream::Begin(const Record& record) {
  kind_ = BlockKindOf(record);
  state_ = kind_ == BlockKind::kOther ? State::kPayload : State::kHead;
  has_head_ = false;
  collected_.clear();
  head_length_ = 0;
  decoder_.reset();
  head_defects_ = {};
  response_parser_.Reset();
  request_parser_.Reset();
}

void PayloadStream::Feed(std::string_view piece, PayloadSink* sink) {
  if (state_ == State::kHead) {
    const std::size_t before = collected_.size();
    if (!CollectHead(piece)) return;
    if (head_length_ < before) {
      // What seemed to be of a head, and is not.
      TakeBody(std::string_view(collected_).substr(head_length_, before - head_length_), sink);
    } else {
      piece.remove_prefix(head_length_ - before);
    }
  }
  TakeBody(piece, sink);
}

void PayloadStream::Finish(PayloadSink* sink) {
  if (state_ == State::kHead) {
    TakeHead(/*at_end=*/true);
    TakeBody(std::string_view(collected_).substr(head_length_), sink);
  }
  if (decoder_) {
    const std::string_view last = decoder_->Finish();
    if (sink != nullptr && !last.empty()) sink->OnPayload(last);
  }
}

bool PayloadStream::CollectHead(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t some = std::min(piece.size(), std::max(kHeadBytesUsual, collected_.size()));
    collected_ += piece.substr(0, some);
    if (TakeHead(/*at_end=*/false)) return true;
    piece.remove_prefix(some);
  }
  return false;
}

bool PayloadStream::TakeHead(bool at_end) {
  const bool response = kind_ == BlockKind::kHttpResponse;
  const http::HeadOutcome outcome = response ? response_parser_.Parse(collected_, at_end)
                                             : request_parser_.Parse(collected_, at_end);
  if (outcome == http::HeadOutcome::kNeedMore) return false;
  has_head_ = outcome == http::HeadOutcome::kComplete;
  state_ = has_head_ ? State::kBody : State::kPayload;
  if (has_head_) {
    head_length_ =
        response ? response_parser_.head().head_length : request_parser_.head().head_length;
    head_defects_ = response ? response_parser_.head().defects : request_parser_.head().defects;
    const http::Headers& headers =
        response ? response_parser_.head().headers : request_parser_.head().headers;
    decoder_.emplace(http::PlanStoredBody(headers));
  }
  return true;
}

void PayloadStream::TakeBody(std::string_view bytes, PayloadSink* sink) {
  if (sink == nullptr || bytes.empty()) return;
  if (state_ == State::kPayload) {
    sink->OnPayload(bytes);
    return;
  }
  while (!bytes.empty()) {
    const http::TransferDecoder::Step step = decoder_->Decode(bytes);
    if (!step.payload.empty()) sink->OnPayload(step.payload);
    bytes.remove_prefix(step.consumed);
    if (step.done) break;
  }
}

const http::ResponseHead* PayloadStream::response() const {
  return has_head_ && kind_ == BlockKind::kHttpResponse ? &response_parser_.head() : nullptr;
}

const http::RequestHead* PayloadStream::request() const {
  return has_head_ && kind_ == BlockKind::kHttpRequest ? &request_parser_.head() : nullptr;
}

http::Defects PayloadStream::defects() const {
  http::Defects all = head_defects_;
  if (decoder_) all.Add(decoder_->defects());
  return all;
}

}  // namespace stele::record
