#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "catalog/capture_scan.h"
#include "catalog/capture_segment.h"
#include "catalog/location_query.h"
#include "catalog/location_run.h"
#include "catalog/manifest.h"
#include "catalog/new_rows.h"
#include "util/result.h"

namespace stele::catalog {

// The files of a catalog, open.
struct CatalogFiles {
  Manifest manifest;
  std::vector<std::shared_ptr<const LocationRun>> runs;         // as in the manifest
  std::vector<std::shared_ptr<const CaptureSegment>> segments;  // as in the manifest
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

  // Captures that were acquired in a span of time, batch by batch in crawl order.
  CaptureScan Scan(CaptureScan::Query query) const;

  // The batches that have rows, sorted.
  std::vector<std::uint32_t> Batches() const;

  // Reads every page of every file, and reports each that is damaged or not in order. New rows are
  // not read again.
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
