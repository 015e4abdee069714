#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "archive/archive_writer.h"
#include "archive/capture_query.h"
#include "io/clock.h"
#include "io/random.h"

namespace stele::archive {

// What taking captures down comes to.
struct RemovalPlan {
  std::vector<catalog::HeldCapture> captures;
  // Revisits that stay and need the payload of one that goes: each gets it as its own first. One
  // for each payload; others then repeat it.
  std::vector<catalog::HeldCapture> heirs;
};

// What the query finds, less what is removed already; where `sha256` is not empty, only captures
// of that payload, and with them all revisits of it, so that nobody inherits it. Errors: kInvalid
// when a hold covers some of it: the text names hold and capture; kNotFound when there is nothing;
// those of reading.
Result<RemovalPlan> PlanRemoval(const ArchiveView& view, const CaptureQuery& query,
                                const std::string& sha256);

// Takes them down. Payloads that other captures need are first written to a new container, as
// captures of their own; then the ledger says what was taken down and why. Returns the number of
// the removal. Errors: those of reading and writing; what was written by then is harmless.
struct RemovalWords {
  std::string reason;
  std::string note;  // what was asked for
};
Result<std::uint32_t> CarryOut(ArchiveWriter& archive, const RemovalPlan& plan,
                               const RemovalWords& words, const io::Clock& clock,
                               io::Random& random);

}  // namespace stele::archive
