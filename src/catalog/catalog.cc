// Rows go into a log, which is their only home at first; what is searched of them is in memory. A
// full log becomes segments of its batches and a run, and the manifest that names these and no
// longer the log is swapped in. So the manifest alone decides what there is, and whoever has read
// one and opened its files has a catalog that nobody changes.
#include "catalog/catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/catalog_files.h"
#include "catalog/remedy.h"
#include "util/check.h"

namespace stele::catalog {
namespace {

constexpr std::size_t kFullLogsMax = 2;  // so many wait for Maintain() before Append() does it

Status CheckKey(const Capture& capture, std::string_view key) {
  const bool good = !key.empty() && std::all_of(key.begin(), key.end(),
                                                [](char c) { return '!' <= c && c <= '~'; });
  if (good) return CheckCapture(capture);
  return Error{ErrorCode::kInvalid,
               fmt::format("the key of capture {}/{} is empty or has bytes other than '!' to '~'",
                           capture.id.batch, capture.id.serial)};
}

std::shared_ptr<const CatalogView> MakeView(const std::shared_ptr<const CatalogFiles>& files,
                                            const std::deque<std::unique_ptr<NewRows>>& logs) {
  std::vector<NewRowsView> rows;
  for (const std::unique_ptr<NewRows>& log : logs) rows.push_back(log->View());
  return std::make_shared<const CatalogView>(files, std::move(rows));
}

}  // namespace

Catalog::Catalog(io::FileSystem& fs, std::string directory, PageCache& cache,
                 CatalogOptions options)
    : fs_(fs), directory_(std::move(directory)), cache_(cache), options_(options) {}

Catalog::~Catalog() = default;

Result<std::unique_ptr<Catalog>> Catalog::Open(io::FileSystem& fs, std::string directory,
                                               PageCache& cache, CatalogOptions options) {
  std::unique_ptr<Catalog> catalog(new Catalog(fs, std::move(directory), cache, options));
  if (const Status status = catalog->Load(); !status) return status.error();
  return catalog;
}

Result<std::unique_ptr<Catalog>> Catalog::Restore(io::FileSystem& fs, std::string directory,
                                                  PageCache& cache, const Restoration& restoration,
                                                  CatalogOptions options) {
  std::unique_ptr<Catalog> catalog(new Catalog(fs, std::move(directory), cache, options));
  if (const Status status = catalog->Load(&restoration); !status) return status.error();
  return catalog;
}

Result<std::set<std::uint32_t>> Catalog::DamagedBatches(io::FileSystem& fs,
                                                        const std::string& directory,
                                                        PageCache& cache) {
  std::set<std::uint32_t> damaged;
  const Result<Manifest> manifest = ReadManifest(fs, directory);
  if (!manifest) return manifest.error();
  for (const Manifest::Segment& line : manifest->segments) {
    const std::string path = SegmentPath(directory, line.batch, line.number);
    const auto segment = CaptureSegment::Open(fs, path, cache);
    if (!segment && segment.error().code == ErrorCode::kIo) return segment.error();
    if (!segment) damaged.insert(line.batch);
  }
  return damaged;
}

Status Catalog::Load(const Restoration* restoration) {
  for (const std::string& path :
       {directory_, RunDirectory(directory_), CaptureDirectory(directory_)}) {
    if (const Status status = fs_.MakeDirectory(path); !status) return status;
  }
  for (const std::string& path : {io::ParentDirectory(directory_), directory_}) {
    if (const Status status = fs_.SyncDirectory(path); !status) return status;
  }
  Result<std::unique_ptr<io::FileLock>> lock = fs_.Lock(directory_ + "/lock");
  if (!lock) return lock.error();
  lock_ = std::move(*lock);
  if (const Status status = MakeManifest(); !status) return status;
  Result<Manifest> manifest = ReadManifest(fs_, directory_);
  if (!manifest) return manifest.error();
  next_file_ = manifest->next_file;
  if (const Status status = RemoveStrays(fs_, directory_, *manifest); !status) return status;
  if (restoration != nullptr) {
    std::erase_if(manifest->segments, [&](const Manifest::Segment& segment) {
      return restoration->batches.contains(segment.batch);
    });
  }
  auto files = OpenFiles(fs_, directory_, *manifest, nullptr, cache_);
  if (!files && files.error().code == ErrorCode::kNotFound) {
    // Nobody but the one writer removes files.
    return Error{ErrorCode::kCorrupt, files.error().text};
  }
  if (!files) return files.error();
  files_ = std::move(*files);
  if (restoration != nullptr) {
    // Before logs are replayed: each manifest that is written from now on has the rows.
    if (const Status status = RestoreRows(*restoration); !status) return status;
  }
  return ReplayLogs();
}

Status Catalog::RestoreRows(const Restoration& restoration) {
  const std::scoped_lock maintenance(maintenance_);
  Manifest manifest = files_->manifest;
  if (restoration.forgets) {
    if (!manifest.pisa.empty()) ForgetPisa(manifest);
    for (const std::uint32_t batch : restoration.batches) ForgetBatch(batch, manifest);
  }
  std::string log;  // it is never written: its rows go to segments when it is full
  auto rows = std::make_unique<NewRows>(0, nullptr);
  const auto write = [&]() -> Status {
    const NewRowsView& view = rows->View();
    if (const Status status = WriteSegments(view, log, manifest); !status) return status;
    if (restoration.forgets && !view.places.empty()) {
      if (const Status status = WriteRun(view.locations, manifest); !status) return status;
    }
    log.clear();
    rows = std::make_unique<NewRows>(0, nullptr);
    return {};
  };
  const Status read = restoration.rows([&](std::span<const Capture> captures) -> Status {
    for (const Capture& capture : captures) {
      const std::string key = LocationKeyOf(capture);
      if (const Status status = CheckKey(capture, key); !status) return status;
      rows->Add(capture, key, log.size());
      AppendLogRow(capture, 0, log);
    }
    return log.size() < options_.log_bytes ? Status() : write();
  });
  if (!read) return read;
  if (const Status status = write(); !status) return status;
  if (const Status status = Commit(std::move(manifest), /*flushed=*/false); !status) return status;
  return RemoveStrays(fs_, directory_, files_->manifest);
}

Status Catalog::MakeManifest() {
  const Result<bool> exists = fs_.Exists(ManifestPath(directory_));
  if (!exists) return exists.error();
  if (*exists) return {};
  const Result<std::vector<std::string>> runs = fs_.List(RunDirectory(directory_));
  if (!runs) return runs.error();
  if (!runs->empty()) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{} is missing; {}", ManifestPath(directory_), kReindexRemedy)};
  }
  return io::ReplaceFile(fs_, ManifestPath(directory_), FormatManifest(Manifest()));
}

