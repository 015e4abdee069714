#pragma once

#include <string>

#include "archive/archive_view.h"
#include "catalog/capture.h"

namespace stele::archive {

// Where the answer that a capture has leads to, absolute. Empty where it is no redirect, or where
// its record cannot be read, or does not say. Opens the record of a redirect, and no other.
std::string RedirectTargetOf(const ArchiveView& view, const catalog::Capture& capture);

}  // namespace stele::archive
