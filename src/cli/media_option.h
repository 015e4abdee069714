#pragma once

#include "cli/command.h"
#include "dedup/media_filter.h"

namespace stele::cli {

// What --mime and --whitelist say. Errors: kInvalid, for the person who typed it.
Result<dedup::MediaFilter> MediaFilterOf(const Arguments& arguments);

}  // namespace stele::cli