Status Catalog::ReplayLogs() {
  std::uint64_t number = files_->manifest.first_log;
  for (;; ++number) {
    Result<std::unique_ptr<CaptureLog>> log =
        CaptureLog::Open(fs_, LogPath(directory_, number), cache_);
    if (!log && log.error().code == ErrorCode::kNotFound) break;
    if (!log) return log.error();
    const std::shared_ptr<const CaptureLog> shared = std::move(*log);
    logs_.push_back(std::make_unique<NewRows>(number, shared));
    const Result<std::uint64_t> end = logs_.back()->Tail();
    if (!end) return end.error();
    if (const Status status = shared->CheckTail(*end); !status) return status;
  }
  // A log is never continued: its end may be torn.
  const std::scoped_lock maintenance(maintenance_);
  while (!logs_.empty()) {
    if (const Status status = FlushOldest(); !status) return status;
  }
  const std::scoped_lock lock(mutex_);
  return BeginLog();
}

Status Catalog::BeginLog() {
  const std::uint64_t number =
      logs_.empty() ? files_->manifest.first_log : logs_.back()->number() + 1;
  const std::string path = LogPath(directory_, number);
  Result<std::unique_ptr<CaptureLogWriter>> writer = CaptureLogWriter::Create(fs_, path);
  if (!writer) return writer.error();
  Result<std::unique_ptr<CaptureLog>> log = CaptureLog::Open(fs_, path, cache_);
  if (!log) return log.error();
  writer_ = std::move(*writer);
  logs_.push_back(std::make_unique<NewRows>(number, std::move(*log)));
  return {};
}

Status Catalog::Broken(const Error& error) {
  broken_ = Error{error.code, error.text + "; open the catalog again before adding to it"};
  return error;
}

