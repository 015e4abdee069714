#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_system.h"
#include "store/container_entry.h"
#include "store/container_files.h"
#include "store/container_index.h"

namespace stele::store {

// Appends records to the last container and applies them to the index: first synced, then applied
// in the order of the log, then acknowledged. Writers that come while a sync is under way share
// the next one. Thread-safe. Borrows its arguments for life.
class ContainerLog {
 public:
  struct Options {
    std::uint64_t container_bytes_max = 1 << 30;  // then it is sealed and the next one begins
    // Records that are larger become containers of their own instead of being copied into one.
    std::uint64_t copied_bytes_max = 64 << 20;
    // Makes what every other container begins with: a whole record. Empty: nothing.
    std::function<std::string()> first_record;
  };
  // Where writing goes on. `last` is the last container, which is whole; serial 0: there is none.
  struct Tail {
    ContainerName last;
    std::uint64_t last_size = 0;
    std::uint64_t all_bytes = 0;  // of all containers
  };

  ContainerLog(ContainerFiles& files, BlockIndex& index, Options options, Tail tail);

  // Adds one record, complete as it stands in the file: one gzip member. It is durable and applied
  // when this returns. Errors: kIo, kFull; nothing is then known about the record, and the log
  // takes no more until the volume is opened again.
  Result<RecordLocation> Append(const LogEntry& entry, std::string_view record);

  // The same for a record in a file, which is taken away or left behind.
  Result<RecordLocation> AppendFile(const LogEntry& entry, const std::string& path);

  // The same for several records, which share a sync.
  struct Copy {
    LogEntry entry;
    std::string record;
  };
  Status AppendAll(std::span<const Copy> copies);

  // Seals the last container, if there is one, and begins the next.
  Status StartNext();

  // A container of this size has been removed.
  void Freed(std::uint64_t bytes);

  // Of all containers, also what nobody refers to any more.
  std::uint64_t bytes() const;
  bool failed() const;

 private:
  struct Addition {
    LogEntry entry;
    std::string_view record;
    const std::string* path = nullptr;  // instead of `record`
    bool done = false;
    Status status;
  };

  Status Commit(std::span<Addition> additions);
  void Finish(const Status& status);
  Status WriteAll(const std::vector<Addition*>& additions);
  Status WriteOne(Addition& addition);
  Status CopyFile(const std::string& path);
  Status AdoptFile(Addition& addition);
  Status Write(std::string_view bytes);
  Status MakeRoom(std::uint64_t bytes);
  Status Seal();
  Status Start();

  ContainerFiles& files_;
  BlockIndex& index_;
  const Options options_;

  // Of whoever writes: one thread at a time, the one that set writing_.
  ContainerName last_;
  std::uint64_t last_size_;
  std::uint64_t first_record_size_ = 0;
  std::unique_ptr<io::WritableFile> file_;
  std::string piece_;
  bool flush_due_ = false;  // a container was sealed: opening shall not read it again

  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::vector<Addition*> waiting_;
  bool writing_ = false;
  std::optional<Error> failure_;
  std::uint64_t bytes_;
};

}  // namespace stele::store
