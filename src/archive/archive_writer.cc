// The order of a container: file and rows are durable under names that say "not yet"; the ledger
// says that it belongs to the archive, and is synced: from here on it is acknowledged. Then the
// file gets its name, and its rows go to the catalog. A crash in between is finished by Open(),
// which knows from the file `applied` how much of the ledger the catalog has for sure; rows that
// it gets twice are the same. Of a container that is purged, the ledger says so first, then its
// files go, then its rows; `applied` stays before that event until they are gone, too.
//
// A container that grows is in the ledger before its file is there, with the serials that it may
// use, so that a capture's id is known when its record is written. Its captures are acknowledged
// when its file is synced, and shown then; what a crash leaves of it is sealed by Open().
#include "archive/archive_writer.h"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "archive/applied_mark.h"
#include "archive/archive_reader.h"
#include "archive/durable_file.h"
#include "archive/unknown_containers.h"
#include "util/ascii.h"
#include "util/check.h"

namespace stele::archive {
namespace {

// Containers after which the catalog is synced in the midst of a run.
constexpr int kCheckpointContainers = 64;
constexpr std::size_t kRowsAtATime = 1000;
// Kept free on a disk.
constexpr std::uint64_t kReserveBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMegabyte = 1'000'000;
// Of a batch, for a container that grows. Those that it does not use are given to the next.
constexpr std::uint32_t kOpenSerials = 1 << 20;

// Whether a disk has so many bytes free, beside those that are kept so.
Result<bool> FreeIn(io::FileSystem& fs, const std::string& directory, std::uint64_t kept_free,
                    std::uint64_t bytes) {
  const Result<std::uint64_t> free = fs.FreeBytes(directory);
  if (!free) return free.error();
  return *free >= kept_free && *free - kept_free >= bytes;
}

LedgerEvent RunBegin(std::uint32_t run, std::string_view kind, std::string_view note) {
  LedgerEvent event;
  event.what = "run-begin";
  event.Add("run", run);
  event.Add("kind", kind);
  event.Add("note", note);
  return event;
}

// Errors: kBusy when somebody else writes the archive: the text says who.
Result<std::unique_ptr<io::FileLock>> LockArchive(io::FileSystem& fs, const ArchiveLayout& layout) {
  Result<std::unique_ptr<io::FileLock>> lock = fs.Lock(layout.LockPath());
  if (lock || lock.error().code != ErrorCode::kBusy) return lock;
  const Result<std::string> who = io::ReadFile(fs, layout.WriterPath());
  return Error{ErrorCode::kBusy,
               fmt::format("{} is being written by {}; wait for it to end", layout.directory(),
                           who ? std::string(TrimSpace(*who)) : "another process")};
}

}  // namespace

Result<bool> ArchiveWriter::Create(io::FileSystem& fs, const std::string& directory,
                                   const ArchiveConfig& config) {
  if (const Status made = MakeDirectories(fs, directory); !made) return made.error();
  const ArchiveLayout layout(directory, config);
  const Result<std::unique_ptr<io::FileLock>> lock = LockArchive(fs, layout);
  if (!lock) return lock.error();
  const Result<bool> there = IsArchive(fs, directory);
  if (!there) return there.error();
  if (*there) return false;
  std::vector<std::string> directories = {io::ParentDirectory(layout.LedgerPath())};
  for (const ArchiveConfig::Volume& volume : config.volumes) {
    directories.push_back(layout.VolumeDirectory(volume));
  }
  for (const std::string& path : directories) {
    if (const Status made = MakeDirectories(fs, path); !made) return made.error();
  }
  const Status written =
      io::ReplaceFile(fs, ArchiveLayout::ConfigPath(directory), FormatArchiveConfig(config));
  return written ? Result<bool>(true) : written.error();
}

ArchiveWriter::ArchiveWriter(const Environment& environment,
                             std::shared_ptr<const ArchiveLayout> layout)
    : layout_(std::move(layout)),
      container_fs_(environment.fs, layout_),
      environment_{container_fs_, environment.clock, environment.random, environment.writer,
                   environment.catalog},
      cache_(kIndexCacheBytes) {}

ArchiveWriter::~ArchiveWriter() {
  // Only saves work: whoever opens it next finds out what the catalog lacks.
  if (!is_behind_) static_cast<void>(Checkpoint());
}

Result<std::unique_ptr<ArchiveWriter>> ArchiveWriter::Open(const Environment& environment,
                                                           const std::string& directory,
                                                           Rebuild rebuild,
                                                           std::optional<std::uint32_t> batch) {
  Result<std::shared_ptr<const ArchiveLayout>> layout = LoadLayout(environment.fs, directory);
  if (!layout) return layout.error();
  std::unique_ptr<ArchiveWriter> writer(new ArchiveWriter(environment, *std::move(layout)));
  if (const Status locked = writer->Lock(); !locked) return locked.error();
  const bool makes_catalog = rebuild != Rebuild::kNothing && !batch;
  if (const Status loaded = writer->LoadLedger(makes_catalog); !loaded) return loaded.error();
  if (const Status finished = writer->FinishContainers(); !finished) return finished.error();
  const Status opened =
      batch ? writer->RestoreBatch(*batch, rebuild) : writer->OpenCatalog(rebuild);
  if (!opened) return opened.error();
  if (const Status sealed = writer->SealOpenContainers(); !sealed) return sealed.error();
  const Status applied = writer->ApplyAll(batch ? Rebuild::kNothing : rebuild);
  if (!applied) return applied.error();
  writer->MakeLostRows();
  writer->DeliverAll();
  return writer;
}

Status ArchiveWriter::Lock() {
  Result<std::unique_ptr<io::FileLock>> lock = LockArchive(environment_.fs, *layout_);
  if (!lock) return lock.error();
  lock_ = std::move(*lock);
  return io::ReplaceFile(
      environment_.fs, layout_->WriterPath(),
      fmt::format("{}, since {}\n", environment_.writer, FormatIso(environment_.clock.Now())));
}

Status ArchiveWriter::LoadLedger(bool makes_catalog) {
  const std::string path = layout_->LedgerPath();
  const Result<AppliedMark> applied = ReadAppliedMark(environment_.fs, layout_->AppliedPath());
  if (!applied) return applied.error();
  auto ledger = LedgerWriter::Open(
      environment_.fs, path, environment_.clock, environment_.random,
      [&](const LedgerEvent& event, std::uint64_t end) { return holdings_.Apply(event, end); },
      applied->ledger_end,
      [&]() -> Status {
        const Status never = CheckNeverHadLedger(environment_.fs, *layout_, *applied);
        return never ? MakeDirectories(environment_.fs, io::ParentDirectory(path)) : never;
      });
  if (!ledger) return ledger.error();
  ledger_ = std::move(*ledger);
  if (applied->ledger_end <= ledger_->end()) return {};
  if (!makes_catalog) return NotOfThisLedger(*layout_);
  ledger_failures_.push_back(ForgottenSince(*layout_));
  return {};
}

Status ArchiveWriter::FinishContainers() {
  for (const auto& [number, container] : holdings_.containers()) {
    if (!container.path.empty() || !container.key.empty()) continue;
    // A volume that is away costs only its own containers.
    if (const Status finished = FinishContainer(container);
        !finished && finished.error().code != ErrorCode::kNotFound) {
      return finished;
    }
  }
  reserved_ = holdings_.NextContainer() - 1;
  if (const Status found = FindUnknown(); !found) return found;
  for (const ArchiveConfig::Volume& volume : layout_->config().volumes) {
    if (const Status removed = RemoveUnknown(volume); !removed) return removed;
  }
  return {};
}

Status ArchiveWriter::FindUnknown() {
  const Result<std::vector<UnknownContainer>> unknown =
      FindUnknownContainers(environment_.fs, *layout_, holdings_);
  if (!unknown) return unknown.error();
  for (const UnknownContainer& container : *unknown) {
    unknown_.insert(container.number);
    ledger_failures_.push_back(NotInLedger(*layout_, container));
  }
  return {};
}

Status ArchiveWriter::FinishContainer(const Container& container) {
  Result<std::string> path = layout_->ContainerPath(container);
  if (!path) return path.error();
  for (const std::string& before : {PartPath(*path), OpenPath(*path)}) {
    const Result<bool> waits = environment_.fs.Exists(before);
    if (!waits) return waits.error();
    if (!*waits) continue;
    if (const Status renamed = environment_.fs.Rename(before, *path); !renamed) return renamed;
    return environment_.fs.SyncDirectory(io::ParentDirectory(*path));
  }
  return {};
}

Status ArchiveWriter::RemoveUnknown(const ArchiveConfig::Volume& volume) {
  io::FileSystem& fs = environment_.fs;
  const std::string directory = layout_->VolumeDirectory(volume);
  const Result<std::vector<std::string>> names = fs.List(directory);
  if (!names && names.error().code == ErrorCode::kNotFound) return {};
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const auto number = ParseDecimal(std::string_view(name).substr(0, 8));
    if (!number || name.size() < 8 || holdings_.FindOpen(static_cast<std::uint32_t>(*number))) {
      continue;
    }
    const std::string path = directory + '/' + name;
    if (const Container* known = holdings_.Find(static_cast<std::uint32_t>(*number))) {
      const Result<bool> left_over = IsLeftOver(volume, *known, name);
      if (!left_over) return left_over.error();
      const Status removed = *left_over ? RemoveTree(fs, path) : Status();
      if (!removed) return removed;
      continue;
    }
    reserved_ = std::max(reserved_, static_cast<std::uint32_t>(*number));
    // Nothing is removed on the word of an old ledger.
    const bool is_purged = holdings_.IsPurged(static_cast<std::uint32_t>(*number));
    if (!is_purged && !ledger_failures_.empty()) continue;
    if (name.size() == 8) {
      const Result<std::vector<std::string>> files = fs.List(path);
      if (!files) return files.error();
      const bool unfinished =
          is_purged || std::all_of(files->begin(), files->end(),
                                   [](const std::string& file) { return file.ends_with(".part"); });
      if (!unfinished) continue;
    } else if (!name.ends_with(".rows") && !name.ends_with(".rows.new")) {
      continue;
    }
    if (const Status removed = RemoveTree(fs, path); !removed) return removed;
  }
  return {};
}

