#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/archive_view.h"
#include "archive/block_source.h"
#include "archive/continuations.h"
#include "archive/stored_record.h"
#include "catalog/capture.h"
#include "util/result.h"

namespace stele::archive {

class PayloadProof;

// The block of a capture: that of its record, and where that was cut into segments, those of the
// records that continue it. The payload is compared on the way: with the digest that it had when it
// came, and that of a joined record with the one that its head claims; those of revisits are not.
// Not thread-safe. Borrows `view` for life.
class CaptureBlock final : public BlockSource {
 public:
  enum class Segments {
    kAsFarAsHere,      // all up to the first that is missing
    kJoinedIfAllHere,  // else the first alone
    kFirst,
  };
  // Errors: those of ArchiveView::Open(), and of finding segments.
  static Result<std::unique_ptr<CaptureBlock>> Open(const ArchiveView& view,
                                                    const catalog::Capture& capture,
                                                    Segments segments = Segments::kAsFarAsHere);
  ~CaptureBlock() override;

  // The capture's own, the first where there are several.
  const record::Record& record() const override { return first_->record(); }
  // Errors: also kCorrupt instead of the end when the payload is not what it should be, or a
  // segment not as long as it says.
  Result<std::string_view> Read() override;

  bool is_segmented() const { return is_segmented_; }
  // Whether all segments of several are given, and are right.
  bool is_joined() const { return is_segmented_ && found_.flaw.empty() && !joined_.empty(); }
  // Why something is missing at the end, where segments are to be joined; empty: nothing is.
  const std::string& flaw() const { return found_.flaw; }
  // All that are here.
  const std::vector<Continuation>& continuations() const { return found_.all; }

 private:
  CaptureBlock(const ArchiveView& view, const catalog::CapturePlace& place);
  Status FindSegments(Segments segments);
  void Expect(const catalog::Capture& capture);
  // One segment has ended. True: there is another.
  Result<bool> GoOn();
  Status CheckPayload();
  Error Damage(std::string_view what) const;

  const ArchiveView& view_;
  const catalog::CapturePlace place_;
  std::unique_ptr<StoredRecord> first_;
  bool is_segmented_ = false;
  Continuations::Found found_;
  std::vector<Continuation> joined_;     // behind the first
  std::size_t next_ = 0;                 // of joined_
  std::unique_ptr<StoredRecord> later_;  // the one that is read; null: the first
  std::uint64_t length_ = 0;             // that was read of it
  std::unique_ptr<PayloadProof> proof_;  // null: there is nothing to compare with
  std::optional<bool> is_right_;         // what the comparison showed
};

}  // namespace stele::archive
