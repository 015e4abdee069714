#pragma once

#include <string>

#include "crawl/duplicate_settings.h"
#include "dedup/dedup_report.h"
#include "formats/crawl_log/line.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::crawl {

// Adds what a line of our crawl.log, about a URL of this host, says of duplicates.
void CountDuplicates(const crawl_log::Line& line, const std::string& host,
                     dedup::DedupReport& report);

// Writes it to dedup-report.txt and dedup-report.json in the folder of a run, with how these
// settings look for duplicates. Errors: kInvalid, kIo, kFull.
Status WriteDuplicateReport(io::FileSystem& fs, const std::string& folder,
                            const DuplicateSettings& settings, dedup::DedupReport report);

}  // namespace stele::crawl
