// Chunk data is handed on in the caller's own bytes; only size lines and trailers are looked at
// byte by byte. A size line is remembered until its line feed, so that a line that turns out to be
// no size line can be given out as payload.
#include <algorithm>

#include "formats/http/body.h"
#include "util/ascii.h"

namespace stele::http {
namespace {

constexpr std::size_t kSizeLineMax = 4096;
constexpr std::size_t kTrailersMax = std::size_t{64} << 10;
constexpr std::uint64_t kChunkSizeMax = std::uint64_t{1} << 62;

}  // namespace

TransferDecoder::TransferDecoder(const BodyPlan& plan) : defects_(plan.defects) {
  switch (plan.framing) {
    case BodyFraming::kNone:
      state_ = State::kDone;
      break;
    case BodyFraming::kLength:
      state_ = plan.length > 0 ? State::kLength : State::kDone;
      left_ = plan.length;
      break;
    case BodyFraming::kChunked:
      state_ = State::kSize;
      break;
    case BodyFraming::kUntilClose:
      state_ = State::kAll;
      break;
  }
}

TransferDecoder::Step TransferDecoder::Decode(std::string_view in) {
  switch (state_) {
    case State::kDone:
      return {0, {}, true};
    case State::kAll:
      return {in.size(), in, false};
    case State::kLength:
    case State::kData:
      return Pass(in);
    case State::kHeld:
      state_ = State::kAll;
      if (held_.empty()) return {in.size(), in, false};
      return {0, held_, false};
    default:
      return DecodeFraming(in);
  }
}

TransferDecoder::Step TransferDecoder::Pass(std::string_view in) {
  const std::string_view payload = in.substr(0, left_);
  left_ -= payload.size();
  if (left_ == 0) state_ = state_ == State::kData ? State::kDataEnd : State::kDone;
  return {payload.size(), payload, state_ == State::kDone};
}

// Framing up to the next byte of payload.
TransferDecoder::Step TransferDecoder::DecodeFraming(std::string_view in) {
  std::size_t at = 0;
  while (at < in.size() && state_ != State::kDone) {
    if (state_ == State::kData || state_ == State::kHeld) {
      Step step = Decode(in.substr(at));
      step.consumed += at;
      return step;
    }
    if (AcceptFraming(in[at])) ++at;
  }
  return {at, {}, state_ == State::kDone};
}

bool TransferDecoder::AcceptFraming(char c) {
  switch (state_) {
    case State::kDataEnd:
      if (c == '\r') {
        state_ = State::kDataFeed;
        return true;
      }
      if (c == '\n') defects_.Add(Defect::kChunkLineFeed);
      if (c != '\n') defects_.Add(Defect::kMissingChunkEnd);
      state_ = State::kSize;
      return c == '\n';
    case State::kDataFeed:
      if (c != '\n') defects_.Add(Defect::kMissingChunkEnd);
      state_ = State::kSize;
      return c == '\n';
    case State::kTrailer:
      return AcceptTrailer(c);
    default:
      return AcceptSizeLine(c);
  }
}

bool TransferDecoder::AcceptSizeLine(char c) {
  const bool blank = c == ' ' || c == '\t';
  if (held_.size() == kSizeLineMax) return GiveUp();
  if (state_ == State::kSize && HexValue(c) >= 0) {
    if (size_ >= kChunkSizeMax / 16) return GiveUp();
    size_ = size_ * 16 + static_cast<std::uint64_t>(HexValue(c));
    digits_ = true;
  } else if (state_ == State::kSize && !digits_) {
    if (!blank) return GiveUp();
    blank_ = true;
  } else if (c == '\n') {
    const bool bare =
        state_ == State::kExtension ? held_.back() != '\r' : state_ != State::kSizeFeed;
    if (bare && first_) return GiveUp();
    if (bare) defects_.Add(Defect::kChunkLineFeed);
    EndSizeLine();
    return true;
  } else if (state_ == State::kExtension) {
    // Anything.
  } else if (c == '\r') {
    blank_ |= state_ == State::kSizeFeed;
    state_ = State::kSizeFeed;
  } else if (blank) {
    // Also after a CR: some servers fill the size up with blanks and carriage returns.
    blank_ = true;
    state_ = State::kAfterSize;
  } else if (c == ';' && state_ != State::kSizeFeed) {
    state_ = State::kExtension;
  } else {
    return GiveUp();
  }
  held_ += c;
  return true;
}

void TransferDecoder::EndSizeLine() {
  if (blank_) defects_.Add(Defect::kSpaceInChunkSize);
  left_ = size_;
  state_ = size_ > 0 ? State::kData : State::kTrailer;
  first_ = false;
  size_ = 0;
  digits_ = false;
  blank_ = false;
  held_.clear();
}

bool TransferDecoder::GiveUp() {
  defects_.Add(first_ ? Defect::kNotChunked : Defect::kBadChunkSize);
  state_ = State::kHeld;
  return false;
}

bool TransferDecoder::AcceptTrailer(char c) {
  if (c == '\n') {
    const bool empty = line_size_ == 0 || (line_size_ == 1 && trailers_.back() == '\r');
    if (empty) {
      if (line_size_ == 0) defects_.Add(Defect::kChunkLineFeed);
      trailers_.resize(trailers_.size() - line_size_);
      state_ = State::kDone;
      return true;
    }
    if (!line_colon_) defects_.Add(Defect::kBadTrailer);
    line_size_ = 0;
    line_colon_ = false;
  } else {
    ++line_size_;
    line_colon_ |= c == ':';
  }
  trailers_ += c;
  if (trailers_.size() == kTrailersMax) {
    defects_.Add(Defect::kBadTrailer);
    state_ = State::kDone;
  }
  return true;
}

std::string_view TransferDecoder::Finish() {
  const State state = state_;
  state_ = State::kDone;
  switch (state) {
    case State::kDone:
    case State::kAll:
      return {};
    case State::kLength:
      defects_.Add(Defect::kShortBody);
      return {};
    case State::kHeld:
      return held_;
    case State::kTrailer:
      defects_.Add(Defect::kNoFinalLine);
      return {};
    default:
      break;
  }
  // A size line that never ended: payload where nothing was chunked so far, else a cut-off frame.
  if (first_ && !held_.empty()) {
    defects_.Add(Defect::kNotChunked);
    return held_;
  }
  defects_.Add(Defect::kNoFinalChunk);
  return {};
}

void DecodeTransfer(const BodyPlan& plan, std::string_view body, Payload& payload) {
  TransferDecoder decoder(plan);
  payload.joined.clear();
  payload.bytes = {};
  std::string_view first;
  int pieces = 0;
  const auto take = [&](std::string_view piece, bool in_body) {
    if (piece.empty()) return;
    // One piece within the body is the payload itself; a second one makes it a copy.
    if (pieces++ == 0 && in_body) {
      first = piece;
      return;
    }
    if (!first.empty()) {
      payload.joined.reserve(body.size());
      payload.joined.append(first);
      first = {};
    }
    payload.joined.append(piece);
  };
  while (!body.empty()) {
    const TransferDecoder::Step step = decoder.Decode(body);
    take(step.payload, step.consumed >= step.payload.size());
    body.remove_prefix(step.consumed);
    if (step.done) break;
  }
  take(decoder.Finish(), false);
  payload.bytes = first.empty() ? std::string_view(payload.joined) : first;
  payload.defects = decoder.defects();
}

}  // namespace stele::http
