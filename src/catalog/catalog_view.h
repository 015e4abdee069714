#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "catalog/capture_scan.h"
#include "catalog/capture_segment.h"
#include "catalog/location_merge.h"
#include "catalog/location_query.h"
#include "catalog/location_run.h"
#include "catalog/manifest.h"
#include "catalog/new_rows.h"
#include "catalog/pisa_timeline.h"
#include "util/result.h"

namespace stele::catalog {

// The files of a catalog, open.
struct CatalogFiles {
  Manifest manifest;
  std::vector<std::shared_ptr<const LocationRun>> runs;         // as in the manifest
  std::vector<std::shared_ptr<const CaptureSegment>> segments;  // as in the manifest
  std::vector<PisaSegmentPointer> pisa;                         // as in the manifest
  std::vector<std::shared_ptr<const LocationRun>> loose;        // as in the manifest

  // All entries of the runs; of the loose runs. Borrow this.
  std::unique_ptr<MergedLocations> NewRunCursor(LocationRun::Reading reading) const;
  std::unique_ptr<MergedLocations> NewLooseCursor(LocationRun::Reading reading) const;
};

// A batch as a whole.
struct BatchSummary {
  std::uint32_t batch = 0;
  std::uint64_t rows = 0;  // those that were given again count again until they are merged
  TimeRange times;
  std::uint64_t bytes = 0;  // of its files; new rows are in none yet

  friend bool operator==(const BatchSummary&, const BatchSummary&) = default;
};

// A catalog as it was at one moment: what comes later does not change it, and what is removed stays
// readable. Thread-safe.
class CatalogView : public std::enable_shared_from_this<CatalogView> {
 public:
  CatalogView(std::shared_ptr<const CatalogFiles> files, std::vector<NewRowsView> new_rows)
      : files_(std::move(files)), new_rows_(std::move(new_rows)) {}

  // The row of a capture; of several with this id the newest. Errors: kNotFound, kCorrupt, kIo.
  Result<HeldCapture> Get(CaptureId id) const;

  // Which captures of which URLs there are.
  LocationResults Find(LocationQuery query) const;
  // The same, for whoever looks at several places. Borrows this.
  std::unique_ptr<LocationCursor> NewLocationCursor() const;

  // What was shown at a moment or in a span of time: each capture of these URLs that was the newest
  // of its URL at some moment of it, whatever the order in which captures came. Costs about what
  // the answer has, where PISA segments were made (docs/pisa.md). Of several captures of a URL
  // with one time, that with the largest id counts.
  PisaTimelineCursor Alive(PisaTimelineQuery query) const;

  // Captures that were acquired in a span of time, batch by batch in crawl order.
  CaptureScan Scan(CaptureScan::Query query) const;

  // The batches that have rows, sorted.
  std::vector<std::uint32_t> Batches() const;
  // The same, with what is known of each without reading it.
  std::vector<BatchSummary> BatchSummaries() const;

  // Reads every page of every file, and reports each that is damaged or not in order, each PISA
  // segment where an invariant of the tree does not hold (CheckPisa()), and PISA segments that have
  // other captures than the runs. New rows are not read again.
  void Verify(const std::function<void(const Error&)>& report) const;

  const CatalogFiles& files() const { return *files_; }
  const std::vector<NewRowsView>& new_rows() const { return new_rows_; }  // the oldest first

  // The batches whose entries in the run with this number do not count any more.
  static std::vector<std::uint32_t> HiddenIn(const Manifest& manifest, std::uint64_t run);

 private:
  const std::shared_ptr<const CatalogFiles> files_;
  const std::vector<NewRowsView> new_rows_;
};

}  // namespace stele::catalog
