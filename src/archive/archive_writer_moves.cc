// How a container gets from one volume to another. The ledger says that it is on its way, before
// anything is sent to a store, so that a store never holds what nobody knows of. Then it is copied
// and made durable, read back from where it is now, and compared with what the ledger says it is.
// The next event says that it belongs there: from here on it is read there, and what is left at the
// old place can go. A copy that this event never followed is removed by Open(), or made again.
//
// A container of a remote volume is written to the volume's directory on this machine first, as all
// others are, and belongs to the archive then. Getting it to its store is a move, too. So a dead
// server delays that, and nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "archive/archive_writer.h"
#include "archive/durable_file.h"

namespace stele::archive {

Status ArchiveWriter::Move(std::uint32_t number, const std::string& volume) {
  const std::lock_guard one_at_a_time(moves_mutex_);
  static_cast<void>(ReleaseDeparted());
  if (const Status moved = MoveContainer(number, volume); !moved) return moved;
  const Status released = ReleaseDeparted();
  if (released) return {};
  const std::lock_guard lock(mutex_);
  delivery_failure_ = released.error();
  return {};
}

Status ArchiveWriter::MoveContainer(std::uint32_t number, const std::string& volume) {
  if (const Status arrived = ArriveFirst(number, volume); !arrived) return arrived;
  Result<std::optional<MoveAttempt>> attempt = BeginMove(number, volume);
  if (!attempt) return attempt.error();
  if (!*attempt) return {};
  if (const Status copied = Copy(**attempt); !copied) {
    GiveUp(**attempt, copied.error());
    return copied;
  }
  return Switch(**attempt);
}

// A store that did not answer may have the file all the same, and nobody else knows by which key.
Status ArchiveWriter::ArriveFirst(std::uint32_t number, const std::string& volume) {
  std::string begun;
  {
    const std::lock_guard lock(mutex_);
    const auto move = holdings_.moves().find(number);
    if (move == holdings_.moves().end() || move->second.volume == volume) return {};
    // Whoever took a volume out of the configuration does without what it has.
    const ArchiveConfig::Volume* target = layout_->FindVolume(move->second.volume);
    if (target == nullptr || !target->is_remote()) return {};
    begun = move->second.volume;
  }
  return MoveContainer(number, begun);
}

Result<std::optional<ArchiveWriter::MoveAttempt>> ArchiveWriter::BeginMove(
    std::uint32_t number, const std::string& volume) {
  const std::lock_guard lock(mutex_);
  const Container* container = holdings_.Find(number);
  const ArchiveConfig::Volume* target = layout_->FindVolume(volume);
  if (container == nullptr || target == nullptr) {
    return Error{ErrorCode::kNotFound,
                 container == nullptr
                     ? fmt::format("there is no container {}", number)
                     : fmt::format("there is no volume {} in {}", volume,
                                   ArchiveLayout::ConfigPath(layout_->directory()))};
  }
  if (!container->path.empty()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} was imported in place and is not ours to move: import a copy",
                             container->path)};
  }
  if (container->volume == volume && !layout_->Waits(*container)) {
    return std::optional<MoveAttempt>();
  }
  // A store that forgets what it released could take the release of something old for one of
  // something new with the same bytes.
  for (const auto& [operation, departure] : holdings_.departures()) {
    if (departure.volume != volume) continue;
    return Error{ErrorCode::kBusy,
                 fmt::format("volume {} was not yet told that {} left it", volume, departure.key)};
  }
  const auto begun = holdings_.moves().find(number);
  const bool is_first = begun == holdings_.moves().end() || begun->second.volume != volume;
  if (is_first) {
    LedgerEvent event;
    event.what = "move-begin";
    event.Add("container", number);
    event.Add("volume", volume);
    if (target->is_remote()) event.Add("operation", io::NewUuid(environment_.random));
    if (const Status appended = Append(std::move(event)); !appended) return appended.error();
  }
  return std::optional(MoveAttempt{holdings_.moves().at(number), *container, is_first, ""});
}

