#include "archive/archive_reader.h"

#include <fmt/format.h>

#include "archive/ledger.h"
#include "archive/unknown_containers.h"

namespace stele::archive {

Result<bool> IsArchive(io::FileSystem& fs, const std::string& directory) {
  return fs.Exists(ArchiveLayout::ConfigPath(directory));
}

Result<std::shared_ptr<const ArchiveLayout>> LoadLayout(io::FileSystem& fs,
                                                        const std::string& directory) {
  const std::string path = ArchiveLayout::ConfigPath(directory);
  Result<std::string> text = io::ReadFile(fs, path);
  if (!text && text.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{} is no archive: it has no archive.toml; name one with --archive, "
                             "or make one with stele crawl or stele import",
                             directory)};
  }
  if (!text) return text.error();
  Result<ArchiveConfig> config = ParseArchiveConfig(*text, path);
  if (!config) return config.error();
  return std::make_shared<const ArchiveLayout>(directory, *std::move(config));
}

Error NotOfThisLedger(const ArchiveLayout& layout) {
  return {ErrorCode::kOutdated,
          fmt::format("{} knows more than {}: has an old ledger been restored? Restore the newer "
                      "one, which alone knows what came since, was taken down or is held. Only "
                      "where it is lost, do without all that by: stele reindex",
                      layout.CatalogDirectory(), layout.LedgerPath())};
}

Error ForgottenSince(const ArchiveLayout& layout) {
  return {ErrorCode::kOutdated,
          fmt::format("{} knew more than {}: captures, takedowns and holds that came since are "
                      "forgotten; restore the newer ledger, then run stele reindex again",
                      layout.CatalogDirectory(), layout.LedgerPath())};
}

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::Open(io::FileSystem& fs,
                                                           const std::string& directory) {
  Result<std::shared_ptr<const ArchiveLayout>> layout = LoadLayout(fs, directory);
  if (!layout) return layout.error();
  std::unique_ptr<ArchiveReader> reader(new ArchiveReader(fs, *layout));
  auto catalog =
      catalog::CatalogReader::Open(fs, reader->layout_->CatalogDirectory(), reader->cache_);
  if (!catalog && catalog.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{} has no catalog; make it with: stele reindex", directory)};
  }
  if (!catalog) return catalog.error();
  reader->catalog_ = std::move(*catalog);
  reader->holdings_ = std::make_shared<const Holdings>();
  if (const Status fresh = reader->Refresh(); !fresh) return fresh.error();
  return reader;
}

Status ArchiveReader::Refresh() {
  // The first writer of an archive may be at it.
  Status status = TryRefresh();
  if (!status && status.error().code == ErrorCode::kOutdated) status = TryRefresh();
  return status;
}

Status ArchiveReader::TryRefresh() {
  containers_.CloseAll();
  // In this order, what the mark promises is in the catalog, and what that has, in the ledger.
  Result<AppliedMark> applied = ReadAppliedMark(fs_, layout_->AppliedPath());
  if (!applied) return applied.error();
  if (const Status fresh = catalog_->Refresh(); !fresh) return fresh;
  std::shared_ptr<Holdings> holdings;  // where something is new
  Result<std::uint64_t> end = ReadLedger(
      fs_, layout_->LedgerPath(), holdings_->ledger_end(),
      [&](const LedgerEvent& event, std::uint64_t behind) {
        if (holdings == nullptr) holdings = std::make_shared<Holdings>(*holdings_);
        return holdings->Apply(event, behind);
      },
      applied->ledger_end);
  if (!end && end.error().code == ErrorCode::kNotFound) return LedgerIsMissing(*layout_);
  if (!end) return end.error();
  if (holdings != nullptr) holdings_ = std::move(holdings);
  applied_ = *std::move(applied);
  if (applied_.ledger_end > *end) return NotOfThisLedger(*layout_);
  if (applied_.ledger_end == 0 && !holdings_->containers().empty()) {
    return Error{ErrorCode::kOutdated,
                 fmt::format("the catalog of {} is not complete: it is being made, or that was "
                             "interrupted; wait for it, or make it with: stele reindex",
                             layout_->directory())};
  }
  return {};
}

ArchiveView ArchiveReader::View() {
  return ArchiveView(fs_, cache_, layout_, holdings_, catalog_->View(), containers_);
}

}  // namespace stele::archive
