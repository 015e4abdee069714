// PISA segments are made beside everything else: while they are written, logs become runs and runs
// are merged, and the manifest changes. What they are made of stays readable, and merges leave the
// list of loose runs alone meanwhile; so in the end those that were taken in can be taken from it.
#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/pisa_roll.h"

namespace stele::catalog {
namespace {

constexpr std::size_t kBlockBytesMax = 32 << 10;
constexpr std::size_t kPartBytesMax = 4 << 20;
constexpr std::size_t kPartBytesMin = 1 << 19;
constexpr std::size_t kAllPartsBytes = 32 << 20;  // of all segments that are written together

std::uint64_t Entries(const CatalogFiles& files) {
  std::uint64_t entries = 0;
  for (const auto& run : files.loose) entries += run->totals().entries;
  return entries;
}

PisaTimelineCursor CursorFor(const CatalogFiles& files, const PisaRoll& roll) {
  return PisaTimelineCursor(files.pisa, files.NewLooseCursor(LocationRun::Reading::kOnce),
                            QueryFor(roll.first, roll.end));
}

// Of all captures that a roll may have.
SerialClock ClockFor(const CatalogFiles& files) {
  SerialClockBuilder clock;
  std::uint64_t entries = Entries(files);
  for (const auto& run : files.loose) clock.Add(run->clock());
  for (const auto& segment : files.pisa) {
    clock.Add(segment->summary().clock);
    entries += segment->summary().captures;
  }
  return clock.Build(entries);
}

}  // namespace

Result<bool> Catalog::RollPisa(bool all) {
  std::shared_ptr<const CatalogFiles> files;
  {
    const std::scoped_lock maintenance(maintenance_);
    files = files_;
    const std::uint64_t entries = Entries(*files);
    const std::uint64_t live = files->pisa.empty() ? 0 : files->pisa.back()->summary().keys;
    const std::uint64_t due = PisaCapturesDue(live, options_.pisa_captures_min);
    if (!all && entries < std::max(due, loose_planned_ + loose_planned_ / 4)) return false;
    rolling_ = true;
  }
  const Result<bool> rolled = RollPisa(*files, all);
  const std::scoped_lock maintenance(maintenance_);
  rolling_ = false;
  if (rolled) loose_planned_ = Entries(*files_);
  return rolled;
}

Result<bool> Catalog::RollPisa(const CatalogFiles& files, bool all) {
  const PisaRollOptions options{options_.pisa_captures_min, all};
  const Result<LooseCaptures> loose =
      CountLooseCaptures(files.pisa, *files.NewLooseCursor(LocationRun::Reading::kOnce));
  if (!loose) return loose.error();
  const std::optional<PisaRoll> roll = PlanPisaRoll(files.pisa, *loose, options);
  if (!roll) return false;
  PisaTimelineCursor cursor = CursorFor(files, *roll);
  const Result<std::vector<Timestamp>> ends = CutPisaRoll(*roll, cursor, options);
  if (!ends) return ends.error();
  const bool late = loose->last >= roll->end ||
                    std::any_of(loose->late.begin(),
                                loose->late.begin() + static_cast<std::ptrdiff_t>(roll->kept),
                                [](std::uint64_t count) { return count > 0; });
  const Status written = WriteRoll(files, *roll, *ends, late);
  return written ? Result<bool>(true) : written.error();
}

Status Catalog::WriteRoll(const CatalogFiles& files, const PisaRoll& roll,
                          const std::vector<Timestamp>& ends, bool late) {
  std::uint64_t number = 0;  // of the first segment; the run of late captures comes behind them
  {
    const std::scoped_lock maintenance(maintenance_);
    number = next_file_;
    next_file_ += ends.size() + (late ? 1 : 0);
  }
  const SerialClock clock = ClockFor(files);
  std::vector<PisaTarget> targets;
  for (const Timestamp end : ends) {
    PisaSegmentOptions segment;
    segment.first = targets.empty() ? roll.first : targets.back().options.end;
    segment.end = end;
    segment.limits.block_bytes_max = kBlockBytesMax;
    segment.clock = clock;
    segment.part_bytes_max = std::clamp(kAllPartsBytes / ends.size(), kPartBytesMin, kPartBytesMax);
    targets.push_back({PisaPath(directory_, number + targets.size()), segment});
  }
  PisaTimelineCursor cursor = CursorFor(files, roll);
  const auto flush = [this]() -> Status {
    const Result<bool> flushed = FlushFull();
    return flushed ? Status() : flushed.error();
  };
  if (const Status status = WritePisaSegments(fs_, targets, cursor, flush); !status) return status;
  if (late) {
    const Status status = WriteLate(files, roll, number + ends.size());
    if (!status) return status;
  }

  const std::scoped_lock maintenance(maintenance_);
  Manifest manifest = files_->manifest;
  manifest.pisa.resize(roll.kept);
  for (std::size_t i = 0; i < ends.size(); ++i) manifest.pisa.push_back(number + i);
  for (const std::uint64_t taken : files.manifest.loose) std::erase(manifest.loose, taken);
  if (late) manifest.loose.push_back(number + ends.size());
  return Commit(std::move(manifest), /*flushed=*/false);
}

// The loose captures that are not taken in.
Status Catalog::WriteLate(const CatalogFiles& files, const PisaRoll& roll, std::uint64_t number) {
  auto run = LocationRunWriter::Create(fs_, RunPath(directory_, number), ClockFor(files));
  if (!run) return run.error();
  const auto loose = files.NewLooseCursor(LocationRun::Reading::kOnce);
  LocationCursor::Move move = loose->Seek(FirstOf(""));
  for (; move && *move != nullptr; move = loose->Next()) {
    if (roll.first <= (*move)->time && (*move)->time < roll.end) continue;
    if (const Status status = (*run)->Add(**move); !status) return status;
  }
  if (!move) return move.error();
  const Result<LocationRunTotals> totals = (*run)->Finish();
  return totals ? Status() : totals.error();
}

}  // namespace stele::catalog
