#include "store/packed_content.h"

#include <utility>

#include "codec/crc32.h"
#include "codec/gzip_member.h"
#include "codec/registry.h"
#include "store/container_record.h"

namespace stele::store {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;
constexpr std::size_t kEndBytes = 2 + 8;

std::uint32_t NumberAt(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void AppendNumber(std::string& out, std::uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift);
}

Error Invalid(std::string_view what) {
  return {ErrorCode::kInvalid, "the compressed content " + std::string(what)};
}

}  // namespace

std::string EndOfMember(std::uint32_t crc, std::uint64_t content_size) {
  std::string end("\x03\0", 2);
  AppendNumber(end, crc);
  AppendNumber(end, static_cast<std::uint32_t>(content_size));
  return end;
}

std::string PackGzip(std::string_view content, codec::BlockDeflater& deflater) {
  codec::Buffer member;
  member.Append(RecordPacker::kGzipHeader);
  if (!content.empty()) deflater.Deflate(content, true, member);
  member.Append(EndOfMember(codec::Crc32(0, content), content.size()));
  return std::string(member.view());
}

// The member with the end of a record instead of its own.
std::optional<TakenBlocks> TakeBlocks(std::string_view member, std::uint64_t content_size) {
  const std::string_view header = RecordPacker::kGzipHeader;
  if (member.size() < header.size() + kEndBytes || !member.starts_with(header)) return {};
  const std::string_view end = member.substr(member.size() - kEndBytes);
  const std::uint32_t crc = NumberAt(end, 2);
  if (end != EndOfMember(crc, content_size)) return {};
  TakenBlocks taken;
  taken.blocks = member.substr(header.size(), member.size() - header.size() - kEndBytes);
  const std::uint64_t plain_size = content_size + RecordPacker::kRecordEnd.size();
  std::string stood(header);
  stood.reserve(member.size() + RecordPacker::kLastBlock.size());
  stood.append(taken.blocks).append(RecordPacker::kLastBlock);
  AppendNumber(stood, codec::Crc32(crc, RecordPacker::kRecordEnd));
  AppendNumber(stood, static_cast<std::uint32_t>(plain_size));
  codec::GzipMemberInflater inflater;
  taken.plain.Reserve(plain_size);
  const auto inflated = inflater.Inflate(stood, plain_size, taken.plain);
  const bool whole = inflated && inflated->kind == codec::GzipMemberInflater::Kind::kDone &&
                     inflated->consumed == stood.size() && inflated->produced == plain_size &&
                     taken.plain.view().ends_with(RecordPacker::kRecordEnd);
  if (!whole) return {};
  return taken;
}

Status DecodedSource::Fill() {
  if (!piece_left_.empty() || packed_ended_) return {};
  piece_.resize(kPieceBytes);
  const Result<std::size_t> read = packed_.Read(piece_);
  if (!read) return read.error();
  packed_ended_ = *read == 0;
  piece_left_ = std::string_view(piece_).substr(0, *read);
  return {};
}

// The last Read() makes sure that `packed` is at its end.
Result<std::size_t> DecodedSource::Read(std::span<char> out) {
  if (out.empty()) return std::size_t{0};
  for (;;) {
    const Status filled = Fill();
    if (!filled) return filled.error();
    if (decoded_) {
      if (!piece_left_.empty()) return Invalid("is followed by other bytes");
      if (packed_ended_) return std::size_t{0};
      continue;
    }
    const Result<codec::Progress> step = decoder_->Decode(piece_left_, out);
    if (!step) return Invalid("cannot be decompressed: " + step.error().text);
    if (packed_ended_ && step->produced == 0 && !step->done) return Invalid("is cut off");
    piece_left_.remove_prefix(step->consumed);
    decoded_ = step->done;
    if (step->produced > left_) return Invalid("is larger than was said");
    left_ -= step->produced;
    if (step->produced > 0) return step->produced;
  }
}

const codec::Codec* WireCodec(std::string_view name) {
  static const codec::Registry registry = codec::StandardRegistry();
  return name == "gzip" || name == "zstd" ? registry.Find(name) : nullptr;
}

Result<std::unique_ptr<io::Source>> DecodedContent(io::Source& content, std::string_view packed,
                                                   std::uint64_t content_size) {
  if (packed.empty()) return std::unique_ptr<io::Source>();
  const codec::Codec* codec = WireCodec(packed);
  if (codec == nullptr) {
    return Error{ErrorCode::kInvalid, "contents cannot come as " + std::string(packed)};
  }
  return std::unique_ptr<io::Source>(
      std::make_unique<DecodedSource>(content, *codec, content_size));
}

}  // namespace stele::store
