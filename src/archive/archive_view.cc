#include "archive/archive_view.h"

#include <fmt/format.h>

namespace stele::archive {

Result<std::string> ArchiveView::PathOf(std::uint32_t number) const {
  const Container* container = holdings_->Find(number);
  if (container == nullptr) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("the ledger knows no container {}; run stele reindex", number)};
  }
  return layout_->ContainerPath(*container);
}

Result<std::unique_ptr<ContainerRows>> ArchiveView::RowsOf(std::uint32_t number) const {
  const Container* container = holdings_->Find(number);
  if (container == nullptr) {
    return Error{ErrorCode::kNotFound, fmt::format("the ledger knows no container {}", number)};
  }
  Result<std::string> path = layout_->RowsPath(container->volume, number);
  if (!path) return path.error();
  return ContainerRows::Open(fs_, *path, cache_);
}

Result<std::unique_ptr<StoredRecord>> ArchiveView::Open(const catalog::Capture& capture) const {
  Result<std::string> path = PathOf(capture.place.container);
  if (!path) return path.error();
  return StoredRecord::Open(fs_, *path, capture.place.offset, [&](const record::Record& record) {
    return record.target_uri == capture.url && record.date == capture.time;
  });
}

Result<std::unique_ptr<StoredRecord>> ArchiveView::OpenAt(
    const catalog::CapturePlace& place) const {
  Result<std::string> path = PathOf(place.container);
  if (!path) return path.error();
  return StoredRecord::Open(fs_, *path, place.offset, [](const record::Record&) { return true; });
}

}  // namespace stele::archive
