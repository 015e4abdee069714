#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "codec/buffer.h"
#include "codec/codec.h"
#include "formats/record/record_reader.h"

namespace stele::record {

// Reads the block of a reader's current record as its consumers want it: decompressed where the
// format stores it compressed (Record::block_coding), in bounded memory. Made anew for each record;
// borrows `reader`, whose ReadBlock() it uses up. Not thread-safe.
class BlockStream {
 public:
  // `record` is what reader.Next() gave last; it is not needed afterwards.
  BlockStream(RecordReader& reader, const Record& record);

  // The next piece; empty at the end. The view is valid until the next call.
  // Errors: as RecordReader::ReadBlock(); kCorrupt also when the compressed data is bad, cut off or
  // not of the length that the head says. The error comes again on every later call.
  Result<std::string_view> Read();

 private:
  Result<std::string_view> Decode();
  // After the end of a compressed stream: true when another one follows.
  Result<bool> GoesOn();

  RecordReader& reader_;
  const BlockCoding coding_;
  const std::optional<std::uint64_t> expected_;
  std::unique_ptr<codec::Decoder> decoder_;  // null: the block is stored as it is
  std::string_view in_;                      // of the reader, not yet decoded
  codec::Buffer out_;
  std::uint64_t decoded_ = 0;
  bool stream_done_ = false;
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace stele::record
