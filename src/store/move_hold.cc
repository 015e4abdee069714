#include "store/move_hold.h"

#include <fmt/format.h>

#include "store/live_references.h"
#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::string_view kArrives = "from";
constexpr std::string_view kLeaves = "to";

}  // namespace

Operation ArrivalHold(const ContentKey& from, const std::string& id) {
  return {std::string(kMoveOwner),
          fmt::format("{}/{}/{}/{}", kArrives, from.volume, from.overflow, id)};
}

Operation LeaveHold(const std::string& to, const std::string& id) {
  return {std::string(kMoveOwner), fmt::format("{}/{}/{}", kLeaves, to, id)};
}

std::optional<MoveHold> ParseMoveHold(const Operation& operation) {
  if (operation.owner != kMoveOwner) return std::nullopt;
  const std::vector<std::string_view> parts = Split(operation.id, '/');
  if (parts.size() == 3 && parts[0] == kLeaves && IsVolumeName(parts[1])) {
    return MoveHold{false, std::string(parts[1]), 0, operation};
  }
  if (parts.size() != 4 || parts[0] != kArrives || !IsVolumeName(parts[1])) return std::nullopt;
  const auto overflow = ParseDecimal(parts[2]);
  if (!overflow || *overflow > UINT32_MAX) return std::nullopt;
  return MoveHold{true, std::string(parts[1]), static_cast<std::uint32_t>(*overflow), operation};
}

Result<std::vector<MoveHold>> MoveHoldsOf(Volume& volume, const ContentKey& key) {
  const Result<std::vector<Operation>> live = LiveReferences(volume, key, kMoveOwner);
  if (!live) return live.error();
  std::vector<MoveHold> holds;
  for (const Operation& operation : *live) {
    std::optional<MoveHold> hold = ParseMoveHold(operation);
    if (hold) holds.push_back(*std::move(hold));
  }
  return holds;
}

}  // namespace stele::store
