#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "codec/block_deflater.h"
#include "codec/buffer.h"
#include "codec/codec.h"
#include "io/stream.h"
#include "store/compression.h"

// Contents on their way between clients and volumes, compressed as they are or will be stored.
namespace stele::store {

// What stands behind the deflate blocks of a content in a gzip member: an empty last block,
// checksum and size.
std::string EndOfMember(std::uint32_t crc, std::uint64_t content_size);

// Makes a gzip member whose deflate blocks a record can take over.
std::string PackGzip(std::string_view content, codec::BlockDeflater& deflater);

// A content compressed as it is read, in flat memory; as gzip, it is a member whose deflate blocks
// a record can take over. Errors: kInvalid when the content does not have `content_size` bytes;
// those of `content`, which is borrowed for life.
class PackedSource final : public io::Source {
 public:
  // Requires: WireCodec() knows the codec.
  PackedSource(io::Source& content, std::uint64_t content_size, const Compression& compression);

  Result<std::size_t> Read(std::span<char> out) override;

 private:
  Status Fill();
  void Deflate(std::string_view piece);
  Status Encode(std::string_view piece);

  io::Source& content_;
  const std::uint64_t content_size_;
  std::uint64_t content_left_;
  std::unique_ptr<codec::BlockDeflater> deflater_;  // null: encoder_
  std::unique_ptr<codec::Encoder> encoder_;
  std::uint32_t crc_ = 0;
  std::string piece_;
  codec::Buffer packed_;
  std::string_view packed_left_;  // of packed_
  bool ended_ = false;
};

struct TakenBlocks {
  codec::Buffer plain;      // begins with the content
  std::string_view blocks;  // of the member
  std::uint32_t crc = 0;    // of the content
};
// The content of a gzip member, which has `content_size` bytes, and its deflate blocks, if they can
// stand in a record: nothing is believed, they are inflated as they would stand there. Nothing for
// anything else.
std::optional<TakenBlocks> TakeBlocks(std::string_view member, std::uint64_t content_size);

// The same for a member that comes as a stream: it comes out with the end of a record instead of
// its own, and whoever inflates it gets the content, followed by the end of a record. A member that
// cannot be ours comes out as it is. Borrows `member` for life.
class StandingMember final : public io::Source {
 public:
  StandingMember(io::Source& member, std::uint64_t content_size)
      : member_(member), content_size_(content_size) {}

  Result<std::size_t> Read(std::span<char> out) override;

  // The checksum of the content, as the member says it, once its end has been read; none: it comes
  // as it is.
  const std::optional<std::uint32_t>& taken_crc() const { return taken_crc_; }

 private:
  Status Fill();

  io::Source& member_;
  const std::uint64_t content_size_;
  std::string piece_;
  std::string held_;  // the last bytes that have come
  std::string head_;  // the first
  std::string_view ready_;
  std::optional<std::uint32_t> taken_crc_;
  bool ended_ = false;
};

// Where the deflate blocks of such a member begin, and how many bytes follow them.
inline constexpr std::size_t kBlocksBegin = 10;
inline constexpr std::size_t kBehindBlocks = 10;

// A content that comes compressed, decompressed as it is read. More than `content_size` bytes never
// come out. Borrows `packed` for life, or has it. Errors: kInvalid for bytes that cannot be
// decompressed, are cut off, or are followed by others; those of `packed`.
class DecodedSource final : public io::Source {
 public:
  DecodedSource(io::Source& packed, const codec::Codec& codec, std::uint64_t content_size)
      : packed_(packed), decoder_(codec.NewDecoder()), left_(content_size) {}
  DecodedSource(std::unique_ptr<io::Source> packed, const codec::Codec& codec,
                std::uint64_t content_size)
      : own_(std::move(packed)),
        packed_(*own_),
        decoder_(codec.NewDecoder()),
        left_(content_size) {}

  Result<std::size_t> Read(std::span<char> out) override;

 private:
  Status Fill();

  const std::unique_ptr<io::Source> own_;
  io::Source& packed_;
  const std::unique_ptr<codec::Decoder> decoder_;
  std::uint64_t left_;
  std::string piece_;
  std::string_view piece_left_;
  bool packed_ended_ = false;
  bool decoded_ = false;
};

// The codecs in which contents cross the network; null for others.
const codec::Codec* WireCodec(std::string_view name);

// What undoes the compression `packed` of a content; null where there is none. Borrows `content`.
// Errors: kInvalid for a compression that is not known.
Result<std::unique_ptr<io::Source>> DecodedContent(io::Source& content, std::string_view packed,
                                                   std::uint64_t content_size);

}  // namespace stele::store
