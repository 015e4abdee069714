#include "archive/archive_view.h"

#include <fmt/format.h>

#include "formats/cdx/capture_rules.h"
#include "util/checksum.h"

namespace stele::archive {

Result<std::string> ArchiveView::PathOf(std::uint32_t number) const {
  if (const Container* container = holdings_->Find(number)) {
    return layout_->ContainerPath(*container);
  }
  const Container* open = holdings_->FindOpen(number);
  if (open == nullptr) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("the ledger knows no container {}; run stele reindex", number)};
  }
  Result<std::string> path = layout_->ContainerPath(*open);
  if (!path) return path.error();
  const Result<bool> grows = fs_.Exists(OpenPath(*path));
  if (!grows) return grows.error();
  return *grows ? OpenPath(*path) : *path;
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

Status ArchiveView::ForEachCapture(
    const Container& container, const std::function<Status(const ContainerCapture&)>& take) const {
  const Result<std::unique_ptr<ContainerRows>> rows = RowsOf(container.number);
  if (!rows) return rows.error();
  std::uint64_t ordinal = 0;
  return (*rows)->ForEachCapture([&](std::span<ContainerCapture> some) -> Status {
    for (ContainerCapture& capture : some) {
      container.Place(capture.row, ordinal++);
      if (const Status taken = take(capture); !taken) return taken;
    }
    return {};
  });
}

Result<std::unique_ptr<StoredRecord>> ArchiveView::OpenIn(const catalog::CapturePlace& place,
                                                          const StoredRecord::IsIt& is_it) const {
  Result<std::string> path = PathOf(place.container);
  if (!path) return path.error();
  // One that grows is opened anew each time, as its end moves.
  const bool sealed = holdings_->Find(place.container) != nullptr;
  auto record = StoredRecord::Open(fs_, *path, place, is_it, sealed ? &containers_ : nullptr);
  if (record || record.error().code != ErrorCode::kNotFound) return record;
  // It may have been sealed just now.
  path = PathOf(place.container);
  if (!path) return path.error();
  return StoredRecord::Open(fs_, *path, place, is_it, nullptr);
}

Result<std::unique_ptr<StoredRecord>> ArchiveView::Open(const catalog::Capture& capture) const {
  return OpenIn(capture.place, [&](const record::Record& record) {
    // A request in the same member has the same URL and time.
    return cdx::IsCapture(record) && record.target_uri == capture.url &&
           record.date == capture.time;
  });
}

Result<std::unique_ptr<StoredRecord>> ArchiveView::Open(std::uint32_t container,
                                                        const Companion& companion) const {
  const catalog::CapturePlace place{container, companion.offset, companion.length};
  return OpenIn(place, [&](const record::Record& record) {
    return record.type == companion.type && ChecksumOf(record.target_uri) == companion.uri &&
           NamedCapture(record) == companion.about;
  });
}

}  // namespace stele::archive