Status ArchiveWriter::Copy(MoveAttempt& attempt) {
  io::FileSystem& fs = environment_.fs;
  const Container& before = attempt.before;
  const Result<std::string> from = layout_->ContainerPath(before);
  if (!from) return from.error();
  Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(*from);
  if (!file) return file.error();
  io::FileSource source(*std::move(file));
  const ArchiveConfig::Volume& volume = *layout_->FindVolume(attempt.move.volume);
  const std::string directory = layout_->VolumeDirectory(volume);
  if (const Status made = MakeDirectories(fs, directory); !made) return made;
  Container copy = before;
  copy.volume = volume.name;
  copy.key.clear();
  std::string path;
  if (volume.is_remote()) {
    Result<std::string> key =
        container_fs_.volumes().Put(volume.name, source, attempt.move.operation);
    if (!key) return key.error();
    attempt.key = *std::move(key);
    copy.key = attempt.key;
    path = *layout_->ContainerPath(copy);
  } else {
    path = PartPath(*layout_->ContainerPath(copy));
    const Status written = WriteDurably(fs, path, [&](io::WritableFile& out) -> Status {
      const Result<FileFacts> copied = CopyTo(source, out);
      return copied ? Status() : copied.error();
    });
    if (!written) return written;
  }
  const Result<FileFacts> facts = FactsOf(fs, path);
  if (!facts) return facts.error();
  if (facts->sha256 != before.sha256 || facts->bytes != before.bytes) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}: the copy of {} has the SHA-256 {}, and the ledger says {}; it "
                             "stays where it is. Run stele verify",
                             path, *from, facts->sha256, before.sha256)};
  }
  return CopyRows(before, volume.name);
}

Status ArchiveWriter::CopyRows(const Container& before, const std::string& volume) {
  if (before.volume == volume) return {};
  io::FileSystem& fs = environment_.fs;
  const Result<std::string> from = layout_->RowsPath(before.volume, before.number);
  const Result<std::string> to = layout_->RowsPath(volume, before.number);
  if (!from || !to) return from ? to.error() : from.error();
  Result<std::unique_ptr<io::ReadableFile>> rows = fs.OpenForReading(*from);
  if (!rows && rows.error().code == ErrorCode::kNotFound) return {};  // stele reindex makes them
  if (!rows) return rows.error();
  io::FileSource source(*std::move(rows));
  Result<std::unique_ptr<io::WritableFile>> out = fs.Create(*to + ".new");
  if (!out) return out.error();
  const Result<FileFacts> copied = CopyTo(source, **out);
  if (!copied) return copied.error();
  if (const Status synced = (*out)->Sync(); !synced) return synced;
  if (const Status closed = (*out)->Close(); !closed) return closed;
  if (const Status named = fs.Rename(*to + ".new", *to); !named) return named;
  return fs.SyncDirectory(io::ParentDirectory(*to));
}

void ArchiveWriter::GiveUp(const MoveAttempt& attempt, const Error& error) {
  const ContainerMove& move = attempt.move;
  if (layout_->FindVolume(move.volume)->is_remote()) {
    // It is tried again. One that does not answer may have got it, in this attempt or in an earlier
    // one; only what a store does not have is no longer on its way there.
    if (error.code == ErrorCode::kIo || error.code == ErrorCode::kBusy) return;
    const bool was_refused = error.code == ErrorCode::kFull || error.code == ErrorCode::kInvalid ||
                             error.code == ErrorCode::kNotFound;
    const bool is_not_there =
        attempt.key.empty()
            ? attempt.is_first && was_refused
            : container_fs_.volumes().Release(move.volume, attempt.key, move.operation).ok();
    if (!is_not_there) return;
  }
  const std::lock_guard lock(mutex_);
  LedgerEvent event;
  event.what = "move-undone";
  event.Add("container", move.container);
  // What cannot be removed or written now is settled when the archive is opened again.
  if (!Append(std::move(event)) || move.volume == attempt.before.volume) return;
  Container copy = attempt.before;
  copy.volume = move.volume;
  static_cast<void>(RemoveFiles(copy));
}

