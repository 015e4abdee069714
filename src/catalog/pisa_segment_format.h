#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/pisa_forest.h"
#include "catalog/serial_clock.h"
#include "util/result.h"

// What a file of persistent trees says about itself. docs/formats/pisa-segment.md.
namespace stele::catalog {

inline constexpr std::string_view kPisaSegmentKind = "pisa";

struct PisaSegmentSummary {
  Timestamp first;  // it answers for moments from then
  Timestamp end;    // until just before then
  PisaLimits limits;
  std::uint64_t keys = 0;      // that are live at its end
  std::uint64_t carried = 0;   // of captures from before `first` that were live then
  std::uint64_t captures = 0;  // from `first` on
  std::vector<PisaPart> parts;
  SerialClock clock;  // of its data blocks
};

std::string FormatPisaSummary(const PisaSegmentSummary& summary);
// Errors: kCorrupt. What it returns has a part at least, whose first key is empty, and first keys
// and births of roots rise. Page numbers are not checked.
Result<PisaSegmentSummary> ParsePisaSummary(std::string_view text);

}  // namespace stele::catalog
