#pragma once

#include "io/stream.h"
#include "util/result.h"

namespace stele::store {

// Whether both give the same bytes, read side by side in bounded memory; they may be read no
// further than to the first difference. Errors: those of either.
Result<bool> HaveSameBytes(io::Source& a, io::Source& b);

}  // namespace stele::store
