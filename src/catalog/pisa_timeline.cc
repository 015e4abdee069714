#include "catalog/pisa_timeline.h"

#include <algorithm>
#include <optional>

#include "util/check.h"

// Key by key, the versions of all sources are put into the order of their births; what was not
// alive in the time asked for is taken away then. A capture that came late finds its place between
// those of the segments, also behind a version that a later segment carries as its base.
namespace stele::catalog {
namespace {

constexpr std::uint64_t kCapturesPerKey = 3;
constexpr std::uint64_t kCapturesMin = 100000;

}  // namespace

Status CheckPisaTimeline(const std::vector<PisaSegmentPointer>& segments) {
  Timestamp end = kBeginningOfTime;
  for (const PisaSegmentPointer& segment : segments) {
    if (segment->first() != end) {
      return Error{ErrorCode::kCorrupt,
                   segment->path() +
                       ": it does not begin where the segment before ends; build the "
                       "segments again"};
    }
    end = segment->end();
  }
  return {};
}

PisaTimelineCursor::PisaTimelineCursor(std::vector<PisaSegmentPointer> segments,
                                       std::unique_ptr<LocationCursor> loose,
                                       PisaSelection selection)
    : segments_(std::move(segments)), loose_(std::move(loose)), selection_(std::move(selection)) {
  Check(selection_.first <= selection_.last);
}

PisaTimelineCursor::~PisaTimelineCursor() = default;

Result<bool> PisaTimelineCursor::Next() {
  if (given_ == selection_.limit) return false;
  if (!begun_) {
    if (Status status = Begin(); !status) return status.error();
    begun_ = true;
  }
  ++version_;
  while (version_ >= versions_.size()) {
    const Result<bool> more = NextKey();
    if (!more || !*more) return more;
    version_ = 0;
    if (selection_.after && key_ == selection_.after->key) {
      while (version_ < versions_.size() && birth() <= selection_.after->birth) ++version_;
    }
  }
  ++given_;
  return true;
}

Status PisaTimelineCursor::Begin() {
  AddSegments();
  for (Source& source : sources_) {
    if (Status status = Advance(source); !status) return status;
  }
  if (loose_ == nullptr) return {};
  std::string_view from = selection_.key_first;
  if (selection_.after) from = std::max(from, std::string_view(selection_.after->key));
  return AcceptLoose(loose_->Seek({from, kBeginningOfTime, {}}));
}

// Those that the time touches. The last one is asked for its last moment when the time is behind
// it.
void PisaTimelineCursor::AddSegments() {
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const PisaSegment& segment = *segments_[i];
    const Timestamp last_moment{segment.end().milliseconds - 1};
    const bool reaches = selection_.first <= last_moment || i + 1 == segments_.size();
    if (!reaches || selection_.last < segment.first()) continue;
    PisaSelection part = selection_;
    part.first = std::clamp(selection_.first, segment.first(), last_moment);
    part.last = std::clamp(selection_.last, segment.first(), last_moment);
    part.limit = std::numeric_limits<std::uint64_t>::max();
    if (part.after) part.key_first = std::max(part.key_first, part.after->key);
    part.after.reset();
    sources_.push_back({std::make_unique<PisaCursor>(segment, std::move(part))});
  }
}

Status PisaTimelineCursor::Advance(Source& source) {
  const Result<bool> more = source.cursor->Next();
  if (!more) return more.error();
  source.at_end = !*more;
  return {};
}

Status PisaTimelineCursor::AcceptLoose(LocationCursor::Move move) {
  if (!move) return move.error();
  loose_entry_ = *move;
  if (loose_entry_ != nullptr && selection_.key_end && loose_entry_->key >= *selection_.key_end) {
    loose_entry_ = nullptr;
  }
  return {};
}

Result<bool> PisaTimelineCursor::NextKey() {
  std::optional<std::string_view> key;
  if (loose_entry_ != nullptr) key = loose_entry_->key;
  for (const Source& source : sources_) {
    if (!source.at_end && (!key || source.cursor->key() < *key)) key = source.cursor->key();
  }
  if (!key) return false;
  key_ = *key;
  versions_.clear();
  if (Status status = Collect(); !status) return status.error();
  KeepAlive();
  return true;
}

// All versions of key_, in no order.
Status PisaTimelineCursor::Collect() {
  for (Source& source : sources_) {
    while (!source.at_end && source.cursor->key() == key_) {
      versions_.push_back({source.cursor->birth(), source.cursor->capture()});
      if (Status status = Advance(source); !status) return status;
    }
  }
  while (loose_entry_ != nullptr && loose_entry_->key == key_) {
    if (loose_entry_->time <= selection_.last) {
      versions_.push_back({loose_entry_->time, loose_entry_->id});
    }
    if (Status status = AcceptLoose(loose_->Next()); !status) return status;
  }
  return {};
}

// Leaves what was alive in the time asked for.
void PisaTimelineCursor::KeepAlive() {
  std::sort(versions_.begin(), versions_.end());
  // Of the same birth the last; and of those until the first moment also only the last.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < versions_.size(); ++i) {
    const bool replaced =
        i + 1 < versions_.size() && (versions_[i + 1].birth == versions_[i].birth ||
                                     versions_[i + 1].birth <= selection_.first);
    if (!replaced) versions_[kept++] = versions_[i];
  }
  versions_.resize(kept);
}

PisaSelection SelectionFor(const PisaSegmentOptions& options) {
  return AliveDuring(options.first, Timestamp{options.end.milliseconds - 1});
}

Status WritePisaSegment(io::FileSystem& fs, const std::string& path,
                        const PisaSegmentOptions& options, PisaTimelineCursor& cursor) {
  Result<std::unique_ptr<PisaSegmentWriter>> writer = PisaSegmentWriter::Create(fs, path, options);
  if (!writer) return writer.error();
  for (;;) {
    const Result<bool> more = cursor.Next();
    if (!more) return more.error();
    if (!*more) return (*writer)->Finish();
    const Status added = (*writer)->Add(cursor.key(), cursor.birth(), cursor.capture());
    if (!added) return added;
  }
}

bool IsTimeToRoll(std::uint64_t loose_captures, std::uint64_t live_keys) {
  return loose_captures >= std::max(kCapturesMin, kCapturesPerKey * live_keys);
}

}  // namespace stele::catalog
