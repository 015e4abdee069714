// How the catalog is made from ledger and rows, and rows from containers: all of it, or one batch.
#include <fmt/format.h>

#include <algorithm>

#include "archive/applied_mark.h"
#include "archive/archive_reader.h"
#include "archive/archive_writer.h"
#include "archive/container_scan.h"
#include "archive/durable_file.h"

namespace stele::archive {
namespace {

constexpr std::string_view kRestoreIt = "restore it from a backup";
constexpr std::string_view kRowsStay =
    "listed with the rows that it had; restore it from a backup, then run stele reindex "
    "--from-files";
constexpr std::string_view kNotListed =
    "its captures are not listed; bring it back, or restore it from a backup, then run stele "
    "reindex";

}  // namespace

Status ArchiveWriter::OpenCatalog(Rebuild rebuild) {
  io::FileSystem& fs = environment_.fs;
  // What is left of one that was not finished.
  if (const Status removed = RemoveTree(fs, layout_->NewCatalogDirectory()); !removed) {
    return removed;
  }
  const std::string directory = layout_->CatalogDirectory();
  if (rebuild == Rebuild::kNothing) {
    auto catalog = catalog::Catalog::Open(fs, directory, cache_, environment_.catalog);
    if (!catalog) return catalog.error();
    catalog_ = std::move(*catalog);
    return {};
  }
  if (const Status made = MakeDirectories(fs, directory); !made) return made;
  auto catalog = catalog::Catalog::OpenBeside(fs, directory, layout_->NewCatalogDirectory(), cache_,
                                              environment_.catalog);
  if (!catalog) return catalog.error();
  catalog_ = std::move(*catalog);
  return {};
}

Status ArchiveWriter::ApplyAll(Rebuild rebuild) {
  AppliedMark applied;
  if (rebuild == Rebuild::kNothing) {
    Result<AppliedMark> mark = ReadAppliedMark(environment_.fs, layout_->AppliedPath());
    if (!mark) return mark.error();
    applied = *std::move(mark);
  }
  for (const auto& [number, container] : holdings_.containers()) {
    if (container.ledger_end <= applied.ledger_end && !applied.lacks.contains(number)) continue;
    if (const Status taken = TakeIn(container, rebuild); !taken) return taken;
  }
  for (const auto& [number, removal] : holdings_.removals()) {
    if (removal.ledger_end <= applied.ledger_end) continue;
    if (const Status marked = MarkRemoved(removal); !marked) return marked;
  }
  if (rebuild != Rebuild::kNothing) {
    if (const Status replaced = ReplaceCatalog(); !replaced) return replaced;
  } else if (holdings_.purge_end() > applied.ledger_end) {
    if (const Status forgotten = ForgetRowsOfPurged(); !forgotten) return forgotten;
  }
  is_behind_ = false;
  return Checkpoint();
}

Status ArchiveWriter::ReplaceCatalog() {
  io::FileSystem& fs = environment_.fs;
  Result<AppliedMark> mark = ReadAppliedMark(fs, layout_->AppliedPath());
  if (!mark) return mark.error();
  if (mark->ledger_end > 0 && !lacks_.empty()) {
    // True of both catalogs, whichever is there after a crash.
    mark->lacks.insert(lacks_.begin(), lacks_.end());
    const Status marked = io::ReplaceFile(fs, layout_->AppliedPath(), FormatAppliedMark(*mark));
    if (!marked) return marked;
  }
  const std::string directory = layout_->CatalogDirectory();
  if (const Status replaced = catalog_->TakePlaceOf(directory); !replaced) return replaced;
  catalog_ = nullptr;
  if (const Status removed = RemoveTree(fs, layout_->NewCatalogDirectory()); !removed) {
    return removed;
  }
  auto catalog = catalog::Catalog::Open(fs, directory, cache_, environment_.catalog);
  if (!catalog) return catalog.error();
  catalog_ = std::move(*catalog);
  return {};
}

Status ArchiveWriter::TakeIn(const Container& container, Rebuild rebuild) {
  const auto fail = [&](const Error& error, std::string_view remedy) {
    index_failures_.insert_or_assign(
        container.number,
        Error{error.code, fmt::format("container {} ({}): {}; {}", container.number, container.name,
                                      error.text, remedy)});
  };
  if (rebuild == Rebuild::kCatalogAndRows) {
    const Status made = RemakeRows(container);
    if (!made && made.error().code == ErrorCode::kFull) return made;
    if (!made) fail(made.error(), kRowsStay);
  }
  Status taken;
  const Status read = Index(container, taken);
  if (!taken) return taken;
  if (read) return {};
  if (read.error().code == ErrorCode::kFull) return read;
  lacks_.insert(container.number);
  fail(read.error(), kNotListed);
  return {};
}

void ArchiveWriter::MakeLostRows() {
  for (const ArchiveConfig::Volume& volume : layout_->config().volumes) {
    const auto names = environment_.fs.List(layout_->VolumeDirectory(volume));
    if (!names || !volume.writable) continue;  // until it is there again
    for (const auto& [number, container] : holdings_.containers()) {
      if (container.volume != volume.name || index_failures_.contains(number) ||
          std::binary_search(names->begin(), names->end(), fmt::format("{:08}.rows", number))) {
        continue;
      }
      if (const Status made = MakeRows(container); !made) {
        index_failures_.insert(
            {number, Error{made.error().code,
                           fmt::format("container {} ({}): {}; its rows are lost; "
                                       "{}",
                                       number, container.name, made.error().text, kRestoreIt)}});
      }
    }
  }
}

Status ArchiveWriter::Checkpoint() {
  if (const Status synced = catalog_->Sync(); !synced) return synced;
  since_checkpoint_ = 0;
  if (is_behind_ || knows_purged_) return {};
  return io::ReplaceFile(environment_.fs, layout_->AppliedPath(),
                         FormatAppliedMark({.ledger_end = ledger_->end(), .lacks = lacks_}));
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
        if (const Status made = RemakeRows(container); !made) return made;
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

Status ArchiveWriter::Index(const Container& container, Status& taken) {
  std::vector<catalog::Capture> here;
  return ForEachRow(container, [&](std::span<const catalog::Capture> rows) {
    here.clear();
    for (const catalog::Capture& row : rows) {
      const auto place = holdings_.NewPlaceOf(row.id);
      if (!place || *place == container.number) here.push_back(row);
    }
    taken = catalog_->Append(here);
    return taken;
  });
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
  ScanOptions options;
  options.left_out = container.NamesLeftOut();
  options.check = [&](ContainerSummary& summary) -> Status {
    bool same = summary.captures() == container.captures;
    for (const Container::Batch& batch : container.batches) {
      same = same && summary.batches[batch.batch] == batch.count;
    }
    if (same) return {};
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}: has other captures than when it came", *file)};
  };
  Result<ContainerSummary> summary = WriteContainerRows(environment_.fs, *file, options, *path);
  return summary ? Status() : summary.error();
}

Status ArchiveWriter::RemakeRows(const Container& container) {
  Result<std::string> file = layout_->ContainerPath(container);
  if (!file) return file.error();
  const Result<FileFacts> facts = FactsOf(environment_.fs, *file);
  if (!facts) return facts.error();
  if (facts->sha256 != container.sha256) {
    return Error{ErrorCode::kCorrupt, fmt::format("{}: its SHA-256 is {} and was {} when it came",
                                                  *file, facts->sha256, container.sha256)};
  }
  return MakeRows(container);
}

}  // namespace stele::archive
