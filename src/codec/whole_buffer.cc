#include "codec/whole_buffer.h"

#include <algorithm>

#include "codec/buffer.h"

namespace stele::codec {
namespace {

constexpr std::size_t kFirstSize = std::size_t{64} << 10;

std::span<char> FreeSpace(Buffer& buffer) {
  return {buffer.data() + buffer.size(), buffer.capacity() - buffer.size()};
}

}  // namespace

Result<std::string> CompressWith(Encoder& encoder, std::string_view bytes) {
  encoder.ExpectSize(bytes.size());
  Buffer out;
  out.Reserve(std::max(kFirstSize, bytes.size() / 2));
  for (;;) {
    const Result<Progress> step = encoder.Encode(bytes, FreeSpace(out), true);
    if (!step) return step.error();
    bytes.remove_prefix(step->consumed);
    out.SetSize(out.size() + step->produced);
    if (step->done) return std::string(out.view());
    if (out.size() == out.capacity()) out.Reserve(out.capacity() * 2);
  }
}

Result<std::string> DecompressWith(Decoder& decoder, std::string_view bytes, std::size_t size_max) {
  // One byte beyond the limit tells a stream that ends there from one that goes on.
  const std::size_t capacity_max = size_max + (size_max < SIZE_MAX ? 1 : 0);
  Buffer out;
  out.Reserve(std::min(capacity_max, std::max(kFirstSize, bytes.size())));
  for (;;) {
    const Result<Progress> step = decoder.Decode(bytes, FreeSpace(out));
    if (!step) return step.error();
    bytes.remove_prefix(step->consumed);
    out.SetSize(out.size() + step->produced);
    if (out.size() > size_max) {
      return Error{ErrorCode::kFull, "the decompressed bytes exceed the limit"};
    }
    if (step->done) {
      if (bytes.empty()) return std::string(out.view());
      decoder.Reset();
    } else if (bytes.empty() && step->produced == 0 && out.size() < out.capacity()) {
      return Error{ErrorCode::kCorrupt, "the compressed stream ends too early"};
    }
    if (out.size() == out.capacity()) {
      out.Reserve(out.capacity() > capacity_max / 2 ? capacity_max : out.capacity() * 2);
    }
  }
}

}  // namespace stele::codec
