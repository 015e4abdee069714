#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "store/container_files.h"
#include "store/container_index.h"
#include "store/container_log.h"
#include "store/container_replay.h"

namespace stele::store {

// Takes containers out of the log of a volume that is in use. Not thread-safe, and one at a time;
// others may write and read meanwhile. Borrows its arguments for life.
class ContainerCompactor {
 public:
  // `temporary` is where a file may be made.
  ContainerCompactor(ContainerFiles& files, BlockIndex& index, ContainerLog& log,
                     std::string temporary)
      : files_(files), index_(index), log_(log), temporary_(std::move(temporary)) {}
  ~ContainerCompactor();
  ContainerCompactor(const ContainerCompactor&) = delete;
  ContainerCompactor& operator=(const ContainerCompactor&) = delete;

  struct Copied {
    bool stopped = false;  // the rest has not been looked at
    std::vector<LogDamage> damaged;
  };
  // Copies what counts in a sealed container to the end of the log, where it is durable and applied
  // when this returns, until `stop`, which may be empty, says so. The container may be removed when
  // all of it was copied and nothing is damaged. Errors: those of the log.
  Result<Copied> CopyUsed(std::uint64_t container, const std::function<bool()>& stop);

  // Removes a container whose used records have been copied. Can be done again after a crash, also
  // when the container is gone already. Returns its size. Errors: kIo.
  Result<std::uint64_t> Remove(std::uint64_t container);

  std::uint64_t copied_bytes() const { return copied_bytes_; }

 private:
  // Whether it has to be copied, and as what.
  Result<bool> IsUsed(LogEntry& entry);
  Status Copy(const io::ReadableFile& file, LogEntry entry);
  Status CopyLarge(const io::ReadableFile& file, const LogEntry& entry);
  Status AppendCopies();
  Status ForgetAll(std::uint64_t container, std::shared_ptr<const io::ReadableFile> file);

  ContainerFiles& files_;
  BlockIndex& index_;
  ContainerLog& log_;
  const std::string temporary_;
  std::vector<ContainerLog::Copy> copies_;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t copied_bytes_ = 0;
  // By record and owner, for blocks that are gone: how many of their releases may go, too.
  std::map<std::string, std::int64_t> spare_;
};

}  // namespace stele::store
