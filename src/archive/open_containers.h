#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "formats/archive_file/archive_file.h"

namespace stele::archive {

// An archive file that is open for reading: a container, or a part of one that is a WACZ file.
struct OpenedFile {
  std::unique_ptr<archive_file::ArchiveFile> file;
  // Where in the container it lies.
  std::uint64_t begin = 0;
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
};

// Containers that were read from lately, for whoever reads from them next: what a file is need not
// be found out again, and its buffers are there. Thread-safe.
class OpenContainers {
 public:
  // A container that somebody has for a while.
  struct Lent {
    OpenedFile opened;
    std::uint32_t container = 0;
    std::uint64_t epoch = 0;  // of which it is open
  };

  // The file is null where none is open that has the byte at `offset`: it is to be opened then.
  Lent Take(std::uint32_t container, std::uint64_t offset);
  // Requires: nothing went wrong while it was read. Of too many the one that was not used for the
  // longest time is closed.
  void GiveBack(Lent lent);
  // Those that are lent are closed when they come back. So files that are gone or were replaced are
  // noticed, and their disk is free.
  void CloseAll();

 private:
  std::mutex mutex_;
  std::uint64_t epoch_ = 0;
  std::vector<Lent> idle_;  // the most recently used last
};

}  // namespace stele::archive