Status ArchiveWriter::Switch(const MoveAttempt& attempt) {
  const std::lock_guard lock(mutex_);
  const Container& before = attempt.before;
  LedgerEvent event;
  event.what = "move";
  event.Add("container", before.number);
  event.Add("volume", attempt.move.volume);
  if (!attempt.key.empty()) {
    event.Add("operation", attempt.move.operation);
    event.Add("key", attempt.key);
  }
  if (const Status appended = Append(std::move(event)); !appended) return appended;
  const Container& now = *holdings_.Find(before.number);
  if (now.key.empty()) {
    if (const Status named = FinishContainer(now); !named) return named;
  }
  if (before.volume != now.volume) return RemoveFiles(before);
  // It waited, and its rows stay.
  Result<std::string> directory = layout_->ContainerDirectory(before.volume, before.number);
  if (!directory) return directory.error();
  const Status removed = RemoveTree(environment_.fs, *directory);
  containers_.CloseAll();
  if (!removed) return removed;
  return environment_.fs.SyncDirectory(io::ParentDirectory(*directory));
}

Result<bool> ArchiveWriter::IsLeftOver(const ArchiveConfig::Volume& volume,
                                       const Container& container, const std::string& name) {
  io::FileSystem& fs = environment_.fs;
  const bool is_here = container.volume == volume.name;
  if (name.size() > 8) {
    if (is_here || !(name.ends_with(".rows") || name.ends_with(".rows.new"))) return false;
    const Result<std::string> rows = layout_->RowsPath(container.volume, container.number);
    return rows ? fs.Exists(*rows) : Result<bool>(false);
  }
  if ((is_here && container.key.empty()) || !container.path.empty()) return false;
  const Result<std::vector<std::string>> files =
      fs.List(layout_->VolumeDirectory(volume) + '/' + name);
  if (!files) return files.error();
  if (std::all_of(files->begin(), files->end(),
                  [](const std::string& file) { return file.ends_with(".part"); })) {
    return true;
  }
  // With an old ledger, this may be the only copy.
  const Result<std::string> path = layout_->ContainerPath(container);
  const Result<bool> is_there = path ? fs.Exists(*path) : Result<bool>(false);
  return is_there && *is_there;
}

Status ArchiveWriter::ReleaseDeparted() {
  std::map<std::string, Departure> departures;
  {
    const std::lock_guard lock(mutex_);
    departures = holdings_.departures();
  }
  Status outcome;
  for (const auto& [operation, departure] : departures) {
    const Status released =
        container_fs_.volumes().Release(departure.volume, departure.key, operation);
    if (!released) {
      outcome = Error{released.error().code,
                      fmt::format("{}; {} is deleted there when the archive is written the next "
                                  "time",
                                  released.error().text, departure.key)};
      continue;
    }
    const std::lock_guard lock(mutex_);
    LedgerEvent event;
    event.what = "released";
    event.Add("operation", operation);
    if (const Status appended = Append(std::move(event)); !appended) return appended;
  }
  return outcome;
}

void ArchiveWriter::Deliver(const Container& container) {
  {
    const std::lock_guard lock(mutex_);
    // What failed once is tried again at the end of the run, not for each container.
    if (delivery_failure_ || !layout_->Waits(container)) return;
  }
  const Status moved = Move(container.number, container.volume);
  if (moved) return;
  const std::lock_guard lock(mutex_);
  delivery_failure_ = moved.error();
}

void ArchiveWriter::DeliverAll() {
  const std::lock_guard one_at_a_time(moves_mutex_);
  std::map<std::uint32_t, std::string> wanted;  // volumes by container
  {
    const std::lock_guard lock(mutex_);
    delivery_failure_.reset();
    for (const auto& [number, container] : holdings_.containers()) {
      if (layout_->Waits(container)) wanted[number] = container.volume;
    }
    for (const auto& [number, move] : holdings_.moves()) {
      if (layout_->FindVolume(move.volume) != nullptr) wanted[number] = move.volume;
    }
  }
  static_cast<void>(ReleaseDeparted());
  std::optional<Error> failure;
  std::set<std::string> dead;  // each volume fails once
  for (const auto& [number, volume] : wanted) {
    if (dead.contains(volume)) continue;
    const Status moved = MoveContainer(number, volume);
    if (moved) continue;
    dead.insert(volume);
    if (!failure) failure = moved.error();
  }
  const Status released = ReleaseDeparted();
  if (!released && !failure) failure = released.error();
  const std::lock_guard lock(mutex_);
  delivery_failure_ = failure;
}

std::optional<Error> ArchiveWriter::delivery_failure() {
  const std::lock_guard lock(mutex_);
  return delivery_failure_;
}

}  // namespace stele::archive
