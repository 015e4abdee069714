#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "codec/buffer.h"
#include "codec/codec.h"
#include "formats/http/content_decoder.h"
#include "formats/http/defects.h"

namespace stele::http {

// One coding of the chain.
class ContentStage {
 public:
  // `several`: streams may follow each other (gzip members, zstd frames).
  ContentStage(std::unique_ptr<codec::Decoder> decoder, bool several, const ContentLimits& limits);

  // As ContentDecoder::Decode.
  ContentDecoder::Step Decode(std::string_view in, std::span<char> out, bool last);

  const Defects& defects() const { return defects_; }

  // Bytes this stage has given and the next has not yet taken.
  std::string_view waiting() const { return link_.view().substr(taken_); }
  void Take(std::size_t size) { taken_ += size; }
  codec::Buffer& EmptyLink();
  bool ended = false;  // its last byte is in the link

 private:
  enum class State {
    kDecode,
    kBetween,  // a stream ended
    kPass,     // not encoded: first `held_`, then the input
    kEnd,
  };

  ContentDecoder::Step DecodeStream(std::string_view in, std::span<char> out, bool last);
  ContentDecoder::Step Pass(std::string_view in, std::span<char> out, bool last);
  void Hold(std::string_view consumed);
  void Fail();
  bool WithinLimits();

  std::unique_ptr<codec::Decoder> decoder_;
  bool several_;
  ContentLimits limits_;
  State state_ = State::kDecode;
  Defects defects_;
  std::uint64_t in_total_ = 0;
  std::uint64_t out_total_ = 0;
  std::uint64_t stream_in_ = 0;  // of the stream being read
  std::uint64_t stream_out_ = 0;
  bool first_ = true;    // it is the first one
  bool holding_ = true;  // all its input so far is in `held_`
  std::string held_;
  std::size_t held_given_ = 0;
  codec::Buffer link_;
  std::size_t taken_ = 0;
};

}  // namespace stele::http
