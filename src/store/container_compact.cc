// A container goes in four steps, each of which can be the last before a crash:
//
//   1. What counts in it is appended to the log: synced, applied. There are two copies now, and the
//      later one counts.
//   2. The index remembers that the container is condemned, and forgets what only it says. That is
//      about blocks that are gone.
//   3. The index is made durable.
//   4. The file is removed, durably, and then the condemnation.
//
// A release of a block that is gone must not go before the reference it took back: read again
// without it, the log would have the block back. So a release stays until there are fewer
// references than releases.
#include "store/container_compact.h"

#include <fmt/format.h>

#include <algorithm>

namespace stele::store {
namespace {

constexpr std::size_t kCopiesMax = 1000;
constexpr std::size_t kCopiedBytesMax = 4 << 20;
constexpr std::size_t kSpareMax = 100'000;
constexpr std::size_t kForgottenAtOnce = 1000;

}  // namespace

ContainerCompactor::~ContainerCompactor() {
  // What is left behind is removed when the volume is opened next.
  static_cast<void>(files_.fs().Remove(temporary_).ok());
}

Result<ContainerCompactor::Copied> ContainerCompactor::CopyUsed(std::uint64_t container,
                                                                const std::function<bool()>& stop) {
  const Result<std::shared_ptr<const io::ReadableFile>> file = files_.Open(container);
  if (!file) return file.error();
  spare_.clear();
  Copied copied;
  Result<ScannedContainer> scanned =
      ScanContainer(*file, container, 0, true, [&](LogEntry entry) -> Status {
        copied.stopped = stop && stop();
        if (copied.stopped) return Error{ErrorCode::kBusy, "copying was stopped"};
        const Result<bool> used = IsUsed(entry);
        if (!used) return used.error();
        return *used ? Copy(**file, std::move(entry)) : Status();
      });
  if (!scanned && !copied.stopped) return scanned.error();
  const Status appended = AppendCopies();
  if (!appended) return appended.error();
  if (scanned) copied.damaged = std::move(scanned->damaged);
  return copied;
}

Result<bool> ContainerCompactor::IsUsed(LogEntry& entry) {
  const Result<BlockIndex::Standing> standing = index_.StandingOf(entry);
  if (!standing) return standing.error();
  if (standing->is_read) return true;
  // Its content was restored elsewhere: what counts is the reference.
  if (standing->alive && entry.kind == LogEntry::Kind::kBlock) {
    entry.kind = LogEntry::Kind::kReference;
  }
  if (!standing->counts || standing->alive) return standing->counts;
  const std::string key = entry.record_id + ' ' + entry.operation.owner;
  auto spare = spare_.find(key);
  if (spare == spare_.end() && spare_.size() < kSpareMax) {
    spare = spare_.emplace(key, -standing->held).first;
  }
  const bool is_release = entry.kind == LogEntry::Kind::kRelease;
  if (spare == spare_.end()) return is_release;
  if (!is_release) {
    ++spare->second;
    return false;
  }
  if (spare->second <= 0) return true;
  --spare->second;
  return false;
}

Status ContainerCompactor::Copy(const io::ReadableFile& file, LogEntry entry) {
  const bool is_block = entry.kind == LogEntry::Kind::kBlock;
  const std::uint64_t length = is_block ? entry.location.length : entry.note_bytes;
  copied_bytes_ += length;
  if (is_block && length > kCopiedBytesMax) return CopyLarge(file, entry);
  std::string record(is_block ? length : 0, '\0');
  const Result<std::size_t> read = file.ReadAt(entry.location.offset, record);
  if (!read) return read.error();
  if (*read < record.size()) return Error{ErrorCode::kIo, "a container became shorter"};
  copies_.push_back({std::move(entry), std::move(record)});
  waiting_bytes_ += length;
  const bool enough = copies_.size() >= kCopiesMax || waiting_bytes_ >= kCopiedBytesMax;
  return enough ? AppendCopies() : Status();
}

Status ContainerCompactor::AppendCopies() {
  const Status appended = log_.AppendAll(copies_);
  copies_.clear();
  waiting_bytes_ = 0;
  return appended;
}

Status ContainerCompactor::CopyLarge(const io::ReadableFile& file, const LogEntry& entry) {
  const RecordLocation& at = entry.location;
  const Status copied = CopyRange(files_.fs(), file, at.offset, at.offset + at.length, temporary_);
  if (!copied) return copied;
  const Result<RecordLocation> appended = log_.AppendFile(entry, temporary_);
  return appended ? Status() : Status(appended.error());
}

Result<std::uint64_t> ContainerCompactor::Remove(std::uint64_t container) {
  const Result<std::shared_ptr<const io::ReadableFile>> file = files_.Open(container);
  std::uint64_t freed = 0;
  Status status;
  if (file) {
    const Result<std::uint64_t> size = (*file)->Size();
    if (!size) return size.error();
    freed = *size;
    status = index_.Condemn(container);
    if (status) status = ForgetAll(container, *file);
    if (status) status = index_.Flush();
    if (status) status = files_.Remove(container);
    if (status) log_.Freed(freed);
  } else if (file.error().code == ErrorCode::kNotFound) {
    status = files_.fs().SyncDirectory(files_.directory());
  } else {
    return file.error();
  }
  if (status) status = index_.Removed(container);
  if (!status) return status.error();
  return freed;
}

Status ContainerCompactor::ForgetAll(std::uint64_t container,
                                     std::shared_ptr<const io::ReadableFile> file) {
  std::vector<LogEntry> entries;
  const auto forget = [&] {
    const Status forgotten = index_.Forget(entries);
    entries.clear();
    return forgotten;
  };
  const Result<ScannedContainer> scanned =
      ScanContainer(std::move(file), container, 0, false, [&](LogEntry entry) {
        entries.push_back(std::move(entry));
        return entries.size() < kForgottenAtOnce ? Status() : forget();
      });
  if (!scanned) return scanned.error();
  return forget();
}

}  // namespace stele::store
