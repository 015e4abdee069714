#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "store/reference_set.h"
#include "util/result.h"

namespace stele::store {

// Of lines that were written and perhaps not durable when the power went, those that count.
struct UnsyncedEntries {
  std::vector<ReferenceEntry> entries;
  bool lost = false;  // some do not count
};

// Lines count up to the first that cannot be read. Where one made a block that still has
// references at the end and `is_whole` says that its bytes are not there, neither that line nor the
// later ones about the block count. Errors: those of `is_whole`.
Result<UnsyncedEntries> TakeUnsyncedEntries(
    std::string_view lines, const std::function<Result<bool>(const ReferenceEntry&)>& is_whole);

}  // namespace stele::store
