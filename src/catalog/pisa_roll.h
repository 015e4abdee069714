#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "catalog/location_cursor.h"
#include "catalog/pisa_segment_writer.h"
#include "catalog/pisa_timeline.h"
#include "io/file_system.h"
#include "util/result.h"

// How a timeline of segments takes in loose captures: which segments are built, and of what.
// docs/pisa.md.
namespace stele::catalog {

// How many loose captures are rolled when so many keys are live, three for each, and how many a
// segment should have, six for each; but no small file for every few captures of a young archive.
std::uint64_t PisaCapturesDue(std::uint64_t live_keys, std::uint64_t captures_min);
std::uint64_t PisaSegmentCaptures(std::uint64_t live_keys, std::uint64_t captures_min);

// Loose captures, by the segment that has their time.
struct LooseCaptures {
  std::vector<std::uint64_t> late;  // of each segment
  std::uint64_t newest = 0;         // behind the last segment
  Timestamp last = kBeginningOfTime;
};
Result<LooseCaptures> CountLooseCaptures(const std::vector<PisaSegmentPointer>& segments,
                                         LocationCursor& loose);

struct PisaRollOptions {
  std::uint64_t captures_min = 100000;
  // Takes in all loose captures, however few they are and however much is written for them.
  bool all = false;
};

// Which part of a timeline is built.
struct PisaRoll {
  std::size_t kept = 0;  // so many segments stay as they are; those behind them are replaced
  Timestamp first;       // new segments answer from here
  Timestamp end;         // until just before here; loose captures of this time are in them then
};
// Nothing when it is not worth it: what is written should be at most eight times the late captures
// that it takes in.
std::optional<PisaRoll> PlanPisaRoll(const std::vector<PisaSegmentPointer>& segments,
                                     const LooseCaptures& loose, const PisaRollOptions& options);

// Where the segments of a roll end. `cursor` has been asked QueryFor() it.
Result<std::vector<Timestamp>> CutPisaRoll(const PisaRoll& roll, PisaTimelineCursor& cursor,
                                           const PisaRollOptions& options);

// What a cursor has to be asked for segments from `first` until `end`.
PisaTimelineQuery QueryFor(Timestamp first, Timestamp end);

struct PisaTarget {
  std::string path;
  PisaSegmentOptions options;
};
// Builds segments of what a cursor has, all in one go. Requires: each begins where the one before
// ends, and the cursor was asked QueryFor() all their time. `meanwhile` is called now and then. No
// file is left of those that were not finished. Errors: those of reading, of PisaSegmentWriter and
// of `meanwhile`.
Status WritePisaSegments(io::FileSystem& fs, const std::vector<PisaTarget>& targets,
                         PisaTimelineCursor& cursor, const std::function<Status()>& meanwhile = {});

}  // namespace stele::catalog