std::uint64_t ArchiveWriter::NewSeed() {
  const std::lock_guard lock(mutex_);
  return environment_.random.Next();
}

ArchiveView ArchiveWriter::View() {
  const std::lock_guard lock(mutex_);
  if (snapshot_ == nullptr) snapshot_ = std::make_shared<const Holdings>(holdings_);
  return ArchiveView(environment_.fs, cache_, layout_, snapshot_, catalog_->View(), containers_);
}

std::optional<Container> ArchiveWriter::FindBySha256(std::string_view sha256) {
  const std::lock_guard lock(mutex_);
  const Container* container = holdings_.FindBySha256(sha256);
  return container == nullptr ? std::nullopt : std::optional(*container);
}

bool ArchiveWriter::WasPurged(std::string_view sha256) {
  const std::lock_guard lock(mutex_);
  return holdings_.WasPurged(sha256);
}

std::optional<Container> ArchiveWriter::FindKnown(const Container& container) {
  const std::lock_guard lock(mutex_);
  const Container* known = holdings_.FindKnown(container);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

std::uint32_t ArchiveWriter::PlanRun(std::string_view kind, std::string_view note) {
  const std::lock_guard lock(mutex_);
  Check(!planned_run_);
  const Run* unended = holdings_.FindUnendedRun();
  if (unended != nullptr && unended->kind == kind && unended->note == note) return unended->number;
  const std::uint32_t run = holdings_.NextRun();
  planned_run_ = RunBegin(run, kind, note);
  planned_run_->time = environment_.clock.Now();
  return run;
}

Status ArchiveWriter::TellOfPlannedRun() {
  if (!planned_run_) return {};
  LedgerEvent event = *std::move(planned_run_);
  planned_run_.reset();
  return Append(std::move(event));
}

Result<std::uint32_t> ArchiveWriter::BeginRun(std::string_view kind, std::string_view note) {
  const std::lock_guard lock(mutex_);
  Check(!planned_run_);
  const std::uint32_t run = holdings_.NextRun();
  const Status appended = Append(RunBegin(run, kind, note));
  return appended ? Result<std::uint32_t>(run) : appended.error();
}

Status ArchiveWriter::EndRun(std::uint32_t run) {
  LedgerEvent event;
  event.what = "run-end";
  event.Add("run", run);
  {
    const std::lock_guard lock(mutex_);
    if (planned_run_) {
      planned_run_.reset();
    } else if (const Status appended = Append(std::move(event)); !appended) {
      return appended;
    }
    if (const Status synced = Checkpoint(); !synced) return synced;
  }
  DeliverAll();
  // What queries will be glad of; others may read and add meanwhile.
  for (;;) {
    const Result<bool> worked = catalog_->Maintain();
    if (!worked) return worked.error();
    if (!*worked) return {};
  }
}

Status ArchiveWriter::AddDependency(const Dependency& dependency) {
  const std::lock_guard lock(mutex_);
  if (!holdings_.runs().contains(dependency.run)) {
    return Error{ErrorCode::kInvalid, fmt::format("there is no run {}", dependency.run)};
  }
  for (const Dependency& known : holdings_.dependencies()) {
    if (known.run == dependency.run && known.sha256 == dependency.sha256) return {};
  }
  return Append(dependency.Event());
}

Result<bool> ArchiveWriter::HasRoom(const std::string& volume, std::uint64_t bytes) const {
  const ArchiveConfig::Volume* found = layout_->FindVolume(volume);
  if (found == nullptr) return Error{ErrorCode::kInvalid, "there is no volume " + volume};
  return FreeIn(environment_.fs, layout_->VolumeDirectory(*found), kReserveBytes, bytes);
}

Result<ArchiveWriter::Place> ArchiveWriter::Reserve(std::uint64_t bytes, Room room) {
  const std::uint64_t kept_free = room == Room::kForMore ? kReserveBytes : 0;
  const std::lock_guard lock(mutex_);
  for (const ArchiveConfig::Volume& volume : layout_->config().volumes) {
    if (!volume.writable) continue;
    const std::string directory = layout_->VolumeDirectory(volume);
    if (const Status made = MakeDirectories(environment_.fs, directory); !made) {
      return made.error();
    }
    const Result<bool> has_room = FreeIn(environment_.fs, directory, kept_free, bytes);
    if (!has_room) return has_room.error();
    if (*has_room) return Place{++reserved_, volume.name};
  }
  return Error{
      ErrorCode::kFull,
      fmt::format("no writable volume of {} has room for {} MB ({} of them are kept free); make "
                  "room, or add a volume in {}",
                  layout_->directory(), (kept_free + bytes + kMegabyte - 1) / kMegabyte,
                  kept_free / kMegabyte, ArchiveLayout::ConfigPath(layout_->directory()))};
}

void ArchiveWriter::Abandon(const Place& place) {
  // What cannot be removed now is removed when the archive is opened again.
  if (const auto directory = layout_->ContainerDirectory(place.volume, place.number)) {
    static_cast<void>(RemoveTree(environment_.fs, *directory));
  }
  if (const auto rows = layout_->RowsPath(place.volume, place.number)) {
    static_cast<void>(RemoveTree(environment_.fs, *rows));
  }
}

Result<bool> ArchiveWriter::Add(Container& container) {
  Result<bool> added = AddHere(container);
  if (added && *added) Deliver(container);
  return added;
}

Result<bool> ArchiveWriter::AddHere(Container& container) {
  const std::lock_guard lock(mutex_);
  // What takes the place of other records is needed, whatever it equals.
  const bool is_brought = container.ids.empty();
  const bool is_known =
      holdings_.FindKnown(container) != nullptr || !LeavesOutAllThatIsHere(holdings_, container);
  if (is_brought && is_known) return false;
  if (const Status assigned = AssignSerials(container); !assigned) return assigned.error();
  container.time = environment_.clock.Now();
  if (const Status told = TellOfPlannedRun(); !told) return told.error();
  if (const Status appended = Append(container.Event()); !appended) return appended.error();
  const Container& added = *holdings_.Find(container.number);
  Status shown = container.path.empty() ? FinishContainer(added) : Status();
  Status taken;
  if (shown) shown = Index(added, taken);
  is_behind_ = is_behind_ || !shown;
  if (!shown) return shown.error();
  if (++since_checkpoint_ >= kCheckpointContainers) {
    if (const Status synced = Checkpoint(); !synced) return synced.error();
  }
  return true;
}

Result<Container> ArchiveWriter::BeginContainer(const Place& place, std::uint32_t run,
                                                std::string_view name, std::uint32_t batch) {
  const std::lock_guard lock(mutex_);
  Container container;
  container.number = place.number;
  container.volume = place.volume;
  container.run = run;
  container.name = name;
  container.batches = {{.batch = batch, .base = 0, .count = kOpenSerials}};
  if (const Status assigned = AssignSerials(container); !assigned) return assigned.error();
  container.time = environment_.clock.Now();
  if (const Status appended = Append(container.OpenEvent()); !appended) return appended.error();
  return container;
}

Status ArchiveWriter::Show(std::span<const catalog::Capture> captures) {
  return catalog_->Append(captures);
}

Status ArchiveWriter::Seal(Container& container) {
  {
    const std::lock_guard lock(mutex_);
    container.time = environment_.clock.Now();
    if (const Status appended = Append(container.Event()); !appended) return appended;
    if (const Status named = FinishContainer(container); !named) return named;
    if (++since_checkpoint_ >= kCheckpointContainers) {
      if (const Status synced = Checkpoint(); !synced) return synced;
    }
  }
  Deliver(container);
  return {};
}

Status ArchiveWriter::Append(LedgerEvent event) {
  if (const Status appended = ledger_->Append(event); !appended) return appended;
  snapshot_ = nullptr;
  return holdings_.Apply(event, ledger_->end());
}

Status ArchiveWriter::AssignSerials(Container& container) const {
  for (Container::Batch& batch : container.batches) {
    batch.base = holdings_.NextSerial(batch.batch);
    if (batch.count > std::numeric_limits<std::uint32_t>::max() - batch.base) {
      return Error{ErrorCode::kFull, fmt::format("{}: batch {} has no serial numbers left",
                                                 container.name, batch.batch)};
    }
  }
  return {};
}

Result<std::uint32_t> ArchiveWriter::Remove(std::vector<catalog::CaptureId> captures,
                                            std::string_view reason, std::string_view note) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t number = holdings_.NextRemoval();
  LedgerEvent event;
  event.what = "removal";
  event.Add("removal", number);
  event.Add("reason", reason);
  event.Add("note", note);
  for (const catalog::CaptureId& id : captures) event.Add("capture", FormatCaptureId(id));
  if (const Status appended = Append(std::move(event)); !appended) return appended.error();
  const Status marked = MarkRemoved(holdings_.removals().at(number));
  is_behind_ = is_behind_ || !marked;
  if (!marked) return marked.error();
  if (const Status synced = Checkpoint(); !synced) return synced.error();
  return number;
}

