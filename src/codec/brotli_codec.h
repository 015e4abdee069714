#pragma once

#include "codec/codec.h"

namespace stele::codec {

// RFC 7932, only read: servers send it, archives do not write it.
class BrotliCodec final : public Codec {
 public:
  std::string_view name() const override { return "br"; }
  std::unique_ptr<Decoder> NewDecoder() const override;
  std::unique_ptr<Encoder> NewEncoder(int level) const override;  // null
  Result<std::string> Compress(std::string_view bytes, int level) const override;
  Result<std::string> Decompress(std::string_view bytes, std::size_t size_max) const override;
};

}  // namespace stele::codec
