#include "store/packed_content.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/crc32.h"
#include "codec/gzip_member.h"
#include "codec/registry.h"
#include "store/container_record.h"
#include "util/check.h"

namespace stele::store {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;
constexpr std::size_t kPackedAtOnce = 256 << 10;

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

// What a Source with some bytes ready gives.
std::size_t Hand(std::string_view& ready, std::span<char> out) {
  const std::size_t count = std::min(ready.size(), out.size());
  if (count > 0) std::memcpy(out.data(), ready.data(), count);
  ready.remove_prefix(count);
  return count;
}

// The end of the record in which a content of this checksum stands.
std::string EndOfRecord(std::uint32_t content_crc, std::uint64_t content_size) {
  std::string end(RecordPacker::kLastBlock);
  AppendNumber(end, codec::Crc32(content_crc, RecordPacker::kRecordEnd));
  AppendNumber(end, static_cast<std::uint32_t>(content_size + RecordPacker::kRecordEnd.size()));
  return end;
}

// The checksum in the last bytes of a member that has blocks of ours.
std::optional<std::uint32_t> CrcOfEnd(std::string_view end, std::uint64_t content_size) {
  if (end.size() != kBehindBlocks) return {};
  const std::uint32_t crc = NumberAt(end, 2);
  if (end != EndOfMember(crc, content_size)) return {};
  return crc;
}

static_assert(kBlocksBegin == RecordPacker::kGzipHeader.size());

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

// ---- Compressing ----

PackedSource::PackedSource(io::Source& content, std::uint64_t content_size,
                           const Compression& compression)
    : content_(content),
      content_size_(content_size),
      content_left_(content_size),
      piece_(kPackedAtOnce, '\0') {
  if (compression.codec == "gzip") {
    deflater_ = std::make_unique<codec::BlockDeflater>(compression.level);
    packed_.Append(RecordPacker::kGzipHeader);
    packed_left_ = packed_.view();
    return;
  }
  const codec::Codec* codec = WireCodec(compression.codec);
  Check(codec != nullptr);
  encoder_ = codec->NewEncoder(compression.level);
  encoder_->ExpectSize(content_size);
}

// Small pieces are gathered: each one that comes out costs whoever sends it.
Result<std::size_t> PackedSource::Read(std::span<char> out) {
  std::size_t given = Hand(packed_left_, out);
  while (given < out.size() && !ended_) {
    const Status filled = Fill();
    if (!filled) return filled.error();
    given += Hand(packed_left_, out.subspan(given));
  }
  return given;
}

Status PackedSource::Fill() {
  std::size_t filled = 0;
  while (filled < piece_.size() && !ended_) {
    const Result<std::size_t> read = content_.Read(std::span(piece_).subspan(filled));
    if (!read) return read.error();
    ended_ = *read == 0;
    filled += *read;
    if (filled > content_left_ || (ended_ && filled < content_left_)) {
      return Error{ErrorCode::kInvalid, "the content does not have the size of the request"};
    }
  }
  content_left_ -= filled;
  packed_.Clear();
  const std::string_view piece = std::string_view(piece_).substr(0, filled);
  Status packed;
  if (deflater_ != nullptr) {
    Deflate(piece);
  } else {
    packed = Encode(piece);
  }
  packed_left_ = packed_.view();
  return packed;
}

// Each piece by itself, so that those that do not shrink need not grow.
void PackedSource::Deflate(std::string_view piece) {
  crc_ = codec::Crc32(crc_, piece);
  if (!piece.empty()) deflater_->Deflate(piece, true, packed_);
  if (packed_.size() >= piece.size()) {
    packed_.Clear();
    RecordPacker::AppendStored(piece, packed_);
  }
  if (ended_) packed_.Append(EndOfMember(crc_, content_size_));
}

Status PackedSource::Encode(std::string_view piece) {
  for (;;) {
    const std::size_t had = packed_.size();
    packed_.Reserve(had + kPieceBytes);
    const Result<codec::Progress> step =
        encoder_->Encode(piece, std::span(packed_.data() + had, kPieceBytes), ended_);
    if (!step) return step.error();
    piece.remove_prefix(step->consumed);
    packed_.SetSize(had + step->produced);
    if (ended_ ? step->done : piece.empty()) return {};
  }
}

// ---- Taking blocks over ----

std::optional<TakenBlocks> TakeBlocks(std::string_view member, std::uint64_t content_size) {
  if (member.size() < kBlocksBegin + kBehindBlocks) return {};
  const std::string_view header = RecordPacker::kGzipHeader;
  const auto crc = CrcOfEnd(member.substr(member.size() - kBehindBlocks), content_size);
  if (!crc || !member.starts_with(header)) return {};
  TakenBlocks taken;
  taken.crc = *crc;
  taken.blocks = member.substr(kBlocksBegin, member.size() - kBlocksBegin - kBehindBlocks);
  const std::string end = EndOfRecord(*crc, content_size);
  std::string stood(header);
  stood.reserve(member.size() + end.size());
  stood.append(taken.blocks).append(end);
  const std::uint64_t plain_size = content_size + RecordPacker::kRecordEnd.size();
  codec::GzipMemberInflater inflater;
  taken.plain.Reserve(plain_size);
  const auto inflated = inflater.Inflate(stood, plain_size, taken.plain);
  const bool whole = inflated && inflated->kind == codec::GzipMemberInflater::Kind::kDone &&
                     inflated->consumed == stood.size() && inflated->produced == plain_size &&
                     taken.plain.view().ends_with(RecordPacker::kRecordEnd);
  if (!whole) return {};
  return taken;
}

Result<std::size_t> StandingMember::Read(std::span<char> out) {
  while (ready_.empty() && !ended_) {
    const Status filled = Fill();
    if (!filled) return filled.error();
  }
  return Hand(ready_, out);
}

// What may be the end is held back until more has come.
Status StandingMember::Fill() {
  piece_ = held_;
  piece_.resize(held_.size() + kPieceBytes);
  const Result<std::size_t> read = member_.Read(std::span(piece_).subspan(held_.size()));
  if (!read) return read.error();
  piece_.resize(held_.size() + *read);
  ended_ = *read == 0;
  if (ended_) {
    if (head_ == RecordPacker::kGzipHeader) taken_crc_ = CrcOfEnd(held_, content_size_);
    if (taken_crc_) piece_ = EndOfRecord(*taken_crc_, content_size_);
    ready_ = piece_;
    return {};
  }
  ready_ =
      std::string_view(piece_).substr(0, piece_.size() - std::min(piece_.size(), kBehindBlocks));
  held_ = piece_.substr(ready_.size());
  head_.append(ready_.substr(0, kBlocksBegin - head_.size()));
  return {};
}

// ---- Decompressing ----

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
