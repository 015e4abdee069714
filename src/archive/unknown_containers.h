#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "archive/applied_mark.h"
#include "archive/archive_layout.h"
#include "archive/holdings.h"
#include "io/file_system.h"
#include "util/result.h"

// A ledger can be lost, or replaced by an old copy. What it does not know then still lies in the
// volumes: a file has the name of a container, or of one that grows, only when the ledger has it.
namespace stele::archive {

// A file of a container that the ledger does not know.
struct UnknownContainer {
  std::uint32_t number = 0;
  std::string path;

  // Whether a ledger knows it, also as one that was purged.
  bool IsIn(const Holdings& holdings) const;
};

// What is in the directories of the volumes, those that are away left out. What an interrupted
// import or move left is not among it. Errors: those of listing.
Result<std::vector<UnknownContainer>> FindUnknownContainers(io::FileSystem& fs,
                                                            const ArchiveLayout& layout,
                                                            const Holdings& holdings);

// What it means that there is one, and what to do.
Error NotInLedger(const ArchiveLayout& layout, const UnknownContainer& container);

// That there is no ledger where there was one.
Error LedgerIsMissing(const ArchiveLayout& layout);
// Requires: there is no ledger. Errors: LedgerIsMissing() when a catalog or a volume says that
// there was one; those of listing.
Status CheckNeverHadLedger(io::FileSystem& fs, const ArchiveLayout& layout,
                           const AppliedMark& applied);

}  // namespace stele::archive
