#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "archive/archive_view.h"
#include "archive/block_source.h"
#include "archive/capture_block.h"
#include "archive/stored_record.h"
#include "util/result.h"

namespace stele::archive {

using TakePiece = std::function<Status(std::string_view)>;
// Gives the block of a record from byte `from` on to `take`. Errors: those of both.
Status ForEachPiece(BlockSource& source, std::uint64_t from, const TakePiece& take);

// What reading a block to its end has shown.
struct BlockFacts {
  std::uint64_t length = 0;
  std::uint64_t head_length = 0;  // of HTTP
  bool is_chunked = false;
  std::string digest;          // of the block, labelled
  std::string payload_digest;  // likewise
  std::uint64_t payload_length = 0;
};
// Errors: those of reading it.
Result<BlockFacts> ExamineBlock(BlockSource& source);

// The block of a revisit as if its payload had been stored with it: its own head, where it has one
// that speaks of the payload, and the body of its original. Borrows all for life.
class WholeBlock {
 public:
  // Errors: those of reading both; kCorrupt when the payload is not what it was.
  static Result<WholeBlock> Of(const ArchiveView& view, const catalog::Capture& revisit,
                               const catalog::Capture& original);

  const record::Record& revisit() const { return revisit_->record(); }
  const record::Record& original() const { return original_block_->record(); }
  // The original was cut into segments, and some of them are not here.
  bool is_cut_off() const { return !original_block_->flaw().empty(); }
  const std::string& payload_digest() const { return facts_.payload_digest; }
  std::uint64_t length() const;
  // Errors: those of reading, and of `take`.
  Status ForEach(const TakePiece& take) const;

 private:
  WholeBlock(const ArchiveView& view, const catalog::Capture& original)
      : view_(&view), original_(&original) {}

  const ArchiveView* view_;
  const catalog::Capture* original_;
  std::unique_ptr<StoredRecord> revisit_;
  std::unique_ptr<CaptureBlock> original_block_;  // read to its end
  BlockFacts facts_;                              // of the original
  std::string begin_;                             // the revisit's head, if it is used
  std::uint64_t body_from_ = 0;                   // of the original's block
  bool as_stored_ = true;                         // the body keeps its transfer coding
};

}  // namespace stele::archive
