#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "archive/archive_view.h"
#include "archive/stored_record.h"
#include "util/result.h"

namespace stele::archive {

using TakePiece = std::function<Status(std::string_view)>;
// Gives the block of a record from byte `from` on to `take`. Errors: those of both.
Status ForEachPiece(StoredRecord& stored, std::uint64_t from, const TakePiece& take);

// What reading a block to its end has shown.
struct BlockFacts {
  std::uint64_t length = 0;
  std::uint64_t head_length = 0;  // of HTTP
  bool is_chunked = false;
  std::string digest;          // of the block, labelled
  std::string payload_digest;  // likewise
  std::string payload_sha256;  // bytes
};
Result<BlockFacts> ExamineBlock(StoredRecord& stored);

// The same of a capture. Errors: kCorrupt when the payload is not what it was when it came; it is
// not compared for revisits.
Result<BlockFacts> ExamineCapture(const ArchiveView& view, const catalog::Capture& capture);

// The block of a revisit as if its payload had been stored with it: its own head, where it has one
// that speaks of the payload, and the body of its original. Borrows all for life.
class WholeBlock {
 public:
  // Errors: those of reading both.
  static Result<WholeBlock> Of(const ArchiveView& view, const catalog::Capture& revisit,
                               const catalog::Capture& original);

  const record::Record& revisit() const { return revisit_->record(); }
  const record::Record& original() const { return original_record_->record(); }
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
  std::unique_ptr<StoredRecord> original_record_;
  BlockFacts facts_;             // of the original
  std::string begin_;            // the revisit's head, if it is used
  std::uint64_t body_from_ = 0;  // of the original's block
  bool as_stored_ = true;        // the body keeps its transfer coding
};

}  // namespace stele::archive
