// Files are merged by level: a new file has level 0, and when a level has `fan_in` runs they become
// one of the next. So an entry is written again as often as the number of logs has digits to the
// base of `fan_in`, and there are at most `fan_in` - 1 runs of each level to search. Segments cost
// more to write and less to have: each knows its serials, so that a row is looked for in one.
#include <algorithm>
#include <map>
#include <set>

#include "catalog/catalog.h"
#include "catalog/catalog_files.h"
#include "catalog/location_merge.h"
#include "util/check.h"

namespace stele::catalog {
namespace {

// Of zstd. What is merged is there to stay.
constexpr int kQuickLevel = 3;
constexpr int kDenseLevel = 9;

// The newest of each batch first.
void Arrange(Manifest& manifest) {
  std::sort(manifest.runs.begin(), manifest.runs.end(),
            [](const Manifest::Run& a, const Manifest::Run& b) {
              return a.level != b.level ? a.level < b.level : a.number > b.number;
            });
  std::sort(manifest.segments.begin(), manifest.segments.end(),
            [](const Manifest::Segment& a, const Manifest::Segment& b) {
              if (a.batch != b.batch) return a.batch < b.batch;
              return a.level != b.level ? a.level < b.level : a.number > b.number;
            });
  std::sort(manifest.loose.begin(), manifest.loose.end(), std::greater<>());
  std::erase_if(manifest.dropped, [&](const Manifest::Dropped& dropped) {
    return std::none_of(manifest.runs.begin(), manifest.runs.end(),
                        [&](const Manifest::Run& run) { return run.number < dropped.before; }) &&
           (manifest.loose.empty() || manifest.loose.back() >= dropped.before);
  });
}

void Erase(std::vector<Manifest::Run>& lines, const std::vector<std::size_t>& which) {
  std::vector<Manifest::Run> left;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (std::find(which.begin(), which.end(), i) == which.end()) left.push_back(lines[i]);
  }
  lines = std::move(left);
}

bool Has(const std::vector<std::uint64_t>& numbers, std::uint64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

// Those of the runs, and of the loose ones beside them.
std::set<std::uint64_t> RunNumbers(const Manifest& manifest) {
  std::set<std::uint64_t> numbers(manifest.loose.begin(), manifest.loose.end());
  for (const Manifest::Run& run : manifest.runs) numbers.insert(run.number);
  return numbers;
}

Status WriteMerged(LocationCursor& merged, LocationRunWriter& run,
                   const std::set<CaptureId>& without = {}) {
  LocationCursor::Move move = merged.Seek(FirstOf(""));
  for (; move && *move != nullptr; move = merged.Next()) {
    if (without.contains((*move)->id)) continue;
    if (const Status status = run.Add(**move); !status) return status;
  }
  if (!move) return move.error();
  const Result<LocationRunTotals> totals = run.Finish();
  return totals ? Status() : totals.error();
}

// Rows of several segments of a batch in the order of their serials, the newest of each. The first
// cursor has the newest.
class MergedRows {
 public:
  explicit MergedRows(std::vector<CaptureSegmentCursor> cursors) : cursors_(std::move(cursors)) {}

  Status Begin() {
    for (CaptureSegmentCursor& cursor : cursors_) {
      if (const Status status = cursor.Seek(0); !status) return status;
    }
    Choose();
    return {};
  }
  // Null at the end.
  const Capture* row() const { return row_; }
  // Requires: row() is there.
  Status Next() {
    const CaptureId id = row_->id;
    for (CaptureSegmentCursor& cursor : cursors_) {
      if (!cursor.valid() || cursor.row().id != id) continue;
      if (const Status status = cursor.Next(); !status) return status;
    }
    Choose();
    return {};
  }

 private:
  void Choose() {
    row_ = nullptr;
    for (const CaptureSegmentCursor& cursor : cursors_) {
      if (!cursor.valid()) continue;
      if (row_ == nullptr || cursor.row().id < row_->id) row_ = &cursor.row();
    }
  }

  std::vector<CaptureSegmentCursor> cursors_;
  const Capture* row_ = nullptr;
};

// False: there is none but `without`, and nothing was written.
Result<bool> WriteMerged(MergedRows& rows, const std::set<CaptureId>& without, io::FileSystem& fs,
                         const std::string& path) {
  std::unique_ptr<CaptureSegmentWriter> segment;
  Status status = rows.Begin();
  for (; status && rows.row() != nullptr; status = rows.Next()) {
    const Capture& row = *rows.row();
    if (without.contains(row.id)) continue;
    if (segment == nullptr) {
      auto created = CaptureSegmentWriter::Create(fs, path, row.id.batch, kDenseLevel);
      if (!created) return created.error();
      segment = std::move(*created);
    }
    if (const Status added = segment->Add(row); !added) return added.error();
  }
  if (!status) return status.error();
  if (segment == nullptr) return false;
  const Result<CaptureSegmentTotals> totals = segment->Finish();
  return totals ? Result<bool>(true) : totals.error();
}

// Whether a file has one of these captures.
Result<bool> HasAny(const CaptureSegment& segment, const std::set<CaptureId>& captures) {
  const CaptureSegmentTotals& totals = segment.totals();
  const auto end = captures.upper_bound({totals.batch, totals.last_serial});
  for (auto id = captures.lower_bound({totals.batch, totals.first_serial}); id != end; ++id) {
    const Result<HeldCapture> row = segment.Get(id->serial);
    if (row) return true;
    if (row.error().code != ErrorCode::kNotFound) return row.error();
  }
  return false;
}

Result<bool> HasAny(const LocationRun& run, const std::set<CaptureId>& captures) {
  const auto cursor = run.NewCursor(LocationRun::Reading::kOnce);
  LocationCursor::Move move = cursor->Seek(FirstOf(""));
  for (; move && *move != nullptr; move = cursor->Next()) {
    if (captures.contains((*move)->id)) return true;
  }
  if (!move) return move.error();
  return false;
}

}  // namespace

Result<bool> Catalog::Maintain() {
  Result<bool> done = FlushFull();
  if (!done || *done) return done;
  {
    const std::scoped_lock maintenance(maintenance_);
    done = MergeRuns(options_.fan_in);
    if (!done || *done) return done;
    done = MergeSegments(options_.segment_fan_in);
    if (!done || *done) return done;
  }
  const std::unique_lock building(building_, std::try_to_lock);
  return building.owns_lock() ? RollPisa(/*all=*/false) : false;
}

Result<bool> Catalog::FlushFull() {
  const std::scoped_lock maintenance(maintenance_);
  {
    const std::scoped_lock lock(mutex_);
    if (broken_) return *broken_;
    if (logs_.size() <= 1) return false;
  }
  const Status status = FlushOldest();
  return status ? Result<bool>(true) : status.error();
}

Status Catalog::FlushOldest() {
  NewRowsView rows;
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    rows = logs_.front()->View();
    number = logs_.front()->number();
  }
  Manifest manifest = files_->manifest;
  manifest.first_log = number + 1;
  if (!rows.places.empty()) {
    const Result<std::string> log = io::ReadFile(fs_, LogPath(directory_, number));
    if (!log) return log.error();
    if (const Status status = WriteSegments(rows, *log, manifest); !status) return status;
    if (const Status status = WriteRun(rows.locations, manifest); !status) return status;
  }
  return Commit(std::move(manifest), /*flushed=*/true);
}

