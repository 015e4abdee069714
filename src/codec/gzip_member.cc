// libdeflate inflates members of web-page size faster than ISA-L and zlib, but it wants the whole
// input and room for the whole output, and it answers "bad data" for truncated input too. So: guess
// the output size from the buffer at hand, double on overflow, and let the stream decoder judge
// what libdeflate refuses.
#include "codec/gzip_member.h"

#include <libdeflate.h>

#include <algorithm>

#include "codec/gzip_header.h"
#include "util/check.h"

namespace stele::codec {
namespace {

constexpr std::size_t kFirstCapacity = std::size_t{64} << 10;

// libdeflate skips the header checksum; members that have one go to the stream decoder.
bool HasHeaderChecksum(std::string_view in) {
  return in.size() > 3 && (static_cast<std::uint8_t>(in[3]) & kGzipFlagHeaderCrc) != 0;
}

}  // namespace

void GzipMemberInflater::Free::operator()(libdeflate_decompressor* decompressor) const {
  libdeflate_free_decompressor(decompressor);
}

GzipMemberInflater::GzipMemberInflater() : decompressor_(libdeflate_alloc_decompressor()) {
  Check(decompressor_ != nullptr);
}

GzipMemberInflater::~GzipMemberInflater() = default;

Result<GzipMemberInflater::Outcome> GzipMemberInflater::Inflate(std::string_view in,
                                                                std::size_t size_max, Buffer& out) {
  out.Clear();
  if (HasHeaderChecksum(in)) return InflateAsStream(in, size_max, out);
  out.Reserve(std::min(size_max, kFirstCapacity));
  for (;;) {
    const std::size_t room = std::min(out.capacity(), size_max);
    char unused = 0;
    std::size_t consumed = 0;
    std::size_t produced = 0;
    const libdeflate_result result =
        libdeflate_gzip_decompress_ex(decompressor_.get(), in.data(), in.size(),
                                      room > 0 ? out.data() : &unused, room, &consumed, &produced);
    if (result == LIBDEFLATE_SUCCESS) {
      out.SetSize(produced);
      return Outcome{Kind::kDone, consumed, produced};
    }
    if (result == LIBDEFLATE_BAD_DATA) return InflateAsStream(in, size_max, out);
    if (room == size_max) return Outcome{};
    out.Reserve(room > size_max / 2 ? size_max : room * 2);
  }
}

Result<GzipMemberInflater::Outcome> GzipMemberInflater::InflateAsStream(std::string_view in,
                                                                        std::size_t size_max,
                                                                        Buffer& out) {
  if (stream_ == nullptr) stream_ = std::make_unique<GzipDecoder>();
  stream_->Reset();
  out.Reserve(std::min(size_max, kFirstCapacity));
  std::size_t consumed = 0;
  for (;;) {
    const std::size_t room = std::min(out.capacity(), size_max) - out.size();
    const Result<Progress> step =
        stream_->Decode(in.substr(consumed), {out.data() + out.size(), room});
    if (!step) {
      out.Clear();
      return step.error();
    }
    consumed += step->consumed;
    out.SetSize(out.size() + step->produced);
    if (step->done) return Outcome{Kind::kDone, consumed, out.size()};
    const bool full = out.size() == std::min(out.capacity(), size_max);
    if (full && out.size() < size_max) {
      out.Reserve(out.size() > size_max / 2 ? size_max : out.size() * 2);
    } else if (step->consumed == 0 && step->produced == 0) {
      out.Clear();
      return Outcome{};
    }
  }
}

void GzipMemberDeflater::Free::operator()(libdeflate_compressor* compressor) const {
  libdeflate_free_compressor(compressor);
}

GzipMemberDeflater::GzipMemberDeflater(int level)
    : compressor_(libdeflate_alloc_compressor(std::clamp(level, 0, 12))) {
  Check(compressor_ != nullptr);
}

GzipMemberDeflater::~GzipMemberDeflater() = default;

void GzipMemberDeflater::Deflate(std::string_view in, Buffer& out) {
  out.Clear();
  out.Reserve(libdeflate_gzip_compress_bound(compressor_.get(), in.size()));
  const std::size_t size =
      libdeflate_gzip_compress(compressor_.get(), in.data(), in.size(), out.data(), out.capacity());
  Check(size > 0);  // the bound is large enough for anything
  out.SetSize(size);
}

}  // namespace stele::codec
