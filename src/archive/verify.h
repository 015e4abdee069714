#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "archive/archive_view.h"

namespace stele::archive {

struct VerifyOptions {
  bool read_files = true;  // else only their sizes are looked at
  // Up to where in the ledger the catalog should have everything. What came behind it may be
  // unfinished, which is no defect: the next writer finishes it.
  std::uint64_t applied = std::numeric_limits<std::uint64_t>::max();
  // Told how many bytes of the files were read.
  std::function<void(std::uint64_t bytes)> progress;
};

struct VerifyOutcome {
  std::uint64_t containers = 0;
  std::uint64_t captures = 0;
  std::uint64_t bytes = 0;       // of files that were read
  std::uint64_t unfinished = 0;  // captures that the catalog does not yet have as they are
  std::uint64_t defects = 0;
};

// Looks at everything that an archive consists of: files against the digests in the ledger, rows
// against the ledger, the catalog's pages against their checksums, its rows against those of the
// containers, its index against its rows, and what lies in the volumes against the ledger, so that
// an old one is found. Each defect is told in one line that says what, where and what to do. That
// the ledger is whole was checked when the archive was opened. Errors: those that keep us from
// going on.
Result<VerifyOutcome> Verify(const ArchiveView& view, const VerifyOptions& options,
                             const std::function<void(const std::string&)>& report);

}  // namespace stele::archive
