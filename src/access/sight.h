#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "access/access_rules.h"
#include "archive/archive_reader.h"
#include "archive/capture_query.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::access {

class RecentPayloads;

// An archive at one moment, as it is served. Immutable, and kept by whoever answers a request.
struct Snapshot {
  std::string name;
  std::shared_ptr<const archive::ArchiveReader> reader;  // the view needs it
  archive::ArchiveView view;
  std::shared_ptr<const AccessRules> rules;
  std::uint64_t generation = 0;  // another one when captures or rules changed
  std::shared_ptr<RecentPayloads> recent;
};

// What one client may see of an archive. All routes look at captures through this, so that what is
// hidden is hidden everywhere. Cheap to copy. Thread-safe.
class Sight {
 public:
  Sight(std::shared_ptr<const Snapshot> snapshot, Timestamp now, Viewer viewer)
      : snapshot_(std::move(snapshot)), now_(now), viewer_(std::move(viewer)) {}

  const archive::ArchiveView& view() const { return snapshot_->view; }
  const std::shared_ptr<const Snapshot>& snapshot() const { return snapshot_; }
  Timestamp now() const { return now_; }

  const Viewer& viewer() const { return viewer_; }

  AccessRules::Verdict Judge(std::string_view key, const catalog::Capture& row) const {
    if (snapshot_->rules->empty()) return {};
    return snapshot_->rules->Judge(key, row.time, now_, viewer_);
  }
  bool Shows(std::string_view key, const catalog::Capture& row) const {
    return !catalog::IsRemoved(row) && Judge(key, row).access == AccessRules::Access::kAllow;
  }
  // Whether what is shown may also be taken away as a file.
  bool Gives(std::string_view key, const catalog::Capture& row) const {
    return Shows(key, row) && Judge(key, row).downloads;
  }
  bool has_rules() const { return !snapshot_->rules->empty(); }
  // The same with its payload, which for a revisit is that of its original.
  bool GivesWhole(std::string_view key, const catalog::HeldCapture& capture) const;
  // For what asks about many; nothing where all is shown. What was taken down passes, as it is said
  // of a run how much that was. Keeps the snapshot.
  archive::CaptureFilter Filter() const;

 private:
  std::shared_ptr<const Snapshot> snapshot_;
  Timestamp now_;
  Viewer viewer_;
};

// The captures that a query finds and the client may see, in the order of key and time. Requires:
// query.where.pick is kAll. Not thread-safe.
class SeenCaptures {
 public:
  SeenCaptures(Sight sight, archive::CaptureQuery query)
      : sight_(std::move(sight)), results_(sight_.view(), std::move(query)) {}

  // As CaptureResults has them.
  Result<const catalog::HeldCapture*> Next();
  std::string_view key() const { return results_.key(); }
  std::string Resume() const { return results_.Resume(); }

 private:
  Sight sight_;
  archive::CaptureResults results_;
};

// The captures of one URL, the nearest to a moment first; of two equally near ones the earlier.
// What lies far away costs nothing until it is asked for. Not thread-safe.
class NearestCaptures {
 public:
  enum class Direction {
    kBoth,
    kBack,     // those at the moment or before
    kForward,  // those at the moment or after
  };
  // `key` is a sort key. Captures from `at` on for so many milliseconds are at the moment, too; the
  // earliest of them comes first.
  NearestCaptures(Sight sight, std::string key, Timestamp at, Direction direction,
                  std::int64_t span_ms = 0);

  // Null after the last; valid until the next call. Errors: kCorrupt, kIo.
  Result<const catalog::HeldCapture*> Next();
  // Those passed over because of a rule that says so to the client, so far.
  bool met_blocked() const { return met_blocked_; }

 private:
  // The next on each side, whether it may be seen or not.
  Status FillBack();
  Status FillForward();
  struct Place {
    Timestamp time;
    catalog::CaptureId id;
  };

  const Sight sight_;
  const std::string key_;
  const Timestamp at_;
  const std::int64_t span_ms_;
  std::deque<Place> back_;            // the nearest first
  std::optional<Timestamp> back_to_;  // what is at or before it has not been looked at
  std::unique_ptr<catalog::LocationResults> forward_;
  std::optional<Place> next_forward_;
  catalog::HeldCapture held_;
  bool met_blocked_ = false;
};

// Single captures of one URL, for whoever looks for several. Borrows the sight. Not thread-safe.
class CaptureFinder {
 public:
  // `key` is a sort key.
  CaptureFinder(const Sight& sight, std::string_view key);

  // The last at a moment or before, the first at it or after, of those that the client may see.
  // Nothing where there is none. Errors: kCorrupt, kIo.
  Result<std::optional<catalog::HeldCapture>> Before(Timestamp at);
  Result<std::optional<catalog::HeldCapture>> After(Timestamp at);

 private:
  using Move = catalog::LocationCursor::Move;
  enum class Way { kBack, kForward };
  // From where a move led on.
  Result<std::optional<catalog::HeldCapture>> FirstShown(Move move, Way way);
  Move StepBackFrom(const catalog::LocationEntry& entry);

  const Sight& sight_;
  const std::string key_;
  const std::string location_;  // the key as the index has it
  const std::unique_ptr<catalog::LocationCursor> cursor_;
};

// The sort key of captures of a URL; of one capture.
std::string KeyOfUrl(std::string_view url);
std::string KeyOfCapture(const catalog::Capture& row);
// A URL under whose key a capture is found: of the answer to a request with a body the URL with its
// method and body as arguments, else its own.
std::string AddressOf(const catalog::Capture& row);

// The capture of a URL that is nearest to a moment.
struct Nearest {
  std::optional<catalog::HeldCapture> capture;  // nothing: there is none that the client may see
  bool blocked = false;                         // and that because a rule says so to the client
};
Result<Nearest> FindNearest(const Sight& sight, std::string_view url, Timestamp at);

}  // namespace stele::access
