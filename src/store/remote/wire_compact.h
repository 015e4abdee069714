#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "store/volume.h"
#include "util/result.h"

// The lines that a server sends while it compacts a volume: JSON objects, and blank ones between
// them that say no more than that it goes on. What is parsed comes from outside.
namespace stele::store::wire {

struct CompactProgress {
  std::uint64_t done_bytes = 0;
  std::uint64_t all_bytes = 0;

  friend bool operator==(const CompactProgress&, const CompactProgress&) = default;
};
struct Compacted {
  std::uint64_t freed_bytes = 0;

  friend bool operator==(const Compacted&, const Compacted&) = default;
};
// The last two are the end.
using CompactLine = std::variant<CompactProgress, Finding, Compacted, Error>;

std::string CompactLineJson(const CompactLine& line);  // with its line feed
// Errors: kCorrupt for anything else.
Result<CompactLine> CompactLineFrom(std::string_view json);

}  // namespace stele::store::wire
