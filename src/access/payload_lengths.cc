#include "access/payload_lengths.h"

#include "archive/revisit_resolver.h"

namespace stele::access {

std::uint64_t PayloadLengths::Of(const catalog::HeldCapture& capture) {
  const catalog::Capture& row = capture.row;
  if ((row.flags & catalog::kRevisit) == 0 || row.length > 0) {
    if (row.sha1) known_.emplace(*row.sha1, row.length);
    return row.length;
  }
  if (row.sha1) {
    const auto known = known_.find(*row.sha1);
    if (known != known_.end()) return known->second;
  }
  using archive::RevisitResolver;
  const Result<catalog::HeldCapture> original =
      RevisitResolver(sight_.view(), RevisitResolver::Effort::kLookUps).Resolve(capture);
  if (!original || !sight_.Shows(KeyOfCapture(original->row), original->row)) return 0;
  if (row.sha1) known_.emplace(*row.sha1, original->row.length);
  return original->row.length;
}

}  // namespace stele::access
