#pragma once

#include <optional>
#include <string>

#include "archive/archive_view.h"
#include "catalog/capture.h"
#include "util/result.h"

namespace stele::archive {

// What the payload of a capture says, as PageTextOf() has it; nothing where it has no text.
// Requires: no revisit; these have no payload. Errors: kNotFound, kIo; kCorrupt when the record is
// damaged.
Result<std::optional<std::string>> TextOfCapture(const ArchiveView& view,
                                                 const catalog::Capture& capture);

// Its title, likewise; empty where it has none.
Result<std::string> TitleOfCapture(const ArchiveView& view, const catalog::Capture& capture);

}  // namespace stele::archive
