#pragma once

#include "cli/command.h"

// The commands about duplicates, one file for each.
namespace stele::cli {

Command DedupIndexCommand();
Command DedupInfoCommand();
Command DedupLookupCommand();
Command DedupReportCommand();
Command StudyCommand();

// stele dedup
Command DedupCommand();

}  // namespace stele::cli
