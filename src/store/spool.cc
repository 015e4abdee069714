#include "store/spool.h"

#include <fmt/format.h>

#include "store/packed_content.h"

namespace stele::store {
namespace {

constexpr std::string_view kSoftware = "stele " STELE_VERSION;

Error Differs(std::string_view what) {
  return {ErrorCode::kInvalid,
          fmt::format("the content does not have the {} of the request", what)};
}

}  // namespace

TreeVolume::Spool::~Spool() {
  // A leftover is removed when the volume is opened next.
  if (!path_.empty()) static_cast<void>(volume_.fs_.Remove(path_).ok());
}

BlockHeader TreeVolume::Spool::Header(std::string_view compression) const {
  return {std::string(kSoftware), std::string(compression), request_.size, 1};
}

Status TreeVolume::Spool::Fill(io::Source& sent) {
  const Result<std::unique_ptr<io::Source>> decoded =
      DecodedContent(sent, request_.packed, request_.size);
  if (!decoded) return decoded.error();
  io::Source& content = *decoded ? **decoded : sent;
  const Status filled = FillMemory(content);
  if (!filled) return filled;
  if (content_.size() > volume_.options_.memory_bytes_max) {
    const Compression compression =
        volume_.options_.compression.Choose(request_.media_type, request_.codec);
    return FillFile(content, *volume_.options_.codecs->Find(compression.codec), compression);
  }
  if (content_.size() != request_.size) return Differs("size");
  if (volume_.signature().Of(content_) != request_.signature) return Differs("signature");
  return {};
}

// Stops at the end of the content, or when it turns out to be large.
Status TreeVolume::Spool::FillMemory(io::Source& content) {
  constexpr std::size_t kPiece = 64 << 10;
  const std::uint64_t most = volume_.options_.memory_bytes_max;
  content_.reserve(static_cast<std::size_t>(std::min(request_.size, most)) + 1);
  while (content_.size() <= most) {
    const std::size_t had = content_.size();
    // One byte beyond what should come shows whether that is all.
    const std::uint64_t missing = request_.size >= had ? request_.size - had + 1 : 1;
    content_.resize(had + static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, missing)));
    const Result<std::size_t> read =
        content.Read(std::span(content_.data() + had, content_.size() - had));
    content_.resize(had + (read ? *read : 0));
    if (!read) return read.error();
    if (*read == 0) return {};
    if (content_.size() > request_.size) return Differs("size");
  }
  return {};
}

Status TreeVolume::Spool::FillFile(io::Source& content, const codec::Codec& codec,
                                   const Compression& compression) {
  path_ = volume_.TemporaryPath();
  compression_ = codec.name();
  const std::unique_ptr<codec::Encoder> encoder = codec.NewEncoder(compression.level);
  const Result<WrittenBlock> written =
      WriteBlockFile(volume_.fs_, path_, Header(compression_), *encoder, volume_.signature(),
                     content_, content, !volume_.buffered());
  content_ = {};
  if (!written) return written.error();
  if (written->signature != request_.signature) return Differs("signature");
  stored_size_ = written->stored_size;
  return {};
}

Result<std::unique_ptr<io::Source>> TreeVolume::Spool::Read() const {
  if (path_.empty())
    return std::unique_ptr<io::Source>(std::make_unique<io::MemorySource>(content_));
  Result<OpenBlock> block = OpenBlockFile(volume_.fs_, path_);
  if (!block) return block.error();
  return std::unique_ptr<io::Source>(
      std::make_unique<BlockSource>(*std::move(block), *volume_.options_.codecs->Find(compression_),
                                    volume_.signature(), request_.signature, path_));
}

// Where compression gains nothing, the content is stored as it is.
Status TreeVolume::Spool::Prepare() {
  if (!path_.empty()) return {};
  const Compression compression =
      volume_.options_.compression.Choose(request_.media_type, request_.codec);
  const codec::Codec& codec = *volume_.options_.codecs->Find(compression.codec);
  Result<std::string> compressed = codec.Compress(content_, compression.level);
  if (!compressed) return compressed.error();
  const bool smaller = compressed->size() < content_.size();
  compression_ = smaller ? codec.name() : "identity";
  compressed_ = smaller ? *std::move(compressed) : content_;
  stored_size_ = kBlockHeaderSize + compressed_.size();
  return {};
}

Status TreeVolume::Spool::MoveTo(const std::string& path) {
  if (path_.empty()) {
    path_ = volume_.TemporaryPath();
    const Status written = WriteSmallBlockFile(volume_.fs_, path_, Header(compression_),
                                               compressed_, !volume_.buffered());
    if (!written) return written;
  }
  const Status renamed = volume_.fs_.Rename(path_, path);
  if (renamed) path_.clear();
  return renamed;
}

}  // namespace stele::store
