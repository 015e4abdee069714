#pragma once

#include <cstdint>
#include <string_view>

#include "codec/block_deflater.h"
#include "codec/buffer.h"

namespace stele::store {

// Makes the record of a block: one gzip member, in which head and content have deflate blocks of
// their own that begin and end at byte boundaries. So the content's bytes can be cut out of the
// file as they were compressed. docs/formats/container.md.
//
//   10 bytes  header of the gzip member
//    5 + n    the head of the record, in a stored block
//    …        the content: any deflate blocks but a last one. If it is not compressed, stored
//    blocks
//             of 65535 bytes, of which the last one may be shorter
//    5 + 4    the two empty lines behind a record, in a stored block: the last one
//    8        CRC-32 and size of it all
//
// Appends to `out`, which may be emptied between calls. Borrows its arguments. Not thread-safe.
class RecordPacker {
 public:
  static constexpr std::size_t kHeadBytesMax = 65'535;
  // No flags, no time, an unknown system.
  static constexpr std::string_view kGzipHeader{"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10};
  static constexpr std::string_view kRecordEnd = "\r\n\r\n";
  static constexpr std::string_view kLastBlock{"\x01\x04\0\xfb\xff\r\n\r\n", 9};

  // Stored blocks with these bytes.
  static void AppendStored(std::string_view bytes, codec::Buffer& out);

  // Without `deflater` the content is not compressed.
  RecordPacker(std::uint64_t content_size, codec::BlockDeflater* deflater, codec::Buffer& out)
      : content_left_(content_size), deflater_(deflater), out_(out) {}

  // `head` with its empty line. Requires: not longer than kHeadBytesMax. Call once, first.
  void Begin(std::string_view head);
  // Requires: no more than content_size bytes in all.
  void Add(std::string_view piece);
  // All of the content, instead: its checksum once, then its deflate blocks, which stand in a
  // record as packed_content.h found, in pieces.
  void BeginBlocks(std::uint32_t content_crc);
  void AddBlocks(std::string_view piece) { out_.Append(piece); }
  // Requires: all bytes are there. Call once, last.
  void End();

 private:
  void Count(std::string_view plain);

  std::uint64_t content_left_;
  codec::BlockDeflater* const deflater_;
  codec::Buffer& out_;
  std::uint64_t stored_left_ = 0;  // of the stored block that has been begun
  std::uint32_t crc_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace stele::store
