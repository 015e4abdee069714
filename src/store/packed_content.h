#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codec/block_deflater.h"
#include "codec/buffer.h"
#include "codec/codec.h"
#include "io/stream.h"

// Contents on their way between clients and volumes, compressed as they are or will be stored.
namespace stele::store {

// What stands behind the deflate blocks of a content in a gzip member: an empty last block,
// checksum and size.
std::string EndOfMember(std::uint32_t crc, std::uint64_t content_size);

// Makes a gzip member whose deflate blocks a record can take over.
std::string PackGzip(std::string_view content, codec::BlockDeflater& deflater);

struct TakenBlocks {
  codec::Buffer plain;      // begins with the content
  std::string_view blocks;  // of the member
};
// The content of a gzip member, which has `content_size` bytes, and its deflate blocks, if they can
// stand in a record: nothing is believed, they are inflated as they would stand there. Nothing for
// anything else.
std::optional<TakenBlocks> TakeBlocks(std::string_view member, std::uint64_t content_size);

// A content that comes compressed, decompressed as it is read. More than `content_size` bytes never
// come out. Borrows `packed` for life. Errors: kInvalid for bytes that cannot be decompressed, are
// cut off, or are followed by others; those of `packed`.
class DecodedSource final : public io::Source {
 public:
  DecodedSource(io::Source& packed, const codec::Codec& codec, std::uint64_t content_size)
      : packed_(packed), decoder_(codec.NewDecoder()), left_(content_size) {}

  Result<std::size_t> Read(std::span<char> out) override;

 private:
  Status Fill();

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
