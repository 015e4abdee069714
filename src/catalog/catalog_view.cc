#include "catalog/catalog_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "catalog/location_merge.h"

namespace stele::catalog {

Result<HeldCapture> CatalogView::Get(CaptureId id) const {
  for (auto rows = new_rows_.rbegin(); rows != new_rows_.rend(); ++rows) {
    if (const RowPlace* place = rows->Find(id)) return rows->log->Read(place->offset);
  }
  // In the manifest, the newest comes first.
  for (const auto& segment : files_->segments) {
    if (segment->totals().batch != id.batch) continue;
    Result<HeldCapture> row = segment->Get(id.serial);
    if (row || row.error().code != ErrorCode::kNotFound) return row;
  }
  return Error{ErrorCode::kNotFound, fmt::format("no capture {} in batch {}", id.serial, id.batch)};
}

std::vector<std::uint32_t> CatalogView::HiddenIn(const Manifest& manifest, std::uint64_t run) {
  std::vector<std::uint32_t> hidden;
  for (const Manifest::Dropped& dropped : manifest.dropped) {
    if (run < dropped.before) hidden.push_back(dropped.batch);
  }
  std::sort(hidden.begin(), hidden.end());
  return hidden;
}

LocationResults CatalogView::Find(LocationQuery query) const {
  auto merged = std::make_unique<MergedLocations>();
  for (std::size_t i = 0; i < files_->runs.size(); ++i) {
    merged->Add(files_->runs[i]->NewCursor(LocationRun::Reading::kAgain),
                HiddenIn(files_->manifest, files_->manifest.runs[i].number));
  }
  for (const NewRowsView& rows : new_rows_) {
    for (const auto& part : rows.locations) merged->Add(part->NewCursor());
  }
  return LocationResults(std::move(merged), std::move(query), shared_from_this());
}

CaptureScan CatalogView::Scan(CaptureScan::Query query) const {
  return CaptureScan(shared_from_this(), std::move(query));
}

std::vector<std::uint32_t> CatalogView::Batches() const {
  std::set<std::uint32_t> batches;
  for (const auto& segment : files_->segments) batches.insert(segment->totals().batch);
  for (const NewRowsView& rows : new_rows_) {
    for (const auto& part : rows.places) {
      for (const RowPlace& row : *part) batches.insert(row.id.batch);
    }
  }
  return {batches.begin(), batches.end()};
}

namespace {

// Every entry behind the one before, and as many as the totals say.
void VerifyRun(const LocationRun& run, const std::function<void(const Error&)>& report) {
  const auto cursor = run.NewCursor(LocationRun::Reading::kOnce);
  LocationRunTotals found;
  std::string last;
  LocationCursor::Move move = cursor->Seek(FirstOf(""));
  for (; move && *move != nullptr; move = cursor->Next()) {
    std::string position = EncodePosition(**move);
    if (found.entries > 0 && position <= last) {
      return report({ErrorCode::kCorrupt,
                     run.file().path() + ": its entries are not in order; rebuild the catalog"});
    }
    LocationEntry before;
    if (found.entries == 0 || (DecodePosition(last, before) && before.key != (*move)->key)) {
      ++found.keys;
    }
    ++found.entries;
    last = std::move(position);
  }
  if (!move) return report(move.error());
  if (found == run.totals()) return;
  report({ErrorCode::kCorrupt,
          run.file().path() + ": has more or fewer entries than it says; rebuild the catalog"});
}

void VerifySegment(const CaptureSegment& segment, const std::function<void(const Error&)>& report) {
  CaptureSegmentCursor cursor(segment, kTimeBegin, kTimeEnd);
  std::uint64_t rows = 0;
  Status status = cursor.Seek(0);
  for (; status && cursor.valid(); status = cursor.Next()) ++rows;
  if (!status) return report(status.error());
  if (rows == segment.totals().rows) return;
  report({ErrorCode::kCorrupt,
          segment.file().path() + ": has more or fewer rows than it says; rebuild the catalog"});
}

}  // namespace

void CatalogView::Verify(const std::function<void(const Error&)>& report) const {
  // What lies in damaged pages is not looked at.
  const auto pages_are_good = [&](const PageFile& file) {
    bool good = true;
    file.Verify([&](const Error& error) {
      good = false;
      report(error);
    });
    return good;
  };
  for (const auto& run : files_->runs) {
    if (pages_are_good(run->file())) VerifyRun(*run, report);
  }
  for (const auto& segment : files_->segments) {
    if (pages_are_good(segment->file())) VerifySegment(*segment, report);
  }
}

}  // namespace stele::catalog
