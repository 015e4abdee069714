#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "archive/archive_writer.h"

namespace stele::archive {

struct PurgeOutcome {
  std::uint64_t captures = 0;    // whose bytes are gone
  std::uint64_t containers = 0;  // that were written again without them
  std::uint64_t bytes = 0;       // that are gone
  std::uint64_t held = 0;        // captures whose bytes stay because a hold covers them
  // Files that were imported in place and hold some of it: they are not ours to change.
  std::vector<std::string> not_ours;
};

// Deletes the bytes of everything that was taken down and is under no hold, with requests and
// notes: files that hold some of it are written again without it, and the old ones deleted.
// Everything else keeps its ids and, byte for byte, its records; only of WACZ files, the captures
// that stay are exported to a new one. What was interrupted goes on when it is called again.
// Errors: those of reading and writing.
Result<PurgeOutcome> PurgeRemoved(ArchiveWriter& archive);

}  // namespace stele::archive