Status Catalog::WriteRun(const LocationMemtable::Parts& entries, Manifest& manifest) {
  const std::uint64_t number = next_file_++;
  SerialClockBuilder clock;
  std::uint64_t count = 0;
  for (const auto& part : entries) {
    for (const LocationEntry& entry : part->entries()) clock.Add(entry.id, entry.time);
    count += part->size();
  }
  auto run = LocationRunWriter::Create(fs_, RunPath(directory_, number), clock.Build(count));
  if (!run) return run.error();
  MergedLocations merged;
  for (const auto& part : entries) merged.Add(part->NewCursor());
  manifest.runs.push_back({number, 0});
  manifest.loose.push_back(number);
  return WriteMerged(merged, **run);
}

Status Catalog::WriteSegments(const NewRowsView& rows, std::string_view log, Manifest& manifest) {
  std::unique_ptr<CaptureSegmentWriter> segment;
  std::uint32_t batch = 0;
  const auto finish = [&]() -> Status {
    if (segment == nullptr) return {};
    const Result<CaptureSegmentTotals> totals = segment->Finish();
    return totals ? Status() : totals.error();
  };
  for (const RowPlace& place : rows.All()) {
    if (segment == nullptr || place.id.batch != batch) {
      if (const Status status = finish(); !status) return status;
      batch = place.id.batch;
      const std::uint64_t number = next_file_++;
      if (const Status status = fs_.MakeDirectory(BatchDirectory(directory_, batch)); !status) {
        return status;
      }
      if (const Status status = fs_.SyncDirectory(CaptureDirectory(directory_)); !status) {
        return status;
      }
      auto created = CaptureSegmentWriter::Create(fs_, SegmentPath(directory_, batch, number),
                                                  batch, kQuickLevel);
      if (!created) return created.error();
      segment = std::move(*created);
      manifest.segments.push_back({batch, number, 0});
    }
    const Result<Capture> capture = CaptureLog::RowIn(log, place.offset);
    if (!capture) return capture.error();
    if (const Status status = segment->Add(*capture); !status) return status;
  }
  return finish();
}

