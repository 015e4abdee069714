// Captures in the order of time only ever add a segment at the end, or let the last one grow: what
// is loose is rolled early, so that questions have little to look through, and a segment is twice
// as long, so that little is carried from one to the next; each capture is written twice for that.
// Late ones make it necessary to
// build the segment of their time again and all behind it, whose bases they change; that waits
// until they are many beside what has to be written. Whatever is built is built in one pass over
// the keys, with all its segments open at once.
#include "catalog/pisa_roll.h"

#include <algorithm>

#include "util/check.h"

namespace stele::catalog {
namespace {

constexpr std::uint64_t kLoosePerKey = 3;
constexpr std::uint64_t kSegmentPerKey = 6;
constexpr std::uint64_t kWrittenPerLate = 8;
constexpr std::size_t kSampleMax = 1 << 17;
constexpr std::uint64_t kCapturesBetween = 1 << 14;  // two calls of `meanwhile`

std::uint64_t Written(const PisaSegment& segment) {
  return segment.summary().carried + segment.summary().captures;
}

// The segments from there on are built again, because of what came late.
std::size_t KeptForLate(const std::vector<PisaSegmentPointer>& segments, const LooseCaptures& loose,
                        bool all) {
  std::size_t kept = segments.size();
  std::uint64_t late = 0;
  std::uint64_t written = 0;
  for (std::size_t i = segments.size(); i-- > 0;) {
    late += loose.late[i];
    written += Written(*segments[i]);
    const bool worth = all ? loose.late[i] > 0 : late * kWrittenPerLate >= written;
    if (worth) kept = i;
  }
  return kept;
}

// A capture of a roll, standing for some of its neighbours.
struct Sample {
  Timestamp birth;
  bool new_key;  // the first of its key
};

struct Sampled {
  std::uint64_t carried = 0;  // exact
  std::uint64_t step = 1;     // so many captures does each stand for
  std::vector<Sample> captures;
};

Result<Sampled> TakeSamples(Timestamp first, PisaTimelineCursor& cursor) {
  Sampled sampled;
  std::string key;
  std::uint64_t count = 0;
  for (;;) {
    const Result<bool> more = cursor.Next();
    if (!more) return more.error();
    if (!*more) return sampled;
    const bool new_key = cursor.key() != key;
    if (new_key) key = cursor.key();
    if (cursor.birth() < first) {
      ++sampled.carried;
      continue;
    }
    if (count++ % sampled.step != 0) continue;
    sampled.captures.push_back({cursor.birth(), new_key});
    if (sampled.captures.size() < kSampleMax) continue;
    for (std::size_t i = 0; i < kSampleMax / 2; ++i) {
      sampled.captures[i] = sampled.captures[2 * i];
    }
    sampled.captures.resize(kSampleMax / 2);
    sampled.step *= 2;
  }
}

}  // namespace

std::uint64_t PisaCapturesDue(std::uint64_t live_keys, std::uint64_t captures_min) {
  return std::max(captures_min, kLoosePerKey * live_keys);
}

std::uint64_t PisaSegmentCaptures(std::uint64_t live_keys, std::uint64_t captures_min) {
  return std::max(captures_min, kSegmentPerKey * live_keys);
}

Result<LooseCaptures> CountLooseCaptures(const std::vector<PisaSegmentPointer>& segments,
                                         LocationCursor& loose) {
  LooseCaptures counts;
  counts.late.resize(segments.size());
  LocationCursor::Move move = loose.Seek(FirstOf(""));
  for (; move && *move != nullptr; move = loose.Next()) {
    const Timestamp time = (*move)->time;
    counts.last = std::max(counts.last, time);
    const auto segment =
        std::partition_point(segments.begin(), segments.end(),
                             [&](const PisaSegmentPointer& one) { return one->end() <= time; });
    if (segment == segments.end()) {
      ++counts.newest;
    } else {
      ++counts.late[static_cast<std::size_t>(segment - segments.begin())];
    }
  }
  if (!move) return move.error();
  return counts;
}

std::optional<PisaRoll> PlanPisaRoll(const std::vector<PisaSegmentPointer>& segments,
                                     const LooseCaptures& loose, const PisaRollOptions& options) {
  PisaRoll roll;
  roll.kept = KeptForLate(segments, loose, options.all);
  if (roll.kept == segments.size()) {
    const std::uint64_t live = segments.empty() ? 0 : segments.back()->summary().keys;
    const std::uint64_t enough = options.all ? 1 : std::max(options.captures_min, live);
    if (loose.newest < enough) return std::nullopt;
    // One that was closed early grows.
    const std::uint64_t full = PisaSegmentCaptures(live, options.captures_min);
    if (!segments.empty() && segments.back()->summary().captures < full / 4 * 3) --roll.kept;
  }
  const Timestamp behind{loose.last == kEndOfTime ? kEndOfTime.milliseconds
                                                  : loose.last.milliseconds + 1};
  roll.first = roll.kept == 0 ? kBeginningOfTime : segments[roll.kept - 1]->end();
  roll.end = segments.empty() ? behind : std::max(behind, segments.back()->end());
  if (roll.first >= roll.end) return std::nullopt;  // only the end of time is behind the last one
  return roll;
}

Result<std::vector<Timestamp>> CutPisaRoll(const PisaRoll& roll, PisaTimelineCursor& cursor,
                                           const PisaRollOptions& options) {
  Result<Sampled> sampled = TakeSamples(roll.first, cursor);
  if (!sampled) return sampled.error();
  std::vector<Sample>& captures = sampled->captures;
  std::sort(captures.begin(), captures.end(),
            [](const Sample& a, const Sample& b) { return a.birth < b.birth; });
  std::vector<Timestamp> ends;
  std::uint64_t live = sampled->carried;
  std::uint64_t since = 0;
  for (const Sample& sample : captures) {
    since += sampled->step;
    if (sample.new_key) live += sampled->step;
    const Timestamp end{sample.birth.milliseconds + 1};
    if (since < PisaSegmentCaptures(live, options.captures_min) || end >= roll.end) continue;
    if (!ends.empty() && end <= ends.back()) continue;
    ends.push_back(end);
    since = 0;
  }
  // A short rest goes into the last one.
  const bool rest_is_short = since < PisaSegmentCaptures(live, options.captures_min) / 2;
  if (!ends.empty() && rest_is_short) ends.pop_back();
  ends.push_back(roll.end);
  return ends;
}

PisaTimelineQuery QueryFor(Timestamp first, Timestamp end) {
  PisaTimelineQuery query{first, Timestamp{end.milliseconds - 1}};
  query.past_cache = true;
  return query;
}

Status WritePisaSegments(io::FileSystem& fs, const std::vector<PisaTarget>& targets,
                         PisaTimelineCursor& cursor, const std::function<Status()>& meanwhile) {
  std::vector<std::unique_ptr<PisaSegmentWriter>> writers;
  for (const PisaTarget& target : targets) {
    auto writer = PisaSegmentWriter::Create(fs, target.path, target.options);
    if (!writer) return writer.error();
    writers.push_back(std::move(*writer));
  }
  for (std::uint64_t count = 1;; ++count) {
    const Result<bool> more = cursor.Next();
    if (!more) return more.error();
    if (!*more) break;
    // It is alive in each from that of its birth to that of its death.
    auto target = std::partition_point(targets.begin(), targets.end(), [&](const PisaTarget& one) {
      return one.options.end <= cursor.birth();
    });
    for (; target != targets.end(); ++target) {
      if (cursor.death() <= target->options.first) break;
      PisaSegmentWriter& writer = *writers[static_cast<std::size_t>(target - targets.begin())];
      const Status added = writer.Add(cursor.key(), cursor.birth(), cursor.capture());
      if (!added) return added;
    }
    if (!meanwhile || count % kCapturesBetween != 0) continue;
    if (const Status status = meanwhile(); !status) return status;
  }
  for (std::size_t i = 0; i < writers.size(); ++i) {
    const Status finished = writers[i]->Finish();
    if (finished) continue;
    for (std::size_t done = 0; done <= i; ++done) {
      static_cast<void>(fs.Remove(targets[done].path).ok());
    }
    return finished;
  }
  return {};
}

}  // namespace stele::catalog
