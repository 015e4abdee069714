#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/archive_layout.h"
#include "archive/container_rows.h"
#include "archive/continuations.h"
#include "archive/holdings.h"
#include "archive/stored_record.h"
#include "catalog/catalog_view.h"
#include "catalog/page_cache.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::archive {

// An archive as it was at one moment. Thread-safe. `fs`, `cache` and `containers` are
// borrowed for life, and by records that it opens.
class ArchiveView {
 public:
  ArchiveView(io::FileSystem& fs, catalog::PageCache& cache,
              std::shared_ptr<const ArchiveLayout> layout, std::shared_ptr<const Holdings> holdings,
              std::shared_ptr<const catalog::CatalogView> catalog, OpenContainers& containers)
      : fs_(fs),
        cache_(cache),
        layout_(std::move(layout)),
        holdings_(std::move(holdings)),
        catalog_(std::move(catalog)),
        containers_(containers) {}

  const ArchiveLayout& layout() const { return *layout_; }
  const Holdings& holdings() const { return *holdings_; }
  const catalog::CatalogView& catalog() const { return *catalog_; }
  io::FileSystem& fs() const { return fs_; }

  // The file of a container, also of one that grows, whose file gets another name when it is
  // sealed. Errors: kNotFound when the ledger has no such container.
  Result<std::string> PathOf(std::uint32_t container) const;
  // The rows beside it. Errors: kNotFound, also when it still grows; kCorrupt.
  Result<std::unique_ptr<ContainerRows>> RowsOf(std::uint32_t container) const;
  // Tells of all captures of a container in the order of its file, with rows as the archive has
  // them. Texts are valid during the call. Errors: those of RowsOf(), kIo, and those of `take`,
  // which end it.
  Status ForEachCapture(const Container& container,
                        const std::function<Status(const ContainerCapture&)>& take) const;

  // The record of a capture. Errors: kNotFound, kIo; kCorrupt when it is not at its place.
  Result<std::unique_ptr<StoredRecord>> Open(const catalog::Capture& capture) const;
  // A record that belongs to a capture of a container. Errors: likewise.
  Result<std::unique_ptr<StoredRecord>> Open(std::uint32_t container,
                                             const Companion& companion) const;
  Continuations& continuations() const { return *continuations_; }

 private:
  Result<std::unique_ptr<StoredRecord>> OpenIn(const catalog::CapturePlace& place,
                                               const StoredRecord::IsIt& is_it) const;

  io::FileSystem& fs_;
  catalog::PageCache& cache_;
  const std::shared_ptr<const ArchiveLayout> layout_;
  const std::shared_ptr<const Holdings> holdings_;
  const std::shared_ptr<const catalog::CatalogView> catalog_;
  OpenContainers& containers_;
  const std::shared_ptr<Continuations> continuations_ = std::make_shared<Continuations>();
};

}  // namespace stele::archive
