#include "catalog/page_frame.h"

#include "util/check.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace stele::catalog {
namespace {

// In the first length: the bytes are a zstd frame.
constexpr std::uint32_t kPacked = 0x8000'0000;

// The compressed form at the end of `out`; false when it is not clearly smaller.
bool AppendPacked(std::string_view plain, codec::Encoder& encoder, std::string& out) {
  const std::size_t begin = out.size();
  const std::size_t room = plain.size() - plain.size() / 16;
  out.resize(begin + room);
  encoder.Reset();
  encoder.ExpectSize(plain.size());
  const Result<codec::Progress> step =
      encoder.Encode(plain, std::span(out).subspan(begin), /*finish=*/true);
  const bool fits = step && step->done;
  out.resize(fits ? begin + step->produced : begin);
  return fits;
}

Error Corrupt(std::string text) { return {ErrorCode::kCorrupt, std::move(text)}; }

}  // namespace

void AppendFrame(std::string_view plain, std::uint64_t offset, codec::Encoder& encoder,
                 std::string& out) {
  Check(plain.size() <= kIndexBytesMax);
  const std::size_t begin = out.size();
  out.resize(begin + kFrameHeadSize);
  const bool packed = AppendPacked(plain, encoder, out);
  if (!packed) out += plain;
  std::string head;
  const auto stored = static_cast<std::uint32_t>(out.size() - begin - kFrameHeadSize);
  PutFixed32(head, stored | (packed ? kPacked : 0));
  PutFixed32(head, static_cast<std::uint32_t>(plain.size()));
  out.replace(begin, kFrameHeadSize, head);
  PutFixed64(out, ChecksumOf(std::string_view(out).substr(begin), offset));
}

Result<std::string> OpenFrame(std::string_view frame, std::uint64_t offset, std::size_t plain_max,
                              codec::Decoder& decoder) {
  if (frame.size() < kFrameOverhead) return Corrupt("too short");
  const std::string_view covered = frame.substr(0, frame.size() - 8);
  if (ByteReader(frame.substr(covered.size())).Fixed64() != ChecksumOf(covered, offset)) {
    return Corrupt("its checksum does not match");
  }
  ByteReader head(covered);
  const std::uint32_t stored_field = head.Fixed32();
  const std::uint32_t plain_size = head.Fixed32();
  const std::string_view stored = head.rest();
  if (stored.size() != (stored_field & ~kPacked)) return Corrupt("its length is not its own");
  if (plain_size > plain_max) return Corrupt("larger than anything this file may hold");
  if ((stored_field & kPacked) == 0) {
    if (stored.size() != plain_size) return Corrupt("its two lengths differ");
    return std::string(stored);
  }
  std::string plain(plain_size, '\0');
  decoder.Reset();
  const Result<codec::Progress> step = decoder.Decode(stored, plain);
  if (!step) return step.error();
  if (!step->done || step->consumed != stored.size() || step->produced != plain.size()) {
    return Corrupt("it does not decompress to its length");
  }
  return plain;
}

}  // namespace stele::catalog
