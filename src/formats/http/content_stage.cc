// A label is wrong when the first stream fails before it gave a byte; until then its input is kept,
// so that it can be passed on as it is. A later stream that fails before it gave a byte is no
// stream but trailing bytes.
#include "formats/http/content_stage.h"

#include <algorithm>
#include <cstring>

namespace stele::http {
namespace {

constexpr std::size_t kHeldMax = std::size_t{64} << 10;

}  // namespace

ContentStage::ContentStage(std::unique_ptr<codec::Decoder> decoder, bool several,
                           const ContentLimits& limits)
    : decoder_(std::move(decoder)), several_(several), limits_(limits) {}

codec::Buffer& ContentStage::EmptyLink() {
  link_.Clear();
  taken_ = 0;
  return link_;
}

ContentDecoder::Step ContentStage::Decode(std::string_view in, std::span<char> out, bool last) {
  ContentDecoder::Step total;
  for (;;) {
    const std::string_view rest = in.substr(total.consumed);
    const std::span<char> room = out.subspan(total.produced);
    if (state_ == State::kBetween) {
      if (rest.empty()) {
        total.done = last;
        return total;
      }
      if (several_) {
        decoder_->Reset();
        state_ = State::kDecode;
        first_ = false;
        stream_in_ = 0;
        stream_out_ = 0;
      } else {
        defects_.Add(Defect::kTrailingContent);
        state_ = State::kEnd;
      }
    }
    if (state_ == State::kEnd) {
      total.consumed = in.size();
      total.done = true;
      return total;
    }
    const State before = state_;
    const ContentDecoder::Step step =
        state_ == State::kPass ? Pass(rest, room, last) : DecodeStream(rest, room, last);
    total.consumed += step.consumed;
    total.produced += step.produced;
    total.done = step.done;
    const bool idle = state_ == before && step.consumed == 0 && step.produced == 0;
    if (step.done || idle) return total;
    if (total.produced == out.size()) return total;
  }
}

ContentDecoder::Step ContentStage::DecodeStream(std::string_view in, std::span<char> out,
                                                bool last) {
  const std::uint64_t allowed = limits_.size_max - std::min(limits_.size_max, out_total_);
  // One byte more than allowed tells a body that just fits from one that goes on.
  if (out.size() > allowed) out = out.first(std::min<std::uint64_t>(out.size(), allowed + 1));
  const Result<codec::Progress> progress = decoder_->Decode(in, out);
  ContentDecoder::Step step;
  if (!progress) {
    Fail();
    return step;
  }
  step.consumed = progress->consumed;
  step.produced = progress->produced;
  in_total_ += step.consumed;
  stream_in_ += step.consumed;
  out_total_ += step.produced;
  stream_out_ += step.produced;
  Hold(in.substr(0, step.consumed));
  if (!WithinLimits()) {
    step.produced -=
        std::min<std::uint64_t>(step.produced, out_total_ - std::min(out_total_, limits_.size_max));
    state_ = State::kEnd;
  } else if (progress->done) {
    state_ = State::kBetween;
  } else if (last && in.empty() && step.produced == 0) {
    if (stream_in_ > 0) defects_.Add(Defect::kShortContent);
    state_ = State::kEnd;
    step.done = true;
  }
  return step;
}

void ContentStage::Hold(std::string_view consumed) {
  if (!holding_) return;
  if (stream_out_ > 0 || !first_ || held_.size() + consumed.size() > kHeldMax) {
    holding_ = false;
    held_.clear();
    held_.shrink_to_fit();
    return;
  }
  held_ += consumed;
}

void ContentStage::Fail() {
  if (first_ && holding_) {
    defects_.Add(Defect::kWrongCoding);
    state_ = State::kPass;
  } else if (!first_ && stream_out_ == 0) {
    defects_.Add(Defect::kTrailingContent);
    state_ = State::kEnd;
  } else {
    defects_.Add(Defect::kCorruptContent);
    state_ = State::kEnd;
  }
}

bool ContentStage::WithinLimits() {
  const bool too_large = out_total_ > limits_.size_max;
  const bool too_thin =
      out_total_ > limits_.ratio_from && out_total_ / limits_.ratio_max > in_total_;
  if (too_large || too_thin) defects_.Add(Defect::kContentTooLarge);
  return !too_large && !too_thin;
}

ContentDecoder::Step ContentStage::Pass(std::string_view in, std::span<char> out, bool last) {
  ContentDecoder::Step step;
  const std::size_t from_held = std::min(held_.size() - held_given_, out.size());
  if (from_held > 0) std::memcpy(out.data(), held_.data() + held_given_, from_held);
  held_given_ += from_held;
  step.consumed = std::min(in.size(), out.size() - from_held);
  if (step.consumed > 0) std::memcpy(out.data() + from_held, in.data(), step.consumed);
  step.produced = from_held + step.consumed;
  step.done = last && step.consumed == in.size() && held_given_ == held_.size();
  return step;
}

}  // namespace stele::http
