#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/container_files.h"
#include "store/container_index.h"
#include "store/container_log.h"

// Reading containers from their begin or from a checkpoint on.
namespace stele::store {

// Bytes of a container that say nothing, though records stand behind them or should stand there.
struct LogDamage {
  std::uint64_t container = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string text;
};

struct ScannedContainer {
  std::uint64_t good_end = 0;      // the end of the last record that can be read
  std::vector<LogDamage> damaged;  // in order; what lies behind good_end comes last
};

// Reads the records of `file`, which is container `serial`, from `from` on, and hands out those
// that mean something, in order. Records that do not have their digests are damaged, if
// `check_digests` asks for that. Stops at the first error of `visit`. Errors: kIo.
Result<ScannedContainer> ScanContainer(std::shared_ptr<const io::ReadableFile> file,
                                       std::uint64_t serial, std::uint64_t from, bool check_digests,
                                       const std::function<Status(LogEntry)>& visit);

struct ReplayedLog {
  ContainerLog::Tail tail;
  std::vector<LogDamage> damaged;
  std::vector<std::string> torn;  // files with what was cut off by a crash
};

// Brings the index up to the end of the log. What does not parse at the end of the open container
// is moved aside; damage elsewhere is reported and passed. An index that is ahead of the log is
// made anew. Entries whose signatures do not have `signature_bytes` are damage. Requires: the index
// is loaded. `progress` may be empty.
//
// Where records were acknowledged before they were synced, `synced` is up to where they are known
// to be durable: behind it, everything from the first place on that does not parse is moved aside.
Result<ReplayedLog> ReplayLog(
    ContainerFiles& files, BlockIndex& index, std::size_t signature_bytes,
    const std::optional<LogPosition>& synced,
    const std::function<void(std::uint64_t done_bytes, std::uint64_t all_bytes)>& progress);

}  // namespace stele::store
