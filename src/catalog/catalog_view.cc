#include "catalog/catalog_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

namespace {

void AddNewRows(const std::vector<NewRowsView>& logs, MergedLocations& merged) {
  for (const NewRowsView& rows : logs) {
    for (const auto& part : rows.locations) merged.Add(part->NewCursor());
  }
}

}  // namespace

std::unique_ptr<MergedLocations> CatalogFiles::NewRunCursor(LocationRun::Reading reading) const {
  auto merged = std::make_unique<MergedLocations>();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    merged->Add(runs[i]->NewCursor(reading),
                CatalogView::HiddenIn(manifest, manifest.runs[i].number));
  }
  return merged;
}

std::unique_ptr<MergedLocations> CatalogFiles::NewLooseCursor(LocationRun::Reading reading) const {
  auto merged = std::make_unique<MergedLocations>();
  for (std::size_t i = 0; i < loose.size(); ++i) {
    merged->Add(loose[i]->NewCursor(reading), CatalogView::HiddenIn(manifest, manifest.loose[i]));
  }
  return merged;
}

std::unique_ptr<LocationCursor> CatalogView::NewLocationCursor() const {
  auto merged = files_->NewRunCursor(LocationRun::Reading::kAgain);
  AddNewRows(new_rows_, *merged);
  return merged;
}

LocationResults CatalogView::Find(LocationQuery query) const {
  return LocationResults(NewLocationCursor(), std::move(query), shared_from_this());
}

PisaTimelineCursor CatalogView::Alive(PisaTimelineQuery query) const {
  auto loose = files_->NewLooseCursor(LocationRun::Reading::kAgain);
  AddNewRows(new_rows_, *loose);
  return PisaTimelineCursor(files_->pisa, std::move(loose), std::move(query), shared_from_this());
}

CaptureScan CatalogView::Scan(CaptureScan::Query query) const {
  return CaptureScan(shared_from_this(), std::move(query));
}

std::vector<std::uint32_t> CatalogView::Batches() const {
  std::vector<std::uint32_t> batches;
  for (const BatchSummary& summary : BatchSummaries()) batches.push_back(summary.batch);
  return batches;
}

std::vector<BatchSummary> CatalogView::BatchSummaries() const {
  std::map<std::uint32_t, BatchSummary> batches;
  const auto add = [&](std::uint32_t batch, const TimeRange& times) -> BatchSummary& {
    const auto [place, is_new] = batches.try_emplace(batch, BatchSummary{batch, 0, times});
    TimeRange& all = place->second.times;
    all = {std::min(all.first, times.first), std::max(all.last, times.last)};
    return place->second;
  };
  for (const auto& segment : files_->segments) {
    BatchSummary& summary = add(segment->totals().batch, segment->totals().times);
    summary.rows += segment->totals().rows;
    summary.bytes += segment->file().bytes();
  }
  for (const NewRowsView& rows : new_rows_) {
    for (const auto& part : rows.places) {
      for (const RowPlace& row : *part) ++add(row.id.batch, {row.time, row.time}).rows;
    }
  }
  std::vector<BatchSummary> summaries;
  for (const auto& [batch, summary] : batches) summaries.push_back(summary);
  return summaries;
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
      return report(run.file().Corrupt("its entries are not in order"));
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
  report(run.file().Corrupt("has more or fewer entries than it says"));
}

void VerifySegment(const CaptureSegment& segment, const std::function<void(const Error&)>& report) {
  CaptureSegmentCursor cursor(segment, kTimeBegin, kTimeEnd);
  std::uint64_t rows = 0;
  Status status = cursor.Seek(0);
  for (; status && cursor.valid(); status = cursor.Next()) ++rows;
  if (!status) return report(status.error());
  if (rows == segment.totals().rows) return;
  report(segment.file().Corrupt("has more or fewer rows than it says"));
}

// The timeline has each capture of the runs, but of several with one key and time only the last.
Status CompareWithRuns(const CatalogFiles& files) {
  const Error differs = files.pisa.front()->file().Corrupt(
      "it and the PISA segments behind it have other captures than the runs");
  const auto runs = files.NewRunCursor(LocationRun::Reading::kOnce);
  PisaTimelineCursor timeline(files.pisa, files.NewLooseCursor(LocationRun::Reading::kOnce),
                              {kBeginningOfTime, kEndOfTime});
  LocationCursor::Move move = runs->Seek(FirstOf(""));
  while (move && *move != nullptr) {
    const std::string key((*move)->key);
    LocationEntry last = **move;
    while (move && *move != nullptr && (*move)->key == key && (*move)->time == last.time) {
      last.id = (*move)->id;
      move = runs->Next();
    }
    const Result<bool> more = timeline.Next();
    if (!more) return more.error();
    if (!*more || timeline.key() != key || timeline.birth() != last.time ||
        timeline.capture() != last.id) {
      return differs;
    }
  }
  if (!move) return move.error();
  const Result<bool> more = timeline.Next();
  if (!more) return more.error();
  return *more ? Status(differs) : Status();
}

}  // namespace

void CatalogView::Verify(const std::function<void(const Error&)>& report) const {
  std::size_t found = 0;
  const auto find = [&](const Error& error) {
    ++found;
    report(error);
  };
  // What lies in damaged pages is not looked at.
  const auto pages_are_good = [&](const PageFile& file) {
    const std::size_t before = found;
    file.Verify(find);
    return found == before;
  };
  for (const auto& segment : files_->segments) {
    if (pages_are_good(segment->file())) VerifySegment(*segment, find);
  }
  found = 0;  // of what the last comparison reads
  for (const auto& run : files_->runs) {
    if (pages_are_good(run->file())) VerifyRun(*run, find);
  }
  for (const auto& run : files_->loose) {
    const bool known =
        std::find(files_->runs.begin(), files_->runs.end(), run) != files_->runs.end();
    if (!known && pages_are_good(run->file())) VerifyRun(*run, find);
  }
  for (const PisaSegmentPointer& segment : files_->pisa) {
    if (const Status status = segment->Validate(find); !status) find(status.error());
  }
  if (found > 0 || files_->pisa.empty()) return;
  if (const Status status = CompareWithRuns(*files_); !status) find(status.error());
}

}  // namespace stele::catalog
