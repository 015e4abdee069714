#pragma once

#include <memory>

#include "cli/temporary_folder.h"
#include "dedup/archive_originals.h"
#include "dedup/digest_table.h"
#include "io/posix_file_system.h"
#include "util/result.h"

namespace stele::cli {

// The table of digests that a command needs while it runs, in a temporary folder. Goes with it.
class ScratchDigests {
 public:
  // Fills it from the archive. Borrowed by `originals` from then on. Errors: kIo, kFull, those of
  // ArchiveOriginals.
  Status LoadInto(dedup::ArchiveOriginals& originals);

 private:
  io::PosixFileSystem fs_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::unique_ptr<dedup::DigestTable> table_;
};

}  // namespace stele::cli
