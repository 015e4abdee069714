// Group commit: whoever finds nobody writing takes all that is waiting, writes it with one sync and
// wakes the others one by one; meanwhile the next group gathers, and its first one writes next.
#include "store/container_log.h"

#include <fmt/format.h>
#include <semaphore.h>

#include <algorithm>
#include <array>
#include <deque>
#include <thread>

namespace stele::store {
namespace {

constexpr std::size_t kBufferBytesMax = 1 << 20;

// Wakes one thread, which need not wait yet and may be gone as soon as it is woken.
class Signal {
 public:
  Signal() { ::sem_init(&semaphore_, 0, 0); }
  ~Signal() { ::sem_destroy(&semaphore_); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  void Send() { ::sem_post(&semaphore_); }
  void Wait() {
    while (::sem_wait(&semaphore_) != 0) {  // interrupted
    }
  }

 private:
  sem_t semaphore_;
};

}  // namespace

struct ContainerLog::Addition {
  explicit Addition(const LogEntry& of) : entry(of) {}
  explicit Addition(bool next) : begins_next(next) {}

  bool IsBlock() const { return entry && entry->kind == LogEntry::Kind::kBlock; }
  bool IsNote() const { return entry && entry->kind != LogEntry::Kind::kBlock; }

  std::optional<LogEntry> entry;      // none: begins_next
  std::string_view record;            // of a block
  const std::string* path = nullptr;  // instead of `record`
  bool begins_next = false;           // instead of adding something
  RecordLocation location;
  std::optional<Status> status;  // none: not done yet
  bool is_first = true;          // of those that one thread waits for; its signal is used
  Signal signal;                 // done, or to write
};

ContainerLog::ContainerLog(ContainerFiles& files, BlockIndex& index, Options options, Tail tail)
    : files_(files),
      index_(index),
      options_(std::move(options)),
      last_(tail.last),
      last_size_(tail.last_size),
      good_size_(tail.last_size),
      bytes_(tail.all_bytes) {}

ContainerLog::~ContainerLog() = default;

Result<RecordLocation> ContainerLog::Append(const LogEntry& entry, std::string_view record) {
  Addition addition(entry);
  addition.record = record;
  const Status committed = Commit(std::array{&addition});
  if (!committed) return committed.error();
  return addition.location;
}

Result<RecordLocation> ContainerLog::AppendFile(const LogEntry& entry, const std::string& path) {
  Addition addition(entry);
  addition.path = &path;
  const Status committed = Commit(std::array{&addition});
  if (!committed) return committed.error();
  return addition.location;
}

Status ContainerLog::AppendNote(const LogEntry& entry) {
  Addition addition(entry);
  return Commit(std::array{&addition});
}

Status ContainerLog::AppendAll(std::span<const Copy> copies) {
  std::deque<Addition> additions;
  std::vector<Addition*> all;
  for (const Copy& copy : copies) {
    Addition& addition = additions.emplace_back(copy.entry);
    addition.record = copy.record;
    addition.is_first = all.empty();
    all.push_back(&addition);
  }
  return all.empty() ? Status() : Commit(all);
}

Status ContainerLog::StartNext() {
  Addition addition(true);
  return Commit(std::array{&addition});
}

// Those that wait together are written together.
Status ContainerLog::Commit(std::span<Addition* const> additions) {
  Addition& first = *additions.front();
  bool leads = false;
  {
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.end(), additions.begin(), additions.end());
    leads = !std::exchange(writing_, true);
  }
  if (!leads) first.signal.Wait();
  if (!first.status) {
    std::vector<Addition*> group;
    if (several_) Gather();
    {
      const std::lock_guard lock(mutex_);
      group.swap(waiting_);
      several_ = group.size() > 1;
      if (late_failure_ && !failure_) Poison(*late_failure_);
    }
    WriteGroup(group);
    // Whoever is woken may be gone at once, with all its additions.
    std::erase_if(group, [&](const Addition* done) { return !done->is_first || done == &first; });
    {
      const std::lock_guard lock(mutex_);
      writing_ = !waiting_.empty();
      if (writing_) waiting_.front()->signal.Send();
    }
    for (Addition* done : group) done->signal.Send();
  }
  for (const Addition* addition : additions) {
    if (!*addition->status) return *addition->status;
  }
  return {};
}

// Those who are about to come share the sync when they get a moment for it. One who is alone gives
// nobody the processor.
void ContainerLog::Gather() {
  for (std::size_t known = 0;;) {
    std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    if (waiting_.size() == std::exchange(known, waiting_.size())) return;
  }
}

// One that cannot be written, for lack of space perhaps, does not take the others with it.
void ContainerLog::WriteGroup(const std::vector<Addition*>& group) {
  Status status = failure_ ? Status(*failure_) : WriteAll(group);
  if (!status) TakeBack();
  for (Addition* addition : group) {
    if (addition->status) continue;
    if (!status && !failure_ && group.size() > 1) {
      WriteGroup({addition});
    } else {
      addition->status = status;
    }
  }
}

Status ContainerLog::WriteAll(const std::vector<Addition*>& group) {
  for (Addition* addition : group) {
    if (!addition->IsBlock()) continue;
    const Status written = WriteBlock(*addition);
    if (!written) return written;
  }
  Status status = WriteNotes(group);
  if (status) status = CommitWritten();
  for (Addition* addition : group) {
    if (!addition->begins_next || !status) continue;
    status = BeginNext();
    if (status) addition->status = status;
  }
  return status;
}

Status ContainerLog::WriteBlock(Addition& addition) {
  std::uint64_t length = addition.record.size();
  if (addition.path != nullptr) {
    const auto file = files_.fs().OpenForReading(*addition.path);
    if (!file) return file.error();
    const Result<std::uint64_t> size = (*file)->Size();
    if (!size) return size.error();
    length = *size;
  }
  if (addition.path != nullptr && length > options_.copied_bytes_max) {
    return AdoptFile(addition, length);
  }
  const Status room = MakeRoom(length);
  if (!room) return room;
  addition.location = {last_.serial, last_size_, length};
  const Status written =
      addition.path != nullptr ? CopyFile(*addition.path) : Write(addition.record);
  if (written) written_.push_back(&addition);
  return written;
}

Status ContainerLog::WriteNotes(const std::vector<Addition*>& group) {
  std::string lines;
  std::vector<Addition*> noted;
  const auto write = [&]() -> Status {
    if (noted.empty()) return {};
    const std::string record = options_.notes_record(lines);
    const Status room = MakeRoom(record.size());
    if (!room) return room;
    for (Addition* addition : noted) {
      addition->entry->note_bytes = record.size() / noted.size();
      addition->location = {last_.serial, last_size_, record.size()};
      written_.push_back(addition);
    }
    lines.clear();
    noted.clear();
    return Write(record);
  };
  for (Addition* addition : group) {
    if (!addition->IsNote()) continue;
    const std::string line = NoteLine(*addition->entry);
    if (lines.size() + line.size() > kNotesBytesMax) {
      const Status written = write();
      if (!written) return written;
    }
    lines += line;
    noted.push_back(addition);
  }
  return write();
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
Status ContainerLog::AdoptFile(Addition& addition, std::uint64_t length) {
  Status status = Seal();
  if (!status) return status;
  const ContainerName name{last_.serial + 1, true};
  status = files_.fs().Rename(*addition.path, files_.PathOf(name));
  if (!status) return status;
  status = files_.fs().SyncDirectory(files_.directory());
  if (!status) {
    Poison(status.error());
    return status;
  }
  last_ = name;
  last_size_ = good_size_ = length;
  addition.location = {name.serial, 0, length};
  written_.push_back(&addition);
  return CommitWritten();
}

Status ContainerLog::Write(std::string_view bytes) {
  last_size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytesMax) {
    const Status written = WriteOut();
    if (!written) return written;
  }
  if (bytes.size() > kBufferBytesMax) return file_->Append(bytes);
  buffer_.Append(bytes);
  return {};
}

Status ContainerLog::WriteOut() {
  if (buffer_.size() == 0) return {};
  const Status written = file_->Append(buffer_.view());
  buffer_.Clear();
  return written;
}

Status ContainerLog::MakeRoom(std::uint64_t bytes) {
  const bool fits =
      last_size_ <= first_record_size_ || last_size_ + bytes <= options_.container_bytes_max;
  if (!fits) {
    const Status sealed = Seal();
    if (!sealed) return sealed;
  }
  if (last_.serial == 0 || last_.sealed) {
    const Status started = Start();
    if (!started) return started;
  }
  if (file_ == nullptr) {
    auto file = files_.fs().OpenForAppending(files_.PathOf(last_));
    if (!file) return file.error();
    file_ = *std::move(file);
  }
  if (last_size_ > 0 || !options_.first_record) return {};
  const std::string first_record = options_.first_record();
  first_record_size_ = first_record.size();
  return Write(first_record);
}

// Leaves no open container behind.
Status ContainerLog::Seal() {
  Status status = CommitWritten();
  if (!status || last_.serial == 0 || last_.sealed) return status;
  if (file_ != nullptr && options_.on_unsynced) {
    status = file_->Sync();
    if (!status) Poison(status.error());
    if (!status) return status;
  }
  if (file_ != nullptr) status = file_->Close();
  file_.reset();
  const ContainerName sealed{last_.serial, true};
  if (status) status = files_.fs().Rename(files_.PathOf(last_), files_.PathOf(sealed));
  if (!status) return status;
  last_ = sealed;
  flush_due_ = true;
  status = files_.fs().SyncDirectory(files_.directory());
  if (!status) Poison(status.error());
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
  last_size_ = good_size_ = 0;
  return {};
}

Status ContainerLog::BeginNext() {
  Status status = Seal();
  if (status) status = MakeRoom(0);
  if (status) status = WriteOut();
  if (!status) return status;
  status = file_->Sync();
  if (status) status = index_.Apply({}, {last_.serial, last_size_});
  if (!status) {
    Poison(status.error());
    return status;
  }
  bytes_ += last_size_ - good_size_;
  good_size_ = last_size_;
  return {};
}

// Syncs and applies what has been written since the last time. The table is flushed before: it
// shall not know more than the disk has.
Status ContainerLog::CommitWritten() {
  if (written_.empty()) return {};
  if (file_ != nullptr) {
    const Status out = WriteOut();
    if (!out) return out;
    const Status synced = options_.on_unsynced ? Status() : file_->Sync();
    if (!synced) {
      Poison(synced.error());
      return synced;
    }
    if (!options_.on_unsynced) ++syncs_;
  }
  std::vector<LogEntry> entries;
  entries.reserve(written_.size());
  for (Addition* addition : written_) {
    addition->entry->location = addition->location;
    entries.push_back(*std::move(addition->entry));
  }
  Status applied = std::exchange(flush_due_, false) ? index_.Flush() : Status();
  if (applied) applied = index_.Apply(entries, {last_.serial, last_size_});
  if (!applied) {
    Poison(applied.error());
    return applied;
  }
  bytes_ += last_size_ - (last_.sealed ? 0 : good_size_);
  good_size_ = last_size_;
  for (Addition* addition : written_) addition->status = Status();
  written_.clear();
  if (options_.on_unsynced) options_.on_unsynced();
  return {};
}

void ContainerLog::Fail(const Error& error) {
  const std::lock_guard lock(mutex_);
  late_failure_ = error;
}

// Forgets what was written and not committed.
void ContainerLog::TakeBack() {
  written_.clear();
  buffer_.Clear();
  last_size_ = good_size_;
  if (file_ == nullptr || failure_) return;
  const Status cut = file_->Truncate(good_size_);
  if (!cut) Poison(cut.error());
}

void ContainerLog::Poison(const Error& error) {
  failure_ = Error{
      error.code,
      fmt::format("{}; nothing more is written until the volume is opened again", error.text)};
}

}  // namespace stele::store