Status Catalog::Commit(Manifest manifest, bool flushed) {
  Arrange(manifest);
  manifest.next_file = next_file_;
  auto files = OpenFiles(fs_, directory_, manifest, files_.get(), cache_);
  if (!files) return files.error();
  const Status replaced = io::ReplaceFile(fs_, ManifestPath(directory_), FormatManifest(manifest));
  const Manifest before = files_->manifest;
  {
    const std::scoped_lock lock(mutex_);
    // It may be there or not: only opening again tells.
    if (!replaced) return Broken(replaced.error());
    files_ = std::move(*files);
    if (flushed) logs_.pop_front();
  }
  RemoveUnused(before, manifest);
  return {};
}

void Catalog::RemoveUnused(const Manifest& before, const Manifest& after) {
  // What cannot be removed now is removed when the catalog is opened the next time.
  const auto remove = [this](const std::string& path) { static_cast<void>(fs_.Remove(path).ok()); };
  const std::set<std::uint64_t> runs = RunNumbers(after);
  for (const std::uint64_t number : RunNumbers(before)) {
    if (!runs.contains(number)) remove(RunPath(directory_, number));
  }
  for (const std::uint64_t number : before.pisa) {
    if (!Has(after.pisa, number)) remove(PisaPath(directory_, number));
  }
  for (const Manifest::Segment& line : before.segments) {
    if (std::find(after.segments.begin(), after.segments.end(), line) == after.segments.end()) {
      remove(SegmentPath(directory_, line.batch, line.number));
    }
  }
  for (std::uint64_t log = before.first_log; log < after.first_log; ++log) {
    remove(LogPath(directory_, log));
  }
}

Status Catalog::MergeWhereTooMany() {
  const std::scoped_lock maintenance(maintenance_);
  for (;;) {
    Result<bool> done = MergeRuns(2 * options_.fan_in);
    if (done && !*done) done = MergeSegments(2 * options_.segment_fan_in);
    if (!done) return done.error();
    if (!*done) return {};
  }
}

Result<bool> Catalog::MergeRuns(std::size_t least) {
  std::map<std::uint32_t, std::vector<std::size_t>> levels;
  const std::vector<Manifest::Run>& runs = files_->manifest.runs;
  for (std::size_t i = 0; i < runs.size(); ++i) levels[runs[i].level].push_back(i);
  for (const auto& [level, which] : levels) {
    if (which.size() < least) continue;
    const Status status = MergeRunsInto(which, level + 1);
    return status ? Result<bool>(true) : status.error();
  }
  return false;
}

