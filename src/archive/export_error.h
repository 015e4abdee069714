#pragma once

#include <utility>

#include "util/result.h"

namespace stele::archive {

// Why an export could not add a capture. `can_go_on`: nothing of it is half written, so that it can
// be left out, and others follow: then it is kNotFound also where a file or the server of a volume
// cannot be reached. Else kIo.
inline Error ExportError(Error error, bool can_go_on) {
  const bool is_away = error.code == ErrorCode::kIo || error.code == ErrorCode::kBusy;
  if (!can_go_on) error.code = ErrorCode::kIo;
  if (can_go_on && is_away) error.code = ErrorCode::kNotFound;
  return error;
}

}  // namespace stele::archive
