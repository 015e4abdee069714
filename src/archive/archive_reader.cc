#include "archive/archive_reader.h"

#include <fmt/format.h>

#include "archive/ledger.h"

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
  containers_.CloseAll();
  // The catalog first: what it has, the ledger had before.
  if (const Status fresh = catalog_->Refresh(); !fresh) return fresh;
  std::shared_ptr<Holdings> holdings;  // where something is new
  Result<std::uint64_t> end = ReadLedger(fs_, layout_->LedgerPath(), holdings_->ledger_end(),
                                         [&](const LedgerEvent& event, std::uint64_t behind) {
                                           if (holdings == nullptr)
                                             holdings = std::make_shared<Holdings>(*holdings_);
                                           return holdings->Apply(event, behind);
                                         });
  if (!end) return end.error();
  if (holdings != nullptr) holdings_ = std::move(holdings);
  return {};
}

ArchiveView ArchiveReader::View() {
  return ArchiveView(fs_, cache_, layout_, holdings_, catalog_->View(), containers_);
}

}  // namespace stele::archive
