#pragma once

#include "catalog/catalog.h"

namespace stele::archive::testing {

// With these, a few captures are enough for index files to be merged, and for PISA segments.
inline constexpr catalog::CatalogOptions kSmallIndexes{
    .log_bytes = 2000, .fan_in = 2, .segment_fan_in = 2, .pisa_captures_min = 20};

}  // namespace stele::archive::testing
