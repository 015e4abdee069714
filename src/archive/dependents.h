#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "archive/archive_view.h"
#include "archive/revisit_resolver.h"
#include "util/result.h"

namespace stele::archive {

// A revisit that stays, and cannot find its payload by what it says once others are gone.
struct Dependent {
  catalog::HeldCapture revisit;
  catalog::HeldCapture original;  // which has its payload now
  bool not_modified = false;      // it is the server's "not modified"
  // How that is found, and the first capture on the way to it.
  RevisitResolver::How how = RevisitResolver::How::kByUriAndDate;
  catalog::CaptureId first;
};

struct Dependents {
  std::vector<Dependent> revisits;  // in the order of time
  // Revisits whose records are damaged: nobody can know what they repeat.
  std::uint64_t unreadable = 0;
};

// Those that need captures of `goes`: as their original, or to be led to it. Each revisit of the
// archive is looked at whose digest does not say that its payload is elsewhere, too; rows are read
// a bounded number of times for each few million of revisits. Errors: kCorrupt; kIo, also when
// files or rows are away without which it cannot be known.
Result<Dependents> FindDependents(const ArchiveView& view,
                                  const std::vector<catalog::HeldCapture>& goes,
                                  const std::set<catalog::CaptureId>& ids);

// Of revisits in the order of time, those that are to get their payload as their own, so that the
// others find it there.
struct Heirs {
  std::vector<Dependent> heirs;
  // Those that nobody can help: their payload is damaged.
  std::vector<Dependent> lost;
};
// Errors: those of reading, but for damage.
Result<Heirs> ChooseHeirs(const ArchiveView& view, std::vector<Dependent> dependents);

}  // namespace stele::archive
