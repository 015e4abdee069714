#pragma once

#include <vector>

#include "cli/command.h"
#include "crawl/duplicate_settings.h"
#include "util/result.h"

namespace stele::cli {

// The options of `stele crawl` that say what it does about what it has already.
std::vector<Option> DuplicateOptions();
// Changes the settings as they say. Errors: kInvalid.
Status TakeDuplicateOptions(const Arguments& arguments, crawl::DuplicateSettings& settings);

}  // namespace stele::cli
