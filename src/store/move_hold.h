#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/volume.h"

namespace stele::store {

// Who holds a block while it moves, at its old place and at its new one.
inline constexpr std::string_view kMoveOwner = "stele.move";

// A reference by which a move holds a block.
struct MoveHold {
  bool arrives = false;  // at its new place; otherwise it leaves its old one
  // Where it comes from, or the volume it goes to.
  std::string volume;
  std::uint32_t overflow = 0;  // where it comes from
  Operation operation;
};

// `id` was never used.
Operation ArrivalHold(const ContentKey& from, const std::string& id);
Operation LeaveHold(const std::string& to, const std::string& id);
// Nothing for other operations.
std::optional<MoveHold> ParseMoveHold(const Operation& operation);

// Those of one block; more than one only for a moment.
Result<std::vector<MoveHold>> MoveHoldsOf(Volume& volume, const ContentKey& key);

}  // namespace stele::store
