#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "catalog/capture.h"
#include "catalog/capture_segment.h"
#include "catalog/location_query.h"
#include "catalog/new_rows.h"
#include "catalog/selection.h"
#include "util/result.h"

namespace stele::catalog {

class CatalogView;

// Goes through captures in the order of their ids: batch by batch, in each in crawl order. Not
// thread-safe.
class CaptureScan {
 public:
  struct Query {
    Timestamp from = kTimeBegin;
    Timestamp to = kTimeEnd;             // included
    std::optional<Selection> what;       // nothing: all URLs
    std::optional<CaptureId> after;      // goes on behind this one
    std::optional<std::uint32_t> batch;  // only this one
  };

  CaptureScan(std::shared_ptr<const CatalogView> view, Query query);

  // Null after the last. The row is valid until the next call. To resume, a query says `after` the
  // last one's id. Errors: kCorrupt, kIo; nothing more may be asked then.
  Result<const Capture*> Next();

 private:
  // Rows of one batch from a segment.
  struct Source {
    std::uint32_t age = 0;  // the newer, the smaller
    std::unique_ptr<CaptureSegmentCursor> cursor;
  };

  Status EnterBatch(std::uint32_t batch);
  // Moves all sources behind the row that is out.
  Status PassRow();
  // The row with the least serial of the batch, the newest of several; null at its end.
  Result<const Capture*> NextInBatch();

  const std::shared_ptr<const CatalogView> view_;
  const Query query_;
  std::vector<std::uint32_t> batches_;  // still to come, the last first
  std::vector<Source> sources_;
  NewRowsView::Places places_;                 // of all logs, by id
  std::vector<const CaptureLog*> place_logs_;  // of each
  std::size_t next_place_ = 0;
  std::uint32_t batch_ = 0;
  std::optional<CaptureId> out_;  // of the row that is out
  HeldCapture held_;              // the row, when it is from a log
};

}  // namespace stele::catalog
