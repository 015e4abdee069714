#pragma once

#include <cstddef>
#include <cstdint>

#include "archive/archive_view.h"
#include "util/result.h"

namespace stele::archive {

// How many revisits that a run brought have their payload in no capture of this archive, as far as
// an index knows. Costs little where the run has no revisits, or also their originals; else some
// look-ups for each of the others, or one pass through all rows of the archive where they are more
// than `look_ups_max`. Errors: kCorrupt, kIo.
Result<std::uint64_t> CountUnresolved(const ArchiveView& view, std::uint32_t run,
                                      std::size_t look_ups_max = 10'000);

}  // namespace stele::archive
