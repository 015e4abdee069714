#pragma once

#include <string>
#include <string_view>

#include "catalog/capture.h"
#include "formats/cdx/capture.h"

namespace stele::archive {

// The line of an index file for a capture whose record lies at `place` in a file of this name.
cdx::Capture IndexLineOf(const catalog::Capture& row, std::string_view key,
                         const catalog::CapturePlace& place, std::string_view filename);

}  // namespace stele::archive
