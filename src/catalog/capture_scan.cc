#include "catalog/capture_scan.h"

#include <algorithm>
#include <map>

#include "catalog/catalog_view.h"

namespace stele::catalog {

CaptureScan::CaptureScan(std::shared_ptr<const CatalogView> view, Query query)
    : view_(std::move(view)), query_(std::move(query)) {
  batches_ = query_.batch ? std::vector{*query_.batch} : view_->Batches();
  std::erase_if(batches_, [this](std::uint32_t batch) {
    return query_.after && batch < query_.after->batch;
  });
  std::reverse(batches_.begin(), batches_.end());
  // The newest log wins.
  std::map<CaptureId, std::pair<RowPlace, const CaptureLog*>> rows;
  for (const NewRowsView& log : view_->new_rows()) {
    for (const auto& part : log.places) {
      for (const RowPlace& row : *part) {
        if (row.time < query_.from || query_.to < row.time) continue;
        if (query_.batch && row.id.batch != *query_.batch) continue;
        if (query_.after && row.id <= *query_.after) continue;
        rows[row.id] = {row, log.log.get()};
      }
    }
  }
  for (const auto& [id, row] : rows) {
    places_.push_back(row.first);
    place_logs_.push_back(row.second);
  }
}

Status CaptureScan::EnterBatch(std::uint32_t batch) {
  batch_ = batch;
  sources_.clear();
  std::uint32_t first = 0;
  if (query_.after && query_.after->batch == batch) {
    if (query_.after->serial == 0xFFFF'FFFF) return {};
    first = query_.after->serial + 1;
  }
  const CatalogFiles& files = view_->files();
  for (std::size_t i = 0; i < files.segments.size(); ++i) {
    const CaptureSegment& segment = *files.segments[i];
    if (segment.totals().batch != batch) continue;
    if (!segment.totals().times.Meets(query_.from, query_.to)) continue;
    auto cursor = std::make_unique<CaptureSegmentCursor>(segment, query_.from, query_.to);
    if (const Status status = cursor->Seek(first); !status) return status;
    if (cursor->valid()) sources_.push_back({static_cast<std::uint32_t>(i), std::move(cursor)});
  }
  while (next_place_ < places_.size() && places_[next_place_].id.batch < batch) ++next_place_;
  return {};
}

Status CaptureScan::PassRow() {
  for (Source& source : sources_) {
    if (source.cursor->row().id != out_) continue;
    if (const Status status = source.cursor->Next(); !status) return status;
  }
  std::erase_if(sources_, [](const Source& source) { return !source.cursor->valid(); });
  return {};
}

Result<const Capture*> CaptureScan::NextInBatch() {
  if (const Status status = PassRow(); !status) return status.error();
  Source* best = nullptr;
  for (Source& source : sources_) {
    if (best == nullptr || source.cursor->row().id < best->cursor->row().id ||
        (source.cursor->row().id == best->cursor->row().id && source.age < best->age)) {
      best = &source;
    }
  }
  const RowPlace* place = next_place_ < places_.size() && places_[next_place_].id.batch == batch_
                              ? &places_[next_place_]
                              : nullptr;
  if (place != nullptr && (best == nullptr || place->id <= best->cursor->row().id)) {
    Result<HeldCapture> row = place_logs_[next_place_++]->Read(place->offset);
    if (!row) return row.error();
    held_ = std::move(*row);
    out_ = place->id;
    return &held_.row;
  }
  if (best == nullptr) return nullptr;
  out_ = best->cursor->row().id;
  return &best->cursor->row();
}

Result<const Capture*> CaptureScan::Next() {
  for (;;) {
    const Result<const Capture*> row = NextInBatch();
    if (!row) return row;
    if (*row != nullptr) {
      if (!query_.what || query_.what->Has(LocationKeyOf(**row))) return row;
      continue;
    }
    if (batches_.empty()) return nullptr;
    const std::uint32_t batch = batches_.back();
    batches_.pop_back();
    if (const Status status = EnterBatch(batch); !status) return status.error();
  }
}

}  // namespace stele::catalog
