// A zlib header is a multiple of 31 whose low nibble is 8. Read as raw deflate, that nibble begins
// a stored block with a padding bit set, which no encoder writes, so the two are told apart safely.
#include "codec/deflate_codec.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "codec/whole_buffer.h"
#include "codec/zlib_encoder.h"
#include "util/check.h"

namespace stele::codec {
namespace {

constexpr std::size_t kStepMax = std::size_t{1} << 30;  // zlib counts in 32 bits
constexpr std::size_t kZlibHeaderSize = 2;

bool IsZlibHeader(std::uint8_t first, std::uint8_t second) {
  return (first & 0x0f) == Z_DEFLATED && (first >> 4) <= 7 && (first * 256 + second) % 31 == 0;
}

class DeflateDecoder final : public Decoder {
 public:
  DeflateDecoder() {
    const int outcome = inflateInit2(&stream_, MAX_WBITS);
    Check(outcome == Z_OK);
  }
  ~DeflateDecoder() override { inflateEnd(&stream_); }

  Result<Progress> Decode(std::string_view in, std::span<char> out) override {
    if (error_) return *error_;
    Progress progress;
    progress.done = done_;
    if (done_) return progress;
    if (!decided_) {
      TakeHeader(in, progress);
      // A stream of one byte is no stream of either kind.
      if (header_size_ < kZlibHeaderSize) return progress;
      Decide();
    }
    // The two header bytes go in first; they produce at most a few bytes.
    while (header_fed_ < header_size_ && !error_ && !done_) {
      const std::string_view rest(header_.data() + header_fed_, header_size_ - header_fed_);
      Progress step;
      Inflate(rest, out.subspan(progress.produced), step);
      header_fed_ += step.consumed;
      progress.produced += step.produced;
      if (step.consumed == 0) break;
    }
    if (header_fed_ == header_size_ && !error_ && !done_) {
      Progress step;
      Inflate(in.substr(progress.consumed), out.subspan(progress.produced), step);
      progress.consumed += step.consumed;
      progress.produced += step.produced;
    }
    if (error_ && progress.produced == 0) return *error_;
    progress.done = done_;
    return progress;
  }

  void Reset() override {
    header_size_ = 0;
    header_fed_ = 0;
    decided_ = false;
    done_ = false;
    error_.reset();
  }

 private:
  void TakeHeader(std::string_view in, Progress& progress) {
    while (header_size_ < kZlibHeaderSize && progress.consumed < in.size()) {
      header_[header_size_++] = in[progress.consumed++];
    }
  }

  void Decide() {
    const bool zlib =
        IsZlibHeader(static_cast<std::uint8_t>(header_[0]), static_cast<std::uint8_t>(header_[1]));
    inflateReset2(&stream_, zlib ? MAX_WBITS : -MAX_WBITS);
    decided_ = true;
  }

  void Inflate(std::string_view in, std::span<char> out, Progress& progress) {
    const std::size_t in_size = std::min(in.size(), kStepMax);
    const std::size_t out_size = std::min(out.size(), kStepMax);
    char unused = 0;  // zlib wants an address even for no bytes
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in_size ? in.data() : &unused));
    stream_.avail_in = static_cast<uInt>(in_size);
    stream_.next_out = reinterpret_cast<Bytef*>(out_size ? out.data() : &unused);
    stream_.avail_out = static_cast<uInt>(out_size);
    const int outcome = inflate(&stream_, Z_NO_FLUSH);
    progress.consumed = in_size - stream_.avail_in;
    progress.produced = out_size - stream_.avail_out;
    done_ = outcome == Z_STREAM_END;
    if (!done_ && outcome != Z_OK && outcome != Z_BUF_ERROR) {
      error_ = Error{ErrorCode::kCorrupt, "bad data in a deflate stream"};
    }
  }

  z_stream stream_{};
  std::array<char, kZlibHeaderSize> header_{};
  std::size_t header_size_ = 0;
  std::size_t header_fed_ = 0;
  bool decided_ = false;
  bool done_ = false;
  std::optional<Error> error_;
};

}  // namespace

std::unique_ptr<Decoder> DeflateCodec::NewDecoder() const {
  return std::make_unique<DeflateDecoder>();
}

std::unique_ptr<Encoder> DeflateCodec::NewEncoder(int level) const {
  return std::make_unique<ZlibEncoder>(ZlibEncoder::Format::kZlib, level);
}

Result<std::string> DeflateCodec::Compress(std::string_view bytes, int level) const {
  ZlibEncoder encoder(ZlibEncoder::Format::kZlib, level);
  return CompressWith(encoder, bytes);
}

Result<std::string> DeflateCodec::Decompress(std::string_view bytes, std::size_t size_max) const {
  DeflateDecoder decoder;
  return DecompressWith(decoder, bytes, size_max);
}

}  // namespace stele::codec
