#include "cli/amount.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "util/ascii.h"

namespace stele::cli {
namespace {

// A number that is not negative, and what stands behind it.
std::optional<std::pair<double, std::string>> NumberAndUnit(std::string_view text) {
  text = TrimSpace(text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0) || number > 1e15) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return std::pair(number, AsciiLower(TrimSpace(unit)));
}

}  // namespace

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

std::optional<std::uint64_t> ParseByteCount(std::string_view text) {
  const auto amount = NumberAndUnit(text);
  if (!amount) return std::nullopt;
  std::string unit = amount->second;
  if (unit.ends_with('b')) unit.pop_back();
  const double base = unit.ends_with('i') ? 1024 : 1000;
  if (unit.ends_with('i')) unit.pop_back();
  double factor = 1;
  if (!unit.empty()) {
    const std::size_t power = std::string_view("kmgt").find(unit);
    if (unit.size() != 1 || power == std::string_view::npos) return std::nullopt;
    for (std::size_t i = 0; i <= power; ++i) factor *= base;
  }
  return static_cast<std::uint64_t>(amount->first * factor);
}

std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  const auto amount = NumberAndUnit(text);
  if (!amount) return std::nullopt;
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"", 1}, {"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86'400}}};
  for (const auto& [unit, seconds] : kUnits) {
    if (unit != amount->second) continue;
    return std::chrono::milliseconds(static_cast<std::int64_t>(amount->first * seconds * 1000));
  }
  return std::nullopt;
}

std::string DurationText(std::chrono::milliseconds time) {
  const std::int64_t seconds = time.count() / 1000;
  if (seconds < 10) return fmt::format("{:.1f}s", static_cast<double>(time.count()) / 1000);
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
}

}  // namespace stele::cli
