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
  // Files that hold some of it and could not be read or written anew, and why: a file that is
  // damaged or away keeps no other from being purged.
  struct Failure {
    std::string name;  // of the file, and where it is
    Error error;
  };
  std::vector<Failure> failures;
};

// Deletes the bytes of everything that was taken down and is under no hold, with requests and
// notes: files that hold some of it are written again without it, and the old ones deleted; then
// the catalog forgets it. What the ledger says of it stays, and tombstones come to it. Everything
// else, also what is no capture that an index could have, keeps its ids and, byte for byte, its
// records, as RecordCut says, in WACZ files as WaczCut does. A file of which a capture that stays
// is damaged is left as it is, and named. What was interrupted goes on when it is called again.
// Errors: those of writing the ledger and the catalog.
Result<PurgeOutcome> PurgeRemoved(ArchiveWriter& archive);

}  // namespace stele::archive
