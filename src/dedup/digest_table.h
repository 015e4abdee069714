#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "catalog/capture_id.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::dedup {

// Which capture has a digest: as many as an archive has, for one process while it runs. When there
// are many in memory they go to a file, in order, and files of one size become one that is larger;
// so a look-up reads one page of each of a few files. Nothing is durable. Thread-safe.
class DigestTable {
 public:
  // Of a digest, its begin: others hardly ever begin alike, and a look-up says so little that the
  // capture has to be asked anyway.
  using Short = std::uint64_t;
  template <std::size_t kSize>
  static Short ShortOf(const std::array<char, kSize>& digest) {
    Short begin = 0;
    std::memcpy(&begin, digest.data(), sizeof(begin));
    return begin;
  }

  // `folder` is made when missing, and what is in it goes, now and at the end. Keeps less than
  // `in_memory_max` in memory. Borrows `fs` for life. Errors: kIo.
  static Result<std::unique_ptr<DigestTable>> Create(io::FileSystem& fs, std::string folder,
                                                     std::size_t in_memory_max = 131'072);
  ~DigestTable();

  // Of several captures with one digest, the one that was added last counts. Errors: kFull, kIo;
  // nothing may be added after one.
  Status Add(Short digest, const catalog::CaptureId& id);
  Result<std::optional<catalog::CaptureId>> Find(Short digest) const;

 private:
  struct Entry {
    Short digest = 0;
    catalog::CaptureId id;
  };
  // Of what is in memory; a look-up touches one place, or some beside it.
  class Slots;
  class Run;
  class RunWriter;
  class RunReader;
  DigestTable(io::FileSystem& fs, std::string folder, std::size_t in_memory_max);
  Status RemoveFiles();
  Result<std::unique_ptr<RunWriter>> NewRun(int size);
  // What is in memory, as a file.
  Status Spill();
  // The newest files of one size, when they are enough, as one.
  Status Merge();
  Status MergeInto(RunWriter& writer, std::vector<RunReader>& readers) const;

  io::FileSystem& fs_;
  const std::string folder_;
  const std::size_t in_memory_max_;
  mutable std::shared_mutex mutex_;  // of all below
  const std::unique_ptr<Slots> in_memory_;
  std::vector<std::unique_ptr<Run>> runs_;  // the newest last
  std::uint64_t runs_made_ = 0;
};

}  // namespace stele::dedup