Status Catalog::MergeRunsInto(const std::vector<std::size_t>& which, std::uint32_t level) {
  Manifest manifest = files_->manifest;
  const std::uint64_t number = next_file_++;
  SerialClockBuilder clock;
  std::uint64_t count = 0;
  for (const std::size_t i : which) {
    clock.Add(files_->runs[i]->clock());
    count += files_->runs[i]->totals().entries;
  }
  auto run = LocationRunWriter::Create(fs_, RunPath(directory_, number), clock.Build(count));
  if (!run) return run.error();
  MergedLocations merged;
  for (const std::size_t i : which) {
    merged.Add(files_->runs[i]->NewCursor(LocationRun::Reading::kOnce),
               CatalogView::HiddenIn(manifest, manifest.runs[i].number));
  }
  if (const Status status = WriteMerged(merged, **run); !status) return status;
  // When some entries are in PISA segments, those that are not stay loose in the runs they had.
  const bool loose = !rolling_ && std::all_of(which.begin(), which.end(), [&](std::size_t i) {
    return Has(manifest.loose, manifest.runs[i].number);
  });
  if (loose) {
    for (const std::size_t i : which) std::erase(manifest.loose, manifest.runs[i].number);
    manifest.loose.push_back(number);
  }
  Erase(manifest.runs, which);
  manifest.runs.push_back({number, level});
  return Commit(std::move(manifest), /*flushed=*/false);
}

Result<bool> Catalog::MergeSegments(std::size_t least) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> levels;
  const std::vector<Manifest::Segment>& segments = files_->manifest.segments;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    levels[{segments[i].level, segments[i].batch}].push_back(i);
  }
  for (const auto& [level, which] : levels) {
    if (which.size() < least) continue;
    const Status status = MergeSegmentsInto(which, level.first + 1);
    return status ? Result<bool>(true) : status.error();
  }
  return false;
}

Status Catalog::MergeSegmentsInto(const std::vector<std::size_t>& which, std::uint32_t level) {
  Manifest manifest = files_->manifest;
  const Status written = WriteMergedSegment(which, level, {}, manifest);
  return written ? Commit(std::move(manifest), /*flushed=*/false) : written;
}

Status Catalog::WriteMergedSegment(const std::vector<std::size_t>& which, std::uint32_t level,
                                   const std::set<CaptureId>& without, Manifest& manifest) {
  const std::vector<Manifest::Segment>& lines = files_->manifest.segments;
  const std::uint32_t batch = lines[which.front()].batch;
  std::vector<CaptureSegmentCursor> cursors;
  cursors.reserve(which.size());
  for (const std::size_t i : which) {
    cursors.emplace_back(*files_->segments[i], kTimeBegin, kTimeEnd);
    std::erase(manifest.segments, lines[i]);
  }
  MergedRows rows(std::move(cursors));
  const std::uint64_t number = next_file_++;
  const Result<bool> written =
      WriteMerged(rows, without, fs_, SegmentPath(directory_, batch, number));
  if (!written) return written.error();
  if (*written) manifest.segments.push_back({batch, number, level});
  return {};
}

Status Catalog::FlushAll() {
  std::size_t full = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (broken_) return *broken_;
    if (logs_.back()->rows() > 0) {
      if (const Status status = writer_->Sync(); !status) return Broken(status.error());
      if (const Status status = BeginLog(); !status) return Broken(status.error());
    }
    full = logs_.size() - 1;
  }
  for (; full > 0; --full) {
    if (const Status status = FlushOldest(); !status) return status;
  }
  return {};
}

Status Catalog::Compact() {
  const std::scoped_lock building(building_);
  {
    const std::scoped_lock maintenance(maintenance_);
    if (const Status status = FlushAll(); !status) return status;
    if (const Status status = MergeEverything(); !status) return status;
  }
  const Result<bool> rolled = RollPisa(/*all=*/true);
  return rolled ? Status() : rolled.error();
}

Status Catalog::MergeEverything() {
  const Manifest& manifest = files_->manifest;
  if (manifest.runs.size() > 1 || !manifest.dropped.empty()) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < manifest.runs.size(); ++i) all.push_back(i);
    const std::uint32_t level = std::max(manifest.runs.back().level, 1u);
    if (const Status status = MergeRunsInto(all, level); !status) return status;
  }
  for (;;) {
    std::map<std::uint32_t, std::vector<std::size_t>> batches;
    const std::vector<Manifest::Segment>& segments = files_->manifest.segments;
    for (std::size_t i = 0; i < segments.size(); ++i) batches[segments[i].batch].push_back(i);
    const auto several = std::find_if(batches.begin(), batches.end(),
                                      [](const auto& batch) { return batch.second.size() > 1; });
    if (several == batches.end()) return {};
    const std::uint32_t level = std::max(segments[several->second.back()].level, 1u);
    if (const Status status = MergeSegmentsInto(several->second, level); !status) return status;
  }
}

