#pragma once

#include <memory>
#include <optional>

#include "codec/codec.h"
#include "codec/gzip_header.h"

struct inflate_state;  // ISA-L's, about 90 KB

namespace stele::codec {

// Reads one gzip member as a stream.
class GzipDecoder final : public Decoder {
 public:
  GzipDecoder();
  ~GzipDecoder() override;

  Result<Progress> Decode(std::string_view in, std::span<char> out) override;
  void Reset() override;

 private:
  bool Inflate(std::string_view in, std::span<char> out, Progress& progress);  // false: corrupt

  GzipHeaderParser header_;
  std::unique_ptr<inflate_state> state_;
  bool done_ = false;
  std::optional<Error> error_;
};

}  // namespace stele::codec
