#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/page_frame.h"
#include "catalog/pisa_block.h"
#include "catalog/serial_clock.h"
#include "util/result.h"

// Blocks of persistent trees as pages of a file. docs/formats/pisa-segment.md.
namespace stele::catalog {

inline constexpr std::size_t kPisaPageVersionsMax = 1 << 20;
inline constexpr std::size_t kPisaPageKeyBytesMax = 4 << 20;  // of all keys of a page

// `numbers` says for each block of the tree which page it becomes: its own page refers to those.
// `clock` guesses the serials of captures, for readers, too.
PageParts FormatPisaPage(const PisaBlock& block, const std::vector<PisaBlockNumber>& numbers,
                         const SerialClock& clock);

// What it returns is in order: keys and the births of each key rise, and none is before the index
// key. Errors: kCorrupt, saying what is wrong but not where.
Result<PisaBlock> ParsePisaPage(std::string_view page, const SerialClock& clock);

}  // namespace stele::catalog
