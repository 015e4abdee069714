#pragma once

#include <cstdint>
#include <functional>

#include "catalog/pisa_forest.h"

namespace stele::catalog {

struct PisaCounts {
  std::uint64_t blocks = 0;
  std::uint64_t versions = 0;  // copies included
};

// Reads every block that can be reached and reports each fault, with the number of its block. What
// must hold; the names in brackets are those of section 4.5 and appendix A of the paper, with
// bytes (PisaLimits) for its entries:
//
// [Condition 1]   B_min >= 3 entries, however long their keys are.
// [Condition 2]   B_min <= B_max / 5.
// [Invariant 1]   A live block has B_min <= n_l <= n_a <= B_max. Roots are exempt from B_min: the
//                 paper fills its first block with dummies instead. A block never loses live
//                 entries, so those of its birth are counted, and dead blocks are checked, too.
// [Invariant 2]   A new block has B_min <= n_l <= n_a <= B_max - B_min + 1. The entries that were
//                 born before it are counted for the upper bound: what came at the moment of its
//                 birth came before or after the split. Blocks without a predecessor are exempt:
//                 they hold what the tree began with.
// [Observation 1] A block has B_min live entries at any moment of its life: Invariant 1.
// [Observation 2] B_min must be added to a new block before it is full: a dead block has less than
//                 one entry of free room.
// [Order]         Keys rise; births of a key rise; no key is outside of the range of its block.
// [Index]         An entry's child is one level below, under the same key, born with the entry, and
//                 dies when the entry dies. At each moment of an index block's life its children
//                 share its range among them.
// [Versions]      The predecessor dies when the block is born. What is live in it then, and in the
//                 range of the block, is in the block, with its true birth; and nothing that was
//                 born before the block is in it that is not in its predecessor.
//
// Errors: kIo and such, where the forest could not be read; what is kCorrupt is reported.
Result<PisaCounts> CheckPisa(const PisaForest& forest, const PisaLimits& limits,
                             const std::function<void(const Error&)>& report);

}  // namespace stele::catalog
