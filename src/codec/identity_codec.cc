#include "codec/identity_codec.h"

#include <algorithm>
#include <cstring>

namespace stele::codec {
namespace {

std::size_t CopyWhatFits(std::string_view in, std::span<char> out) {
  const std::size_t size = std::min(in.size(), out.size());
  if (size > 0) std::memcpy(out.data(), in.data(), size);
  return size;
}

class IdentityDecoder final : public Decoder {
 public:
  Result<Progress> Decode(std::string_view in, std::span<char> out) override {
    const std::size_t size = CopyWhatFits(in, out);
    return Progress{size, size, in.empty()};
  }
  void Reset() override {}
};

class IdentityEncoder final : public Encoder {
 public:
  void ExpectSize(std::uint64_t) override {}
  Result<Progress> Encode(std::string_view in, std::span<char> out, bool finish) override {
    const std::size_t size = CopyWhatFits(in, out);
    return Progress{size, size, finish && size == in.size()};
  }
  void Reset() override {}
};

}  // namespace

std::unique_ptr<Decoder> IdentityCodec::NewDecoder() const {
  return std::make_unique<IdentityDecoder>();
}

std::unique_ptr<Encoder> IdentityCodec::NewEncoder(int) const {
  return std::make_unique<IdentityEncoder>();
}

Result<std::string> IdentityCodec::Compress(std::string_view bytes, int) const {
  return std::string(bytes);
}

Result<std::string> IdentityCodec::Decompress(std::string_view bytes, std::size_t size_max) const {
  if (bytes.size() > size_max) return Error{ErrorCode::kFull, "the bytes exceed the limit"};
  return std::string(bytes);
}

}  // namespace stele::codec
