#include "formats/http/content_decoder.h"

#include <algorithm>
#include <cstring>

#include "formats/http/content_stage.h"
#include "util/check.h"

namespace stele::http {
namespace {

constexpr std::size_t kLinkSize = std::size_t{32} << 10;

}  // namespace

ContentDecoder::ContentDecoder(const codec::Registry& registry,
                               const std::vector<std::string_view>& codings,
                               const ContentLimits& limits) {
  if (codings.size() > kCodingsMax) {
    defects_.Add(Defect::kTooManyCodings);
    return;
  }
  // The coding applied last comes off first. An unknown one hides all below it.
  for (auto coding = codings.rbegin(); coding != codings.rend(); ++coding) {
    const codec::Codec* codec = registry.Find(*coding);
    if (codec == nullptr) {
      defects_.Add(Defect::kUnknownCoding);
      return;
    }
    if (codec->name() == "identity") continue;
    const bool several = codec->name() == "gzip" || codec->name() == "zstd";
    stages_.push_back(std::make_unique<ContentStage>(codec->NewDecoder(), several, limits));
  }
}

ContentDecoder::~ContentDecoder() = default;

ContentDecoder::Step ContentDecoder::Decode(std::string_view in, std::span<char> out, bool last) {
  Check(!out.empty());
  if (!stages_.empty()) return Pull(stages_.size() - 1, in, out, last);
  Step step;
  step.consumed = step.produced = std::min(in.size(), out.size());
  if (step.consumed > 0) std::memcpy(out.data(), in.data(), step.consumed);
  step.done = last && step.consumed == in.size();
  return step;
}

// Output of the stage with that number, which draws on the stage before it.
ContentDecoder::Step ContentDecoder::Pull(std::size_t number, std::string_view in,
                                          std::span<char> out, bool last) {
  ContentStage& stage = *stages_[number];
  if (number == 0) return stage.Decode(in, out, last);
  ContentStage& source = *stages_[number - 1];
  Step total;
  for (;;) {
    if (source.waiting().empty() && !source.ended) {
      codec::Buffer& link = source.EmptyLink();
      link.Reserve(kLinkSize);
      const Step drawn =
          Pull(number - 1, in.substr(total.consumed), {link.data(), link.capacity()}, last);
      link.SetSize(drawn.produced);
      total.consumed += drawn.consumed;
      source.ended = drawn.done;
    }
    const Step step = stage.Decode(source.waiting(), out.subspan(total.produced), source.ended);
    source.Take(step.consumed);
    total.produced += step.produced;
    total.done = step.done;
    if (step.done || total.produced == out.size()) return total;
    const bool starved = source.waiting().empty() && !source.ended && total.consumed == in.size();
    if (starved && step.produced == 0 && step.consumed == 0) return total;
  }
}

Defects ContentDecoder::defects() const {
  Defects all = defects_;
  for (const auto& stage : stages_) all.Add(stage->defects());
  return all;
}

}  // namespace stele::http
