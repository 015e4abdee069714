#include "store/durability.h"

namespace stele::store {

std::string_view DurabilityName(Durability durability) {
  return durability == Durability::kBuffered ? "buffered" : "synced";
}

std::optional<Durability> DurabilityByName(std::string_view name) {
  for (const Durability durability : {Durability::kSynced, Durability::kBuffered}) {
    if (DurabilityName(durability) == name) return durability;
  }
  return std::nullopt;
}

}  // namespace stele::store
