#pragma once

#include <string>
#include <string_view>

#include "archive/archive_config.h"

namespace stele::archive {

// The lines of a warcinfo record that each file of an archive begins with: what wrote it, in which
// format, and what the archive says about itself.
std::string WarcinfoText(const ArchiveConfig& config);

// "name: value", its line end included; what would end the line is out of the value.
std::string WarcinfoLine(std::string_view name, std::string_view value);

}  // namespace stele::archive
