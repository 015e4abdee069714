#pragma once

#include "codec/codec.h"

namespace stele::codec {

// HTTP's "deflate". By the standard that is a zlib stream (RFC 1950), but many servers send raw
// deflate (RFC 1951): the first two bytes tell which. Writes zlib streams, levels 0 to 9.
class DeflateCodec final : public Codec {
 public:
  std::string_view name() const override { return "deflate"; }
  std::unique_ptr<Decoder> NewDecoder() const override;
  std::unique_ptr<Encoder> NewEncoder(int level) const override;
  Result<std::string> Compress(std::string_view bytes, int level) const override;
  Result<std::string> Decompress(std::string_view bytes, std::size_t size_max) const override;
};

}  // namespace stele::codec
