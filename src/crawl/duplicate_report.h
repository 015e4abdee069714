#pragma once

#include <string>

#include "crawl/duplicate_settings.h"
#include "dedup/dedup_report.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::crawl {

// What a run found that was known, as its crawl.log tells it. Errors: kNotFound, kIo, kCorrupt.
Result<dedup::DedupReport> ReadDuplicateReport(io::FileSystem& fs, const std::string& folder,
                                               const DuplicateSettings& settings);

// Writes it to dedup-report.txt and dedup-report.json there. Errors: also kFull.
Status WriteDuplicateReport(io::FileSystem& fs, const std::string& folder,
                            const DuplicateSettings& settings);

}  // namespace stele::crawl
