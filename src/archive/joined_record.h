#pragma once

#include <functional>
#include <memory>
#include <string>

#include "archive/continuations.h"
#include "archive/whole_block.h"
#include "formats/warc/warc_writer.h"

namespace stele::archive {

// A record that was cut into segments, as if it had never been. Borrows all for life.
class JoinedRecord {
 public:
  // `segments` are all that continue the capture's record. Errors: those of reading them; kCorrupt
  // when one is not as long as it says.
  static Result<JoinedRecord> Of(const ArchiveView& view, const catalog::Capture& capture,
                                 const std::vector<Continuation>& segments);

  // Those of the first segment, with digests of the whole.
  const warc::FieldList& fields() const { return fields_; }
  std::uint64_t length() const { return length_; }
  // Gives the whole block to `take`. Errors: those of both.
  Status ForEach(const TakePiece& take) const;

 private:
  JoinedRecord(const ArchiveView& view, const catalog::Capture& capture,
               const std::vector<Continuation>& segments)
      : view_(&view), capture_(&capture), segments_(&segments) {}
  Status Examine();

  const ArchiveView* view_;
  const catalog::Capture* capture_;
  const std::vector<Continuation>* segments_;
  warc::FieldList fields_;
  std::uint64_t length_ = 0;
};

}  // namespace stele::archive
