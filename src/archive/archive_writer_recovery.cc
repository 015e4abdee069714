// What Open() does with containers that grew when their writer was interrupted.
#include <fmt/format.h>

#include "archive/archive_writer.h"
#include "archive/container_recovery.h"
#include "archive/durable_file.h"

namespace stele::archive {
namespace {

Error Damaged(const Container& container) {
  return Error{
      ErrorCode::kCorrupt,
      fmt::format("{} of run {} was damaged while it grew: it has other captures than the catalog; "
                  "restore it from a backup, or do without them by: stele reindex",
                  container.name, container.run)};
}

}  // namespace

Status ArchiveWriter::SealOpenContainers() {
  const std::map<std::uint32_t, Container> open = holdings_.open_containers();
  for (const auto& [number, container] : open) {
    if (layout_->FindVolume(container.volume) == nullptr) continue;  // until it is there again
    if (unknown_.contains(number)) continue;  // it was sealed, which an old ledger does not know
    if (const Status sealed = SealWhatIsLeft(container); !sealed) return sealed;
  }
  return {};
}

Status ArchiveWriter::SealWhatIsLeft(const Container& open) {
  Container container = open;
  Result<std::string> path = layout_->ContainerPath(container);
  Result<std::string> rows_path = layout_->RowsPath(container.volume, container.number);
  Result<std::string> torn = layout_->TornPath(container.volume, container.number);
  if (!path || !rows_path || !torn) return !path ? path.error() : rows_path.error();
  Result<std::optional<ContainerSummary>> left =
      RecoverContainer(environment_.fs, OpenPath(*path), *rows_path, *torn);
  if (!left) return left.error();
  Container::Batch& batch = container.batches.front();
  batch.count = *left ? (*left)->batches[batch.batch] : 0;
  if (*left && (*left)->captures() != batch.count) return Damaged(container);
  if (*left) {
    auto rows = ContainerRows::Open(environment_.fs, *rows_path, cache_);
    if (!rows) return rows.error();
    if (const Status same = CompareWithCatalog(container, **rows); !same) return same;
  }
  if (const Status all = CheckNoneIsLost(container); !all) return all;
  if (batch.count == 0) {
    LedgerEvent event;
    event.what = "purge";
    event.Add("container", container.number);
    if (const Status appended = Append(std::move(event)); !appended) return appended;
    return RemoveFiles(container);
  }
  Result<FileFacts> facts = FactsOf(environment_.fs, OpenPath(*path));
  if (!facts) return facts.error();
  container.sha256 = facts->sha256;
  container.bytes = facts->bytes;
  container.Describe(**left);
  container.time = environment_.clock.Now();
  if (const Status appended = Append(container.Event()); !appended) return appended;
  return FinishContainer(container);
}

Status ArchiveWriter::CompareWithCatalog(const Container& container, const ContainerRows& rows) {
  const std::shared_ptr<const catalog::CatalogView> view = catalog_->View();
  std::uint64_t ordinal = 0;
  return rows.ForEachCapture([&](std::span<ContainerCapture> some) -> Status {
    for (ContainerCapture& capture : some) {
      container.Place(capture.row, ordinal++);
      const Result<catalog::HeldCapture> held = view->Get(capture.row.id);
      if (!held && held.error().code != ErrorCode::kNotFound) return held.error();
      if (held && (held->row.url != capture.row.url || held->row.place != capture.row.place)) {
        return Damaged(container);
      }
    }
    return {};
  });
}

// A file of which nothing is left may have had captures too.
Status ArchiveWriter::CheckNoneIsLost(const Container& container) {
  const Container::Batch& batch = container.batches.front();
  const Result<catalog::HeldCapture> behind =
      catalog_->View()->Get({batch.batch, batch.base + batch.count});
  if (!behind && behind.error().code == ErrorCode::kNotFound) return {};
  return behind ? Damaged(container) : behind.error();
}

}  // namespace stele::archive
