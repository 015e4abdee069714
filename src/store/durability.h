#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stele::store {

// What an acknowledgement of a volume promises.
enum class Durability : std::uint8_t {
  kSynced,    // it is on the disk
  kBuffered,  // the operating system has it, and it will be on the disk about a second later
};

std::string_view DurabilityName(Durability durability);  // "synced", "buffered"
std::optional<Durability> DurabilityByName(std::string_view name);

}  // namespace stele::store