void Catalog::ForgetBatch(std::uint32_t batch, Manifest& manifest) {
  std::erase_if(manifest.dropped,
                [&](const Manifest::Dropped& dropped) { return dropped.batch == batch; });
  manifest.dropped.push_back({batch, next_file_});
}

void Catalog::ForgetPisa(Manifest& manifest) {
  manifest.pisa.clear();
  manifest.loose.clear();
  for (const Manifest::Run& run : manifest.runs) manifest.loose.push_back(run.number);
  loose_planned_ = 0;
}

Status Catalog::Forget(const std::set<CaptureId>& captures) {
  if (captures.empty()) return {};
  const std::scoped_lock building(building_);  // else segments would get what is to be forgotten
  const std::scoped_lock maintenance(maintenance_);
  if (const Status status = FlushAll(); !status) return status;
  Manifest manifest = files_->manifest;
  if (const Status status = ForgetRows(captures, manifest); !status) return status;
  if (const Status status = ForgetEntries(captures, manifest); !status) return status;
  if (manifest != files_->manifest) {
    const Status committed = Commit(std::move(manifest), /*flushed=*/false);
    if (!committed) return committed;
  }
  return RemoveStrays(fs_, directory_, files_->manifest);
}

// The order of a batch's segments says which row of a capture counts: they become one.
Status Catalog::ForgetRows(const std::set<CaptureId>& captures, Manifest& manifest) {
  std::map<std::uint32_t, std::vector<std::size_t>> batches;
  const std::vector<Manifest::Segment>& segments = files_->manifest.segments;
  for (std::size_t i = 0; i < segments.size(); ++i) batches[segments[i].batch].push_back(i);
  for (const auto& [batch, which] : batches) {
    bool has_any = false;
    for (std::size_t i = 0; i < which.size() && !has_any; ++i) {
      const Result<bool> has = HasAny(*files_->segments[which[i]], captures);
      if (!has) return has.error();
      has_any = *has;
    }
    if (!has_any) continue;
    const std::uint32_t level = std::max(segments[which.back()].level, 1u);
    const Status status = WriteMergedSegment(which, level, captures, manifest);
    if (!status) return status;
  }
  return {};
}

// The order of runs says nothing: each is written anew on its own.
Status Catalog::ForgetEntries(const std::set<CaptureId>& captures, Manifest& manifest) {
  std::map<std::uint64_t, std::shared_ptr<const LocationRun>> runs;
  for (std::size_t i = 0; i < files_->runs.size(); ++i) {
    runs.emplace(files_->manifest.runs[i].number, files_->runs[i]);
  }
  for (std::size_t i = 0; i < files_->loose.size(); ++i) {
    runs.emplace(files_->manifest.loose[i], files_->loose[i]);
  }
  bool in_pisa = false;
  for (const auto& [number, run] : runs) {
    const Result<bool> has = HasAny(*run, captures);
    if (!has) return has.error();
    if (!*has) continue;
    // What PISA segments have is in runs that are not loose.
    in_pisa = in_pisa || (!manifest.pisa.empty() && !Has(manifest.loose, number));
    const Status status = WriteRunWithout(*run, number, captures, manifest);
    if (!status) return status;
  }
  if (in_pisa) ForgetPisa(manifest);
  return {};
}

Status Catalog::WriteRunWithout(const LocationRun& run, std::uint64_t number,
                                const std::set<CaptureId>& captures, Manifest& manifest) {
  const std::uint64_t fresh = next_file_++;
  auto writer = LocationRunWriter::Create(fs_, RunPath(directory_, fresh), run.clock());
  if (!writer) return writer.error();
  MergedLocations entries;
  entries.Add(run.NewCursor(LocationRun::Reading::kOnce), CatalogView::HiddenIn(manifest, number));
  if (const Status status = WriteMerged(entries, **writer, captures); !status) return status;
  for (Manifest::Run& line : manifest.runs) {
    if (line.number == number) line.number = fresh;
  }
  std::replace(manifest.loose.begin(), manifest.loose.end(), number, fresh);
  return {};
}

}  // namespace stele::catalog
