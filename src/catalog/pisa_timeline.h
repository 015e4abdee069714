#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/location_cursor.h"
#include "catalog/pisa_cursor.h"
#include "catalog/pisa_segment.h"
#include "catalog/pisa_segment_writer.h"

// Segments one behind the other in time, and loose captures: those that no segment has, because
// they are newer than all of them, or came later than the segments of their time were built.
// docs/pisa.md.
namespace stele::catalog {

using PisaSegmentPointer = std::shared_ptr<const PisaSegment>;

// Each begins where the one before ends, and the first at the beginning of time. Errors: kCorrupt.
Status CheckPisaTimeline(const std::vector<PisaSegmentPointer>& segments);

// As PisaCursor, over all of them. Of two captures with the same key and time the one with the
// larger id is shown, as runs have it last. Costs as much as the cursors of the segments that the
// time touches, and a look at each loose capture of the keys. Not thread-safe.
class PisaTimelineCursor {
 public:
  // Requires: CheckPisaTimeline(). `loose` may be null, and may have captures that segments have.
  PisaTimelineCursor(std::vector<PisaSegmentPointer> segments,
                     std::unique_ptr<LocationCursor> loose, PisaSelection selection);
  ~PisaTimelineCursor();

  // All as in PisaCursor; `key` is valid until the next call.
  Result<bool> Next();
  std::string_view key() const { return key_; }
  Timestamp birth() const { return versions_[version_].birth; }
  Timestamp death() const {
    return version_ + 1 < versions_.size() ? versions_[version_ + 1].birth : kEndOfTime;
  }
  CaptureId capture() const { return versions_[version_].capture; }
  PisaPosition position() const { return {key_, birth()}; }

 private:
  struct Version {
    Timestamp birth;
    CaptureId capture;

    friend auto operator<=>(const Version&, const Version&) = default;
  };
  // The segments' cursors, each before the capture that it gives next.
  struct Source {
    std::unique_ptr<PisaCursor> cursor;
    bool at_end = false;
  };

  Status Begin();
  void AddSegments();
  Status Advance(Source& source);
  Status AcceptLoose(LocationCursor::Move move);
  // False when there are no more keys.
  Result<bool> NextKey();
  Status Collect();
  void KeepAlive();

  const std::vector<PisaSegmentPointer> segments_;
  const std::unique_ptr<LocationCursor> loose_;
  const PisaSelection selection_;
  bool begun_ = false;
  std::uint64_t given_ = 0;
  std::vector<Source> sources_;
  const LocationEntry* loose_entry_ = nullptr;  // null at the end

  std::string key_;
  std::vector<Version> versions_;  // of key_
  std::size_t version_ = 0;
};

// Builds the segment from options.first to options.end of what they have: to roll, when enough has
// come, and to build one again when captures of its time came late. Errors: those of reading, and
// of PisaSegmentWriter.
Status WritePisaSegment(io::FileSystem& fs, const std::string& path,
                        const PisaSegmentOptions& options, PisaTimelineCursor& cursor);
// What its cursor has to select.
PisaSelection SelectionFor(const PisaSegmentOptions& options);

// Whether so many captures behind the last segment are worth one: about three for each key that is
// live, but no small file for every few captures of a young archive.
bool IsTimeToRoll(std::uint64_t loose_captures, std::uint64_t live_keys);

}  // namespace stele::catalog
