#include "codec/gzip_codec.h"

#include "codec/gzip_decoder.h"
#include "codec/gzip_member.h"
#include "codec/whole_buffer.h"
#include "codec/zlib_encoder.h"

namespace stele::codec {

std::unique_ptr<Decoder> GzipCodec::NewDecoder() const { return std::make_unique<GzipDecoder>(); }

std::unique_ptr<Encoder> GzipCodec::NewEncoder(int level) const {
  return std::make_unique<ZlibEncoder>(ZlibEncoder::Format::kGzip, level);
}

Result<std::string> GzipCodec::Compress(std::string_view bytes, int level) const {
  GzipMemberDeflater deflater(level);
  Buffer out;
  deflater.Deflate(bytes, out);
  return std::string(out.view());
}

Result<std::string> GzipCodec::Decompress(std::string_view bytes, std::size_t size_max) const {
  // The common case is one member that fits; whatever else it is, the stream decoder finds out.
  GzipMemberInflater inflater;
  Buffer out;
  const Result<GzipMemberInflater::Outcome> member = inflater.Inflate(bytes, size_max, out);
  if (!member) return member.error();
  if (member->kind == GzipMemberInflater::Kind::kDone && member->consumed == bytes.size()) {
    return std::string(out.view());
  }
  GzipDecoder decoder;
  return DecompressWith(decoder, bytes, size_max);
}

}  // namespace stele::codec
