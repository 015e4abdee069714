#pragma once

#include <string>
#include <string_view>

#include "dedup/digest_index.h"

namespace stele::dedup {

std::string FormatIndexSummary(const DigestIndexSummary& summary);
// Errors: kCorrupt; kInvalid for one of a later version.
Result<DigestIndexSummary> ParseIndexSummary(std::string_view bytes);

}  // namespace stele::dedup
