#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/buffer.h"
#include "io/file_system.h"
#include "store/container_entry.h"
#include "store/container_files.h"
#include "store/container_index.h"

namespace stele::store {

// Appends records to the last container and applies them to the index: first synced, then applied
// in the order of the log, then acknowledged. Writers that come while a sync is under way share
// the next one, and their notes share a record. Thread-safe. Borrows its arguments for life.
class ContainerLog {
 public:
  struct Options {
    std::uint64_t container_bytes_max = 1 << 30;  // then it is sealed and the next one begins
    // Records that are larger become containers of their own instead of being copied into one.
    std::uint64_t copied_bytes_max = 64 << 20;
    // Makes what every other container begins with: a whole record. Empty: nothing.
    std::function<std::string()> first_record;
    // Makes a whole record of the lines of some notes. One thread at a time.
    std::function<std::string(std::string_view lines)> notes_record;
    // Records are acknowledged when they are written and applied: whoever gave this syncs the disk
    // after each call of it. A container is synced when it is sealed. Empty: as said above.
    std::function<void()> on_unsynced;
  };
  // Where writing goes on. `last` is the last container, which is whole; serial 0: there is none.
  struct Tail {
    ContainerName last;
    std::uint64_t last_size = 0;
    std::uint64_t all_bytes = 0;  // of all containers
  };

  ContainerLog(ContainerFiles& files, BlockIndex& index, Options options, Tail tail);
  ~ContainerLog();

  // Adds the record of a block, complete as it stands in the file: one gzip member. It is durable
  // and applied when this returns. Errors: kIo, kFull. The container is then cut back to what it
  // was, and the log goes on; only where that fails, or a sync did, nothing is known about the
  // record, and the log takes no more until the volume is opened again.
  Result<RecordLocation> Append(const LogEntry& entry, std::string_view record);

  // The same for a record in a file, which is taken away or left behind.
  Result<RecordLocation> AppendFile(const LogEntry& entry, const std::string& path);

  // The same for a reference or release.
  Status AppendNote(const LogEntry& entry);

  // The same for several, which share a sync. `record` is of a block.
  struct Copy {
    LogEntry entry;
    std::string record;
  };
  Status AppendAll(std::span<const Copy> copies);

  // Seals the last container, if there is one, and begins the next.
  Status StartNext();

  // What was written may be lost: nothing more is written until the volume is opened again. For
  // whoever syncs the disk.
  void Fail(const Error& error);

  // A container of this size has been removed.
  void Freed(std::uint64_t bytes) { bytes_ -= bytes; }

  // Of all containers, also what nobody refers to any more.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t syncs() const { return syncs_; }

 private:
  struct Addition;

  Status Commit(std::span<Addition* const> additions);
  void Gather();
  void WriteGroup(const std::vector<Addition*>& group);
  Status WriteAll(const std::vector<Addition*>& group);
  Status WriteBlock(Addition& addition);
  Status WriteNotes(const std::vector<Addition*>& group);
  Status CopyFile(const std::string& path);
  Status AdoptFile(Addition& addition, std::uint64_t length);
  Status Write(std::string_view bytes);
  Status WriteOut();
  Status MakeRoom(std::uint64_t bytes);
  Status Seal();
  Status Start();
  Status BeginNext();
  Status CommitWritten();
  void TakeBack();
  void Poison(const Error& error);

  ContainerFiles& files_;
  BlockIndex& index_;
  const Options options_;

  // Of whoever writes: one thread at a time, the one that set writing_.
  ContainerName last_;
  std::uint64_t last_size_;  // with what stands in buffer_
  std::uint64_t good_size_;  // what is applied, and synced unless that is left to others
  std::uint64_t first_record_size_ = 0;
  std::unique_ptr<io::WritableFile> file_;
  codec::Buffer buffer_;            // not yet in the file
  std::vector<Addition*> written_;  // not yet synced
  std::string piece_;
  bool several_ = false;    // the last group was more than one
  bool flush_due_ = false;  // a container was sealed: opening shall not read it again
  std::optional<Error> failure_;

  std::atomic<std::uint64_t> syncs_ = 0;
  std::atomic<std::uint64_t> bytes_;

  std::mutex mutex_;  // of all below
  std::vector<Addition*> waiting_;
  bool writing_ = false;
  std::optional<Error> late_failure_;  // that whoever writes next has to know of
};

}  // namespace stele::store