Status ArchiveWriter::MarkRemoved(const Removal& removal) {
  const std::shared_ptr<const catalog::CatalogView> view = catalog_->View();
  std::vector<catalog::HeldCapture> held;  // what the rows point into
  std::vector<catalog::Capture> rows;
  for (std::size_t i = 0; i < removal.captures.size(); ++i) {
    Result<catalog::HeldCapture> capture = view->Get(removal.captures[i]);
    if (capture) {
      held.push_back(*std::move(capture));
      rows.push_back(held.back().row);
      rows.back().flags |= catalog::kRemoved;
    } else if (capture.error().code != ErrorCode::kNotFound) {  // it may have been purged
      return capture.error();
    }
    if (rows.size() < kRowsAtATime && i + 1 < removal.captures.size()) continue;
    if (const Status appended = catalog_->Append(rows); !appended) return appended;
    held.clear();
    rows.clear();
  }
  return {};
}

Status ArchiveWriter::Purge(std::uint32_t number, const std::vector<Tombstone>& tombstones) {
  const std::lock_guard one_at_a_time(moves_mutex_);
  if (const Status arrived = ArriveFirst(number, ""); !arrived) return arrived;
  if (const Status purged = PurgeHere(number, tombstones); !purged) return purged;
  return ReleaseDeparted();
}

