#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// What errors say is to be done about a file that is damaged or missing.
namespace stele::catalog {

inline constexpr std::string_view kReindexRemedy = "make it anew with: stele reindex";

// Of a file that has rows of one batch only.
inline std::string ReindexRemedy(std::uint32_t batch) {
  return std::string(kReindexRemedy) + " --batch " + std::to_string(batch);
}

}  // namespace stele::catalog