Status Catalog::Append(std::span<const Capture> captures) {
  std::vector<std::string> keys;
  keys.reserve(captures.size());
  for (const Capture& capture : captures) {
    keys.push_back(LocationKeyOf(capture));
    if (const Status status = CheckKey(capture, keys.back()); !status) return status;
  }
  std::size_t full_logs = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (broken_) return *broken_;
    std::vector<std::uint64_t> offsets;
    offsets.reserve(captures.size());
    if (const Status status = writer_->Append(captures, offsets); !status) {
      return Broken(status.error());
    }
    for (std::size_t i = 0; i < captures.size(); ++i) {
      logs_.back()->Add(captures[i], keys[i], offsets[i]);
    }
    if (writer_->bytes() >= options_.log_bytes) {
      // Sync() is about the log that grows; what is full must not be left to it.
      if (const Status status = writer_->Sync(); !status) return Broken(status.error());
      if (const Status status = BeginLog(); !status) return Broken(status.error());
    }
    full_logs = logs_.size() - 1;
  }
  if (full_logs <= kFullLogsMax) return {};
  const Result<bool> done = FlushFull();
  return done ? MergeWhereTooMany() : done.error();
}

Status Catalog::Sync() {
  const std::scoped_lock lock(mutex_);
  if (broken_) return *broken_;
  if (const Status status = writer_->Sync(); !status) return Broken(status.error());
  return {};
}

std::shared_ptr<const CatalogView> Catalog::View() {
  const std::scoped_lock lock(mutex_);
  return MakeView(files_, logs_);
}

CatalogReader::CatalogReader(io::FileSystem& fs, std::string directory, PageCache& cache)
    : fs_(fs), directory_(std::move(directory)), cache_(cache) {}

Result<std::unique_ptr<CatalogReader>> CatalogReader::Open(io::FileSystem& fs,
                                                           std::string directory,
                                                           PageCache& cache) {
  std::unique_ptr<CatalogReader> reader(new CatalogReader(fs, std::move(directory), cache));
  if (const Status status = reader->Refresh(); !status) return status.error();
  return reader;
}

Status CatalogReader::Refresh() {
  // What is missing was merged away since the manifest was read: read it again.
  Status status;
  for (int attempt = 0; attempt < 100; ++attempt) {
    status = TryRefresh();
    if (status || status.error().code != ErrorCode::kNotFound) break;
  }
  return status;
}

Status CatalogReader::TryRefresh() {
  const Result<Manifest> manifest = ReadManifest(fs_, directory_);
  if (!manifest) return manifest.error();
  if (files_ == nullptr || files_->manifest != *manifest) {
    auto files = OpenFiles(fs_, directory_, *manifest, files_.get(), cache_);
    if (!files && files.error().code == ErrorCode::kNotFound) {
      // Nobody but the one writer removes files, and only those that it names no more.
      const Result<Manifest> now = ReadManifest(fs_, directory_);
      if (now && *now == *manifest) return Error{ErrorCode::kCorrupt, files.error().text};
    }
    if (!files) return files.error();
    files_ = std::move(*files);
  }
  while (!logs_.empty() && logs_.front()->number() < manifest->first_log) logs_.pop_front();
  for (;;) {
    const std::uint64_t next = logs_.empty() ? manifest->first_log : logs_.back()->number() + 1;
    Result<std::unique_ptr<CaptureLog>> log =
        CaptureLog::Open(fs_, LogPath(directory_, next), cache_);
    if (!log && log.error().code == ErrorCode::kNotFound) break;
    if (!log) return log.error();
    logs_.push_back(std::make_unique<NewRows>(next, std::move(*log)));
  }
  // The log behind the last has not begun yet, unless it has become a run meanwhile.
  const std::uint64_t missing = logs_.empty() ? manifest->first_log : logs_.back()->number() + 1;
  const Result<Manifest> now = ReadManifest(fs_, directory_);
  if (!now) return now.error();
  if (now->first_log > missing) {
    return Error{ErrorCode::kNotFound, directory_ + " changes faster than it is read; try again"};
  }
  for (const std::unique_ptr<NewRows>& log : logs_) {
    if (const Status tailed = log->TailOfOther(); !tailed) return tailed;
  }
  std::shared_ptr<const CatalogView> view = MakeView(files_, logs_);
  const std::scoped_lock lock(mutex_);
  view_ = std::move(view);
  return {};
}

std::shared_ptr<const CatalogView> CatalogReader::View() const {
  const std::scoped_lock lock(mutex_);
  return view_;
}

}  // namespace stele::catalog
