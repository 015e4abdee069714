#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/location_cursor.h"
#include "catalog/pisa_cursor.h"
#include "catalog/pisa_segment.h"
#include "catalog/selection.h"

// Segments one behind the other in time, and loose captures: those that no segment has, because
// they are newer than all of them, or came later than the segments of their time were built.
// docs/pisa.md.
namespace stele::catalog {

using PisaSegmentPointer = std::shared_ptr<const PisaSegment>;

// Each begins where the one before ends, and the first at the beginning of time. Errors: kCorrupt.
Status CheckPisaTimeline(const std::vector<PisaSegmentPointer>& segments);

// Every capture of the keys in `what` that was alive at some moment from `first` to `last`, both
// included. With first == last it is the state at that moment: at most one capture for each key.
struct PisaTimelineQuery {
  Timestamp first;
  Timestamp last;
  Selection what = SelectAll();
  // Goes on behind the capture where PisaTimelineCursor::Resume() was asked; empty: from the begin.
  std::string resume = {};
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  bool past_cache = false;  // pages are read once, and leave the cache as it is
};

// Answers by key and birth, from all of them. Of two captures with the same key and time the one
// with the larger id is shown, as runs have it last. Costs as much as the cursors of the segments
// that the time touches, and a look at each loose capture of the keys. Not thread-safe.
class PisaTimelineCursor {
 public:
  // Requires: CheckPisaTimeline(), first <= last. `loose` may be null, and may have captures that
  // segments have, too.
  // `keep` is kept as long as this, for what `loose` borrows.
  PisaTimelineCursor(std::vector<PisaSegmentPointer> segments,
                     std::unique_ptr<LocationCursor> loose, PisaTimelineQuery query,
                     std::shared_ptr<const void> keep = nullptr);
  ~PisaTimelineCursor();

  // All as in PisaCursor; `key` is valid until the next call. Errors: kInvalid when query.resume is
  // none; after an error nothing more may be asked.
  Result<bool> Next();
  std::string_view key() const { return key_; }
  Timestamp birth() const { return versions_[version_].birth; }
  Timestamp death() const {
    return version_ + 1 < versions_.size() ? versions_[version_ + 1].birth : kEndOfTime;
  }
  CaptureId capture() const { return versions_[version_].capture; }
  // Where the same query goes on behind this capture, also in another process and after more
  // captures came. Requires: Next() found one.
  std::string Resume() const { return EncodePosition({key_, birth(), capture()}); }

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
  Status BeginRange();
  void AddSegments(const KeyRange& range, const std::string& from);
  Status Advance(Source& source);
  Status AcceptLoose(LocationCursor::Move move);
  // The smallest key that a source has now; nothing when the range is at its end.
  std::optional<std::string_view> FrontKey() const;
  // False when there are no more keys.
  Result<bool> NextKey();
  Status Collect();
  void KeepAlive();

  const std::shared_ptr<const void> keep_;
  const std::vector<PisaSegmentPointer> segments_;
  const std::unique_ptr<LocationCursor> loose_;
  const PisaTimelineQuery query_;
  bool begun_ = false;
  std::optional<PisaPosition> after_;
  std::size_t range_ = 0;  // of query_.what.ranges
  std::uint64_t given_ = 0;
  std::vector<Source> sources_;
  const LocationEntry* loose_entry_ = nullptr;  // null at the end

  std::string key_;
  std::vector<Version> versions_;  // of key_
  std::size_t version_ = 0;
};

}  // namespace stele::catalog
