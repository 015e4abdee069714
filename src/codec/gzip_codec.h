#pragma once

#include "codec/codec.h"

namespace stele::codec {

// RFC 1952. Reads every optional header field and verifies the header checksum where there is one,
// CRC32 and ISIZE. Levels 0 (stored: for what does not shrink) to 12; streams stop at 9. What is
// written is the same for the same bytes and level: no name, no time.
class GzipCodec final : public Codec {
 public:
  std::string_view name() const override { return "gzip"; }
  std::unique_ptr<Decoder> NewDecoder() const override;
  std::unique_ptr<Encoder> NewEncoder(int level) const override;
  Result<std::string> Compress(std::string_view bytes, int level) const override;
  Result<std::string> Decompress(std::string_view bytes, std::size_t size_max) const override;
};

}  // namespace stele::codec
