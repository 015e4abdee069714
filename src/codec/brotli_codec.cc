#include "codec/brotli_codec.h"

#include <brotli/decode.h>

#include <optional>

#include "codec/whole_buffer.h"
#include "util/check.h"

namespace stele::codec {
namespace {

class BrotliDecoder final : public Decoder {
 public:
  BrotliDecoder() { Reset(); }

  Result<Progress> Decode(std::string_view in, std::span<char> out) override {
    if (error_) return *error_;
    if (done_) return Progress{0, 0, true};
    std::size_t avail_in = in.size();
    std::size_t avail_out = out.size();
    auto* next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    auto* next_out = reinterpret_cast<std::uint8_t*>(out.data());
    const BrotliDecoderResult outcome = BrotliDecoderDecompressStream(
        state_.get(), &avail_in, &next_in, &avail_out, &next_out, nullptr);
    done_ = outcome == BROTLI_DECODER_RESULT_SUCCESS;
    const Progress progress{in.size() - avail_in, out.size() - avail_out, done_};
    if (outcome == BROTLI_DECODER_RESULT_ERROR) {
      error_ = Error{ErrorCode::kCorrupt, "bad data in a brotli stream"};
      if (progress.produced == 0) return *error_;
    }
    return progress;
  }

  void Reset() override {
    state_.reset(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr));
    Check(state_ != nullptr);
    done_ = false;
    error_.reset();
  }

 private:
  struct Free {
    void operator()(BrotliDecoderState* state) const { BrotliDecoderDestroyInstance(state); }
  };
  std::unique_ptr<BrotliDecoderState, Free> state_;
  bool done_ = false;
  std::optional<Error> error_;
};

}  // namespace

std::unique_ptr<Decoder> BrotliCodec::NewDecoder() const {
  return std::make_unique<BrotliDecoder>();
}

std::unique_ptr<Encoder> BrotliCodec::NewEncoder(int) const { return nullptr; }

Result<std::string> BrotliCodec::Compress(std::string_view, int) const {
  return Error{ErrorCode::kInvalid, "brotli is only read, not written"};
}

Result<std::string> BrotliCodec::Decompress(std::string_view bytes, std::size_t size_max) const {
  BrotliDecoder decoder;
  return DecompressWith(decoder, bytes, size_max);
}

}  // namespace stele::codec
