#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "archive/archive_view.h"
#include "archive/capture_query.h"
#include "catalog/capture.h"
#include "util/result.h"

namespace stele::archive {

// How many captures something is wrong with, and the first of them.
struct CaptureTrouble {
  std::uint64_t captures = 0;
  std::vector<catalog::HeldCapture> first;  // at most kTroublesShown

  void Add(const catalog::HeldCapture& capture);
};
inline constexpr std::size_t kTroublesShown = 10;

// What a look at the revisits of a run has shown.
struct UnresolvedRevisits {
  CaptureTrouble missing;    // whose payload is not here
  CaptureTrouble undecided;  // nobody can know it: a file or rows are damaged, or away
  std::string reason;        // of the first of these
};

struct UnresolvedOptions {
  CaptureFilter shows = {};  // what it does not let pass is as if it were not there
  std::uint64_t revisits_max = std::uint64_t{4} << 20;  // in memory at once
  // More are looked for among the payloads of the whole archive before they are looked up.
  std::size_t look_ups_max = 10'000;
};

// The revisits that a run brought and whose payload RevisitResolver does not find. Costs little
// where the run has no revisits, or also their originals; else some look-ups for each of the
// others, and for each `revisits_max` some passes through all rows of the archive, as many as
// chains of revisits that are known by record id or digest alone are long. Errors: kCorrupt and
// kIo, of the index.
Result<UnresolvedRevisits> FindUnresolved(const ArchiveView& view, std::uint32_t run,
                                          const UnresolvedOptions& options = {});

}  // namespace stele::archive
