#pragma once

#include <optional>
#include <string>

#include "archive/container_rows.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::archive {

// Makes what is left of a container that grew a whole one: bytes behind its last good record are
// copied to a file at `torn_path` and taken off; bad bytes with good records behind them stay, as
// losses. File and rows are durable then. Nothing when there is no file, or no good record in it.
// Errors: kIo.
Result<std::optional<ContainerSummary>> RecoverContainer(io::FileSystem& fs,
                                                         const std::string& path,
                                                         const std::string& rows_path,
                                                         const std::string& torn_path);

}  // namespace stele::archive
