#include "catalog/pisa_timeline.h"

#include <algorithm>

#include "util/check.h"

// Key by key, the versions of all sources are put into the order of their births; what was not
// alive in the time asked for is taken away then. A capture that came late finds its place between
// those of the segments, also behind a version that a later segment carries as its base.
namespace stele::catalog {

Status CheckPisaTimeline(const std::vector<PisaSegmentPointer>& segments) {
  Timestamp end = kBeginningOfTime;
  for (const PisaSegmentPointer& segment : segments) {
    if (segment->first() != end) {
      return segment->file().Corrupt("it does not begin where the segment before ends");
    }
    end = segment->end();
  }
  return {};
}

PisaTimelineCursor::PisaTimelineCursor(std::vector<PisaSegmentPointer> segments,
                                       std::unique_ptr<LocationCursor> loose,
                                       PisaTimelineQuery query, std::shared_ptr<const void> keep)
    : keep_(std::move(keep)),
      segments_(std::move(segments)),
      loose_(std::move(loose)),
      query_(std::move(query)) {
  Check(query_.first <= query_.last);
}

PisaTimelineCursor::~PisaTimelineCursor() = default;

Result<bool> PisaTimelineCursor::Next() {
  if (given_ == query_.limit) return false;
  if (!begun_) {
    if (Status status = Begin(); !status) return status.error();
    begun_ = true;
  }
  ++version_;
  while (version_ >= versions_.size()) {
    const Result<bool> more = NextKey();
    if (!more || !*more) return more;
    version_ = 0;
    if (after_ && key_ == after_->key) {
      while (version_ < versions_.size() && birth() <= after_->birth) ++version_;
    }
  }
  ++given_;
  return true;
}

Status PisaTimelineCursor::Begin() {
  if (!query_.resume.empty()) {
    LocationEntry entry;
    if (!DecodePosition(query_.resume, entry)) {
      return Error{ErrorCode::kInvalid, "this is no place to go on from: " + query_.resume};
    }
    after_ = PisaPosition{std::string(entry.key), entry.time};
  }
  const std::vector<KeyRange>& ranges = query_.what.ranges;
  while (after_ && range_ < ranges.size() && ranges[range_].end <= after_->key) ++range_;
  return BeginRange();
}

Status PisaTimelineCursor::BeginRange() {
  sources_.clear();
  loose_entry_ = nullptr;
  if (range_ == query_.what.ranges.size()) return {};
  const KeyRange& range = query_.what.ranges[range_];
  const std::string from = after_ ? std::max(range.begin, after_->key) : range.begin;
  AddSegments(range, from);
  for (Source& source : sources_) {
    if (Status status = Advance(source); !status) return status;
  }
  return loose_ == nullptr ? Status() : AcceptLoose(loose_->Seek(FirstOf(from)));
}

// Those that the time touches. The last one is asked for its last moment when the time is behind
// it.
void PisaTimelineCursor::AddSegments(const KeyRange& range, const std::string& from) {
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const PisaSegment& segment = *segments_[i];
    const Timestamp last_moment{segment.end().milliseconds - 1};
    const bool reaches = query_.first <= last_moment || i + 1 == segments_.size();
    if (!reaches || query_.last < segment.first()) continue;
    PisaSelection part{std::clamp(query_.first, segment.first(), last_moment),
                       std::clamp(query_.last, segment.first(), last_moment), from, range.end};
    const PisaForest& forest = query_.past_cache ? segment.past_cache() : segment;
    sources_.push_back({std::make_unique<PisaCursor>(forest, std::move(part))});
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
  if (loose_entry_ != nullptr && loose_entry_->key >= query_.what.ranges[range_].end) {
    loose_entry_ = nullptr;
  }
  return {};
}

std::optional<std::string_view> PisaTimelineCursor::FrontKey() const {
  std::optional<std::string_view> key;
  if (loose_entry_ != nullptr) key = loose_entry_->key;
  for (const Source& source : sources_) {
    if (!source.at_end && (!key || source.cursor->key() < *key)) key = source.cursor->key();
  }
  return key;
}

Result<bool> PisaTimelineCursor::NextKey() {
  std::optional<std::string_view> key = FrontKey();
  while (!key && range_ < query_.what.ranges.size()) {
    ++range_;
    if (Status status = BeginRange(); !status) return status.error();
    key = FrontKey();
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
    if (loose_entry_->time <= query_.last) {
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
        i + 1 < versions_.size() &&
        (versions_[i + 1].birth == versions_[i].birth || versions_[i + 1].birth <= query_.first);
    if (!replaced) versions_[kept++] = versions_[i];
  }
  versions_.resize(kept);
}

}  // namespace stele::catalog
