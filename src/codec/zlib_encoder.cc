#include "codec/zlib_encoder.h"

#include <zlib.h>

#include <algorithm>

#include "util/check.h"

namespace stele::codec {
namespace {

constexpr std::size_t kStepMax = std::size_t{1} << 30;  // zlib counts in 32 bits
constexpr int kMemoryLevel = 9;
constexpr int kGzipWrapper = 16;  // added to the window bits

}  // namespace

ZlibEncoder::ZlibEncoder(Format format, int level) : stream_(std::make_unique<z_stream_s>()) {
  const int window_bits = MAX_WBITS + (format == Format::kGzip ? kGzipWrapper : 0);
  const int outcome = deflateInit2(stream_.get(), std::clamp(level, 0, 9), Z_DEFLATED, window_bits,
                                   kMemoryLevel, Z_DEFAULT_STRATEGY);
  Check(outcome == Z_OK);  // anything else is a wrong argument or no memory
}

ZlibEncoder::~ZlibEncoder() { deflateEnd(stream_.get()); }

void ZlibEncoder::Reset() {
  deflateReset(stream_.get());
  done_ = false;
}

Result<Progress> ZlibEncoder::Encode(std::string_view in, std::span<char> out, bool finish) {
  if (done_) return Progress{0, 0, true};
  const std::size_t in_size = std::min(in.size(), kStepMax);
  const std::size_t out_size = std::min(out.size(), kStepMax);
  if (out_size == 0) return Progress{};
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream_->avail_in = static_cast<uInt>(in_size);
  stream_->next_out = reinterpret_cast<Bytef*>(out.data());
  stream_->avail_out = static_cast<uInt>(out_size);
  const bool last = finish && in_size == in.size();
  const int outcome = deflate(stream_.get(), last ? Z_FINISH : Z_NO_FLUSH);
  Check(outcome == Z_OK || outcome == Z_STREAM_END || outcome == Z_BUF_ERROR);
  done_ = outcome == Z_STREAM_END;
  return Progress{in_size - stream_->avail_in, out_size - stream_->avail_out, done_};
}

}  // namespace stele::codec
