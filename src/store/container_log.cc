// Group commit: whoever finds nobody writing takes all that is waiting, writes it with one sync and
// wakes the others; meanwhile the next group gathers.
#include "store/container_log.h"

#include <fmt/format.h>

#include <algorithm>

namespace stele::store {

ContainerLog::ContainerLog(ContainerFiles& files, BlockIndex& index, Options options, Tail tail)
    : files_(files),
      index_(index),
      options_(std::move(options)),
      last_(tail.last),
      last_size_(tail.last_size),
      bytes_(tail.all_bytes) {}

std::uint64_t ContainerLog::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

bool ContainerLog::failed() const {
  const std::lock_guard lock(mutex_);
  return failure_.has_value();
}

Result<RecordLocation> ContainerLog::Append(const LogEntry& entry, std::string_view record) {
  Addition addition{entry, record, nullptr, false, {}};
  const Status committed = Commit(std::span(&addition, 1));
  if (!committed) return committed.error();
  return addition.entry.location;
}

Result<RecordLocation> ContainerLog::AppendFile(const LogEntry& entry, const std::string& path) {
  Addition addition{entry, {}, &path, false, {}};
  const Status committed = Commit(std::span(&addition, 1));
  if (!committed) return committed.error();
  return addition.entry.location;
}

Status ContainerLog::AppendAll(std::span<const Copy> copies) {
  std::vector<Addition> additions;
  additions.reserve(copies.size());
  for (const Copy& copy : copies) {
    additions.push_back({copy.entry, copy.record, nullptr, false, {}});
  }
  return additions.empty() ? Status() : Commit(additions);
}

void ContainerLog::Freed(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_ -= bytes;
}

Status ContainerLog::StartNext() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !writing_; });
  writing_ = true;
  Status status = failure_ ? Status(*failure_) : Status();
  lock.unlock();
  if (status) status = Seal();
  if (status) status = Start();
  if (status) status = file_->Sync();
  if (status) status = index_.Apply({}, {last_.serial, last_size_});
  lock.lock();
  Finish(status);
  return status;
}

Status ContainerLog::Commit(std::span<Addition> additions) {
  std::unique_lock lock(mutex_);
  for (Addition& addition : additions) waiting_.push_back(&addition);
  const Addition& last = additions.back();
  changed_.wait(lock, [&] { return last.done || !writing_; });
  if (!last.done) {
    writing_ = true;
    const std::vector<Addition*> group = std::exchange(waiting_, {});
    Status status = failure_ ? Status(*failure_) : Status();
    lock.unlock();
    if (status) status = WriteAll(group);
    lock.lock();
    for (Addition* done : group) {
      done->status = status;
      done->done = true;
      if (status) bytes_ += done->entry.location.length;
    }
    Finish(status);
  }
  return last.status;
}

// Lets the next one write. Requires: mutex_ is held.
void ContainerLog::Finish(const Status& status) {
  if (!status && !failure_) {
    failure_ = Error{status.error().code,
                     fmt::format("{}; nothing more is written until the volume is opened again",
                                 status.error().text)};
  }
  writing_ = false;
  changed_.notify_all();
}

Status ContainerLog::WriteAll(const std::vector<Addition*>& additions) {
  for (Addition* addition : additions) {
    const Status written = WriteOne(*addition);
    if (!written) return written;
  }
  if (file_ != nullptr) {
    const Status synced = file_->Sync();
    if (!synced) return synced;
  }
  std::vector<LogEntry> entries;
  entries.reserve(additions.size());
  for (const Addition* addition : additions) entries.push_back(addition->entry);
  const Status applied = index_.Apply(entries, entries.back().location.end());
  if (!applied || !std::exchange(flush_due_, false)) return applied;
  return index_.Flush();
}

Status ContainerLog::WriteOne(Addition& addition) {
  std::uint64_t length = addition.record.size();
  if (addition.path != nullptr) {
    const auto file = files_.fs().OpenForReading(*addition.path);
    if (!file) return file.error();
    const Result<std::uint64_t> size = (*file)->Size();
    if (!size) return size.error();
    length = *size;
  }
  if (addition.path != nullptr && length > options_.copied_bytes_max) {
    addition.entry.location.length = length;
    return AdoptFile(addition);
  }
  const Status room = MakeRoom(length);
  if (!room) return room;
  addition.entry.location = {last_.serial, last_size_, length};
  return addition.path != nullptr ? CopyFile(*addition.path) : Write(addition.record);
}

Status ContainerLog::CopyFile(const std::string& path) {
  const auto file = files_.fs().OpenForReading(path);
  if (!file) return file.error();
  piece_.resize(1 << 20);
  for (std::uint64_t offset = 0;;) {
    const Result<std::size_t> read = (*file)->ReadAt(offset, piece_);
    if (!read) return read.error();
    if (*read == 0) return {};
    const Status written = Write(std::string_view(piece_).substr(0, *read));
    if (!written) return written;
    offset += *read;
  }
}

// The file, synced already by whoever wrote it, becomes a container by its name alone.
Status ContainerLog::AdoptFile(Addition& addition) {
  Status status = Seal();
  if (!status) return status;
  const ContainerName name{last_.serial + 1, true};
  status = files_.fs().Rename(*addition.path, files_.PathOf(name));
  if (status) status = files_.fs().SyncDirectory(files_.directory());
  if (!status) return status;
  last_ = name;
  last_size_ = addition.entry.location.length;
  addition.entry.location.container = name.serial;
  addition.entry.location.offset = 0;
  return {};
}

Status ContainerLog::Write(std::string_view bytes) {
  last_size_ += bytes.size();
  return file_->Append(bytes);
}

Status ContainerLog::MakeRoom(std::uint64_t bytes) {
  const bool fits =
      last_size_ <= first_record_size_ || last_size_ + bytes <= options_.container_bytes_max;
  if (!fits) {
    const Status sealed = Seal();
    if (!sealed) return sealed;
  }
  if (last_.serial == 0 || last_.sealed) return Start();
  if (file_ != nullptr) return {};
  auto file = files_.fs().OpenForAppending(files_.PathOf(last_));
  if (!file) return file.error();
  file_ = *std::move(file);
  return {};
}

// Leaves no open container behind.
Status ContainerLog::Seal() {
  if (last_.serial == 0 || last_.sealed) return {};
  Status status;
  if (file_ == nullptr) {
    auto file = files_.fs().OpenForAppending(files_.PathOf(last_));
    if (!file) return file.error();
    file_ = *std::move(file);
  }
  status = file_->Sync();
  if (status) status = file_->Close();
  file_.reset();
  const ContainerName sealed{last_.serial, true};
  if (status) status = files_.fs().Rename(files_.PathOf(last_), files_.PathOf(sealed));
  if (status) status = files_.fs().SyncDirectory(files_.directory());
  if (status) last_ = sealed;
  flush_due_ = true;
  return status;
}

// A record counts only in a container whose own name is durable.
Status ContainerLog::Start() {
  const ContainerName next{last_.serial + 1, false};
  auto file = files_.fs().Create(files_.PathOf(next));
  if (!file) return file.error();
  const Status synced = files_.fs().SyncDirectory(files_.directory());
  if (!synced) return synced;
  file_ = *std::move(file);
  last_ = next;
  last_size_ = 0;
  const std::string first_record = options_.first_record ? options_.first_record() : "";
  first_record_size_ = first_record.size();
  {
    const std::lock_guard lock(mutex_);
    bytes_ += first_record_size_;
  }
  return Write(first_record);
}

}  // namespace stele::store
