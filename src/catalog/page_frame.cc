#include "catalog/page_frame.h"

#include "util/check.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace stele::catalog {
namespace {

// In the first length: the bytes are zstd frames.
constexpr std::uint32_t kPacked = 0x8000'0000;

constexpr std::size_t kChecksumSize = kFrameOverhead - kFrameHeadSize;

// The compressed form at the end of `out`; false when it is not clearly smaller.
bool AppendPacked(const PageParts& parts, std::size_t plain_size, codec::Encoder& encoder,
                  std::string& out) {
  const std::size_t begin = out.size();
  std::size_t end = begin;
  out.resize(begin + plain_size - plain_size / 16);
  bool fits = plain_size > 0;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    encoder.Reset();
    encoder.ExpectSize(part.size());
    const Result<codec::Progress> step =
        encoder.Encode(part, std::span(out).subspan(end), /*finish=*/true);
    fits = step && step->done;
    if (!fits) break;
    end += step->produced;
  }
  out.resize(fits ? end : begin);
  return fits;
}

Error Corrupt(std::string text) { return {ErrorCode::kCorrupt, std::move(text)}; }

}  // namespace

std::size_t SizeOf(const PageParts& parts) {
  std::size_t size = 0;
  for (const std::string& part : parts) size += part.size();
  return size;
}

void AppendFrame(const PageParts& parts, std::uint64_t offset, codec::Encoder& encoder,
                 std::string& out) {
  const std::size_t plain_size = SizeOf(parts);
  Check(plain_size <= kIndexBytesMax);
  const std::size_t begin = out.size();
  out.resize(begin + kFrameHeadSize);
  const bool packed = AppendPacked(parts, plain_size, encoder, out);
  if (!packed) {
    for (const std::string& part : parts) out += part;
  }
  std::string head;
  const auto stored = static_cast<std::uint32_t>(out.size() - begin - kFrameHeadSize);
  PutFixed32(head, stored | (packed ? kPacked : 0));
  PutFixed32(head, static_cast<std::uint32_t>(plain_size));
  out.replace(begin, kFrameHeadSize, head);
  PutFixed64(out, ChecksumOf(std::string_view(out).substr(begin), offset));
}

Status CheckFrame(std::string_view frame, std::uint64_t offset) {
  if (frame.size() < kFrameOverhead) return Corrupt("too short");
  const std::string_view covered = frame.substr(0, frame.size() - kChecksumSize);
  if (ByteReader(frame.substr(covered.size())).Fixed64() != ChecksumOf(covered, offset)) {
    return Corrupt("its checksum does not match");
  }
  return {};
}

Result<std::string> OpenFrame(std::string_view frame, std::uint64_t offset, std::size_t plain_max,
                              codec::Decoder& decoder) {
  if (const Status checked = CheckFrame(frame, offset); !checked) return checked.error();
  ByteReader head(frame.substr(0, frame.size() - kChecksumSize));
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
  std::size_t taken = 0;
  std::size_t given = 0;
  while (taken < stored.size()) {
    decoder.Reset();
    const Result<codec::Progress> step =
        decoder.Decode(stored.substr(taken), std::span(plain).subspan(given));
    if (!step) return step.error();
    if (!step->done) return Corrupt("it does not decompress to its length");
    taken += step->consumed;
    given += step->produced;
  }
  if (given != plain.size()) return Corrupt("it does not decompress to its length");
  return plain;
}

}  // namespace stele::catalog
