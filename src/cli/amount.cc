#include "cli/amount.h"

#include <fmt/format.h>

#include <array>

namespace stele::cli {

std::string ByteCount(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 6> kUnits = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double amount = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  // What would be rounded to 1000 is one of the next unit.
  for (; amount >= 999.5 && unit + 1 < kUnits.size(); ++unit) amount /= 1000;
  return amount < 9.95 ? fmt::format("{:.1f} {}", amount, kUnits[unit])
                       : fmt::format("{:.0f} {}", amount, kUnits[unit]);
}

std::string Count(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace stele::cli
