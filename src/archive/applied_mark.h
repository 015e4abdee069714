#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "io/file_system.h"
#include "util/result.h"

namespace stele::archive {

// What the catalog has for sure: all that the ledger says up to a place in it, but for the captures
// of some containers, which could not be read. The ledger was durable up to there.
struct AppliedMark {
  std::uint64_t ledger_end = 0;  // 0: nothing is known
  std::set<std::uint32_t> lacks;

  friend bool operator==(const AppliedMark&, const AppliedMark&) = default;
};

std::string FormatAppliedMark(const AppliedMark& mark);
// Nothing known where it is damaged: what is applied once more does no harm.
AppliedMark ParseAppliedMark(std::string_view text);
// Nothing known where there is none. Errors: those of reading.
Result<AppliedMark> ReadAppliedMark(io::FileSystem& fs, const std::string& path);

}  // namespace stele::archive
