#pragma once

#include <cstdint>

#include "archive/archive_writer.h"

namespace stele::archive {

struct PurgeOutcome {
  std::uint64_t captures = 0;    // whose bytes are gone
  std::uint64_t containers = 0;  // that were written again without them
  std::uint64_t bytes = 0;       // that are gone
};

// Deletes the bytes of everything that was taken down, with requests and notes: files that hold
// some of it are written again without it, and the old ones deleted. Everything else keeps its ids
// and, byte for byte, its records; only of WACZ files, the captures that stay are exported to a new
// one. What was interrupted goes on when it is called again. Errors: kInvalid for files that stay
// where they are and are not ours to change; those of reading and writing.
Result<PurgeOutcome> PurgeRemoved(ArchiveWriter& archive);

}  // namespace stele::archive
