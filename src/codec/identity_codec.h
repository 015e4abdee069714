#pragma once

#include "codec/codec.h"

namespace stele::codec {

// Bytes as they are. The stream ends where the input does: decoding an empty `in` is `done`.
class IdentityCodec final : public Codec {
 public:
  std::string_view name() const override { return "identity"; }
  std::unique_ptr<Decoder> NewDecoder() const override;
  std::unique_ptr<Encoder> NewEncoder(int level) const override;
  Result<std::string> Compress(std::string_view bytes, int level) const override;
  Result<std::string> Decompress(std::string_view bytes, std::size_t size_max) const override;
};

}  // namespace stele::codec
