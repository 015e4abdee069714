#pragma once

#include <cstdint>
#include <map>

#include "access/sight.h"

namespace stele::access {

// How long the payloads of captures are. Rows of revisits do not say it; their originals do. Keeps
// the sight. Not thread-safe.
class PayloadLengths {
 public:
  explicit PayloadLengths(Sight sight) : sight_(std::move(sight)) {}

  // 0 where the original of a revisit is not here, or may not be seen. Those of captures that were
  // asked for before, as of one URL in the order of time, need not be looked for.
  std::uint64_t Of(const catalog::HeldCapture& capture);
  // Forgets them.
  void Clear() { known_.clear(); }

 private:
  const Sight sight_;
  std::map<catalog::Sha1Bytes, std::uint64_t> known_;  // by digest
};

}  // namespace stele::access
