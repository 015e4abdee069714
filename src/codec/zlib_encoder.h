#pragma once

#include <memory>

#include "codec/codec.h"

struct z_stream_s;  // zlib's

namespace stele::codec {

// Writes gzip members or zlib streams. Levels 0 to 9.
class ZlibEncoder final : public Encoder {
 public:
  enum class Format { kGzip, kZlib };

  ZlibEncoder(Format format, int level);
  ~ZlibEncoder() override;

  void ExpectSize(std::uint64_t) override {}
  Result<Progress> Encode(std::string_view in, std::span<char> out, bool finish) override;
  void Reset() override;

 private:
  std::unique_ptr<z_stream_s> stream_;
  bool done_ = false;
};

}  // namespace stele::codec