Status ArchiveWriter::PurgeHere(std::uint32_t number, const std::vector<Tombstone>& tombstones) {
  const std::lock_guard lock(mutex_);
  const Container* found = holdings_.Find(number);
  if (found == nullptr) {
    return Error{ErrorCode::kNotFound, fmt::format("there is no container {}", number)};
  }
  const Container container = *found;
  // What the catalog knows of it is older than what it knows of the new places.
  if (const Status synced = Checkpoint(); !synced) return synced;
  LedgerEvent event;
  event.what = "purge";
  event.Add("container", number);
  for (const Tombstone tombstone : tombstones) {
    event.Add(kTombstoneField, FormatTombstone(tombstone));
  }
  knows_purged_ = true;
  if (const Status appended = Append(std::move(event)); !appended) return appended;
  return RemoveFiles(container);
}

Status ArchiveWriter::ForgetPurged() {
  const std::lock_guard lock(mutex_);
  if (const Status forgotten = ForgetRowsOfPurged(); !forgotten) return forgotten;
  return Checkpoint();
}

Status ArchiveWriter::ForgetRowsOfPurged() {
  std::set<catalog::CaptureId> purged;
  for (const catalog::CaptureId& id : holdings_.removed()) {
    if (!holdings_.IsHeld(id)) purged.insert(purged.end(), id);
  }
  const Status forgotten = catalog_->Forget(purged);
  knows_purged_ = knows_purged_ && !forgotten;
  return forgotten;
}

