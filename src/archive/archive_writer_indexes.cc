// How the catalog is made from ledger and rows, and rows from containers: all of it, or one batch.
#include <fmt/format.h>

#include <algorithm>

#include "archive/archive_writer.h"
#include "archive/container_scan.h"
#include "archive/durable_file.h"

namespace stele::archive {

Status ArchiveWriter::RemoveIndexes(Rebuild rebuild) {
  if (rebuild == Rebuild::kNothing) return {};
  // The mark first: without it nobody believes what is left of the catalog.
  if (const Status removed = RemoveTree(environment_.fs, layout_->AppliedPath()); !removed) {
    return removed;
  }
  if (const Status removed = RemoveTree(environment_.fs, layout_->CatalogDirectory()); !removed) {
    return removed;
  }
  if (rebuild == Rebuild::kCatalog) return {};
  for (const auto& [number, container] : holdings_.containers()) {
    Result<std::string> rows = layout_->RowsPath(container.volume, number);
    if (!rows) return rows.error();
    if (const Status removed = RemoveTree(environment_.fs, *rows); !removed) return removed;
  }
  return {};
}

Status ArchiveWriter::OpenCatalog(Rebuild rebuild) {
  if (const Status removed = RemoveIndexes(rebuild); !removed) return removed;
  auto catalog = catalog::Catalog::Open(environment_.fs, layout_->CatalogDirectory(), cache_,
                                        environment_.catalog);
  if (!catalog) return catalog.error();
  catalog_ = std::move(*catalog);
  return {};
}

Status ArchiveWriter::RestoreBatch(std::uint32_t batch, Rebuild rebuild) {
  if (holdings_.NextSerial(batch) == 0) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there never were captures of batch {}; stele batch ls lists those "
                             "that are there",
                             batch)};
  }
  catalog::Catalog::Restoration restoration;
  // Nothing can be opened while others are damaged.
  Result<std::set<std::uint32_t>> damaged =
      catalog::Catalog::DamagedBatches(environment_.fs, layout_->CatalogDirectory(), cache_);
  if (!damaged && damaged.error().code != ErrorCode::kNotFound) return damaged.error();
  if (damaged) restoration.batches = *std::move(damaged);
  restoration.batches.insert(batch);
  std::map<std::uint32_t, Holdings::BatchCount> counts = holdings_.CountByBatch();
  for (const std::uint32_t one : restoration.batches) {
    // What has a serial and no container was purged; the index may still lead to it.
    if (counts[one].captures + counts[one].removed < holdings_.NextSerial(one)) {
      restoration.forgets = true;
    }
  }
  restoration.rows = [&](const TakeRows& take) -> Status {
    for (const auto& [number, container] : holdings_.containers()) {
      if (rebuild == Rebuild::kCatalogAndRows && container.Has(batch)) {
        if (const Status made = MakeRows(container); !made) return made;
      }
      const Status read = ForEachRowOf(container, restoration.batches, take);
      if (!read) return read;
    }
    return {};
  };
  auto catalog = catalog::Catalog::Restore(environment_.fs, layout_->CatalogDirectory(), cache_,
                                           restoration, environment_.catalog);
  if (!catalog) return catalog.error();
  catalog_ = std::move(*catalog);
  return {};
}

Status ArchiveWriter::ForEachRowOf(const Container& container,
                                   const std::set<std::uint32_t>& batches, const TakeRows& take) {
  const bool has_some = std::any_of(batches.begin(), batches.end(),
                                    [&](std::uint32_t batch) { return container.Has(batch); });
  if (!has_some) return {};
  std::vector<catalog::Capture> wanted;
  return ForEachRow(container, [&](std::span<const catalog::Capture> rows) {
    wanted.clear();
    for (const catalog::Capture& row : rows) {
      const auto place = holdings_.NewPlaceOf(row.id);
      const bool is_here = !place || *place == container.number;
      if (is_here && batches.contains(row.id.batch)) wanted.push_back(row);
    }
    return take(wanted);
  });
}

Status ArchiveWriter::Index(const Container& container) {
  return ForEachRow(container,
                    [&](std::span<const catalog::Capture> rows) { return catalog_->Append(rows); });
}

Status ArchiveWriter::ForEachRow(const Container& container, const TakeRows& take) {
  const Status read = ReadRows(container, take);
  const bool rows_are_bad = !read && (read.error().code == ErrorCode::kNotFound ||
                                      read.error().code == ErrorCode::kCorrupt);
  if (!rows_are_bad) return read;
  if (const Status made = MakeRows(container); !made) return made;
  return ReadRows(container, take);
}

Status ArchiveWriter::ReadRows(const Container& container, const TakeRows& take) {
  Result<std::string> path = layout_->RowsPath(container.volume, container.number);
  if (!path) return path.error();
  Result<std::unique_ptr<ContainerRows>> rows = ContainerRows::Open(environment_.fs, *path, cache_);
  if (!rows) return rows.error();
  // What was taken down is never shown, not even until MarkRemoved().
  const std::set<catalog::CaptureId>& removed = holdings_.removed();
  std::vector<catalog::Capture> captures;
  std::uint64_t ordinal = 0;
  return (*rows)->ForEachCapture([&](std::span<ContainerCapture> some) -> Status {
    captures.clear();
    for (ContainerCapture& capture : some) {
      container.Place(capture.row, ordinal++);
      if (removed.contains(capture.row.id)) capture.row.flags |= catalog::kRemoved;
      captures.push_back(capture.row);
    }
    return take(captures);
  });
}

Status ArchiveWriter::MakeRows(const Container& container) {
  Result<std::string> path = layout_->RowsPath(container.volume, container.number);
  if (!path) return path.error();
  Result<std::string> file = layout_->ContainerPath(container);
  if (!file) return file.error();
  Result<ContainerSummary> summary = WriteContainerRows(environment_.fs, *file, {}, *path);
  if (!summary) return summary.error();
  for (const Container::Batch& batch : container.batches) {
    if (summary->batches[batch.batch] == batch.count) continue;
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}: has other captures than when it came; run stele verify", *file)};
  }
  return {};
}

}  // namespace stele::archive
