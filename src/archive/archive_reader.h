#pragma once

#include <memory>
#include <string>

#include "archive/applied_mark.h"
#include "archive/archive_view.h"
#include "archive/container_file_system.h"
#include "catalog/catalog.h"

namespace stele::archive {

// Pages of indexes that are kept in memory.
inline constexpr std::size_t kIndexCacheBytes = std::size_t{64} << 20;

// Whether `directory` is an archive.
Result<bool> IsArchive(io::FileSystem& fs, const std::string& directory);
// What archive.toml says. Errors: kNotFound when this is no archive, kInvalid.
Result<std::shared_ptr<const ArchiveLayout>> LoadLayout(io::FileSystem& fs,
                                                        const std::string& directory);

// That the catalog knows more than the ledger.
Error NotOfThisLedger(const ArchiveLayout& layout);
// That it did, until it was made anew.
Error ForgottenSince(const ArchiveLayout& layout);

// Reads an archive that another process may be writing. Not thread-safe; its views are. Borrows
// `fs` for life.
class ArchiveReader {
 public:
  // Errors: kNotFound when this is no archive, or its catalog is missing; kOutdated when the
  // catalog is not complete, or not that of the ledger; kInvalid for a wrong configuration;
  // kCorrupt, also when the ledger is missing.
  static Result<std::unique_ptr<ArchiveReader>> Open(io::FileSystem& fs,
                                                     const std::string& directory);

  // Takes up what has been written since. Containers that are gone or were replaced are noticed now
  // at the latest. What a writer does just now may be there or not.
  Status Refresh();
  // What the catalog had for sure at the last Refresh().
  const AppliedMark& applied() const { return applied_; }
  // As of the last Refresh(). The reader must outlive it.
  ArchiveView View();

 private:
  ArchiveReader(io::FileSystem& fs, const std::shared_ptr<const ArchiveLayout>& layout)
      : fs_(fs, layout), cache_(kIndexCacheBytes), layout_(layout) {}

  Status TryRefresh();

  ContainerFileSystem fs_;
  catalog::PageCache cache_;
  OpenContainers containers_;
  const std::shared_ptr<const ArchiveLayout> layout_;
  AppliedMark applied_;
  std::shared_ptr<const Holdings> holdings_;
  std::unique_ptr<catalog::CatalogReader> catalog_;
};

}  // namespace stele::archive