Status ArchiveWriter::RemoveFiles(const Container& container) {
  Result<std::string> directory = layout_->ContainerDirectory(container.volume, container.number);
  if (!directory) return directory.error();
  Result<std::string> rows = layout_->RowsPath(container.volume, container.number);
  if (!rows) return rows.error();
  const Status removed = RemoveTree(environment_.fs, *directory);
  containers_.CloseAll();  // whoever opens the file from now on finds none
  if (!removed) return removed;
  if (const Status gone = RemoveTree(environment_.fs, *rows); !gone) return gone;
  return environment_.fs.SyncDirectory(io::ParentDirectory(*directory));
}

Result<std::uint32_t> ArchiveWriter::AddHold(Hold hold) {
  const std::lock_guard lock(mutex_);
  hold.number = holdings_.NextHold();
  const Status appended = Append(hold.Event());
  return appended ? Result<std::uint32_t>(hold.number) : appended.error();
}

Status ArchiveWriter::EndHold(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  const auto hold = holdings_.holds().find(number);
  if (hold == holdings_.holds().end() || hold->second.end) {
    return Error{ErrorCode::kNotFound, fmt::format("there is no hold {} that goes on", number)};
  }
  LedgerEvent event;
  event.what = "hold-end";
  event.Add("hold", number);
  return Append(std::move(event));
}

}  // namespace stele::archive
