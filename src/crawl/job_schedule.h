#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "archive/holdings.h"
#include "crawl/crawl_settings.h"
#include "io/file_system.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::crawl {

// A job of an archive, and when it runs. What ran is known from the ledger, so that nothing else
// has to be kept.
struct ScheduledJob {
  std::string name;
  Result<CrawlSettings> settings;  // an error: its file is wrong
  std::optional<archive::Run> last;
  std::optional<Timestamp> next;  // nothing: by hand alone

  bool is_interrupted() const { return last && !last->end; }
  bool is_due(Timestamp now) const { return next && *next <= now; }
};

// When a job that begins every so often begins again, after its last run: at once where it never
// ran or was interrupted; once, however often its time has passed meanwhile. Nothing where `every`
// is 0.
std::optional<Timestamp> NextRun(std::chrono::seconds every, const archive::Run* last);

// All jobs of an archive, by name. Errors: kIo.
Result<std::vector<ScheduledJob>> LoadSchedule(io::FileSystem& fs, const std::string& archive,
                                               const archive::Holdings& holdings);

}  // namespace stele::crawl
