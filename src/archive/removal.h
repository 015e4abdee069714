#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive_writer.h"
#include "archive/capture_query.h"
#include "archive/dependents.h"
#include "io/clock.h"
#include "io/random.h"
#include "util/digest.h"

namespace stele::archive {

// A hold that covers a capture, by the key under which it is found or by that of its URL, which are
// not the same where the request had a body. Null when none does.
const Hold* HoldOf(const Holdings& holdings, const catalog::Capture& row);

// What taking captures down comes to.
struct RemovalPlan {
  std::vector<catalog::HeldCapture> captures;
  // Revisits that stay and need the payload of one that goes, or to be led by it: each gets its
  // payload as its own first. Where others find it there, one is enough.
  std::vector<Dependent> heirs;
  // Others that need it, and nobody can help: the payload is damaged.
  std::vector<Dependent> lost;
  std::uint64_t unreadable = 0;  // revisits of which nobody can know, because they are damaged
  // Where there are no captures: how many were taken down before, of which the bytes are here.
  std::uint64_t removed_before = 0;
};

// What the query finds, less what is removed already; where `payload` is given, the SHA-256 or
// SHA-1 of one, only captures that have it, also where their rows know it by the other digest, and
// revisits of them that the query finds. Errors: kBusy when a hold covers some of it: the text
// names hold and capture; kNotFound when there is nothing, nor was; those of reading, also when it
// cannot be known who needs what goes.
Result<RemovalPlan> PlanRemoval(const ArchiveView& view, const CaptureQuery& query,
                                const std::optional<Digest>& payload = std::nullopt);

// Takes them down. Requires: there are some. Payloads that other captures need are first written to
// a new container, as captures of their own; then the ledger says what was taken down and why.
// Returns the number of the removal. Errors: those of reading and writing; what was written by then
// is harmless.
struct RemovalWords {
  std::string reason;
  std::string note;  // what was asked for
};
Result<std::uint32_t> CarryOut(ArchiveWriter& archive, const RemovalPlan& plan,
                               const RemovalWords& words, const io::Clock& clock,
                               io::Random& random);

}  // namespace stele::archive
