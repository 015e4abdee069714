#include "catalog/location_query.h"

#include "util/check.h"

namespace stele::catalog {
namespace {

using Pick = LocationQuery::Pick;

// Behind all entries of `key` and before those of any other key behind it.
std::string BehindKey(std::string_view key) { return std::string(key) + '\x01'; }

std::uint64_t Distance(Timestamp a, Timestamp b) {
  const auto x = static_cast<std::uint64_t>(a.milliseconds);
  const auto y = static_cast<std::uint64_t>(b.milliseconds);
  return a < b ? y - x : x - y;
}

}  // namespace

LocationResults::LocationResults(std::unique_ptr<LocationCursor> cursor, LocationQuery query,
                                 std::shared_ptr<const void> keep)
    : cursor_(std::move(cursor)), query_(std::move(query)), keep_(std::move(keep)) {}

const LocationEntry* LocationResults::Remember(const LocationEntry& entry) {
  key_.assign(entry.key);
  answer_ = {key_, entry.time, entry.id};
  answered_ = true;
  return &answer_;
}

std::string LocationResults::Resume() const {
  return answered_ ? EncodePosition(answer_) : query_.resume;
}

LocationCursor::Move LocationResults::SeekBehindKey(const std::string& key) {
  return InRanges(cursor_->Seek(FirstOf(BehindKey(key))));
}

LocationCursor::Move LocationResults::InRanges(Move move) {
  while (move && *move != nullptr) {
    const auto& ranges = query_.what.ranges;
    while (range_ < ranges.size() && (*move)->key >= ranges[range_].end) ++range_;
    if (range_ == ranges.size()) return nullptr;
    if ((*move)->key >= ranges[range_].begin) return move;
    move = cursor_->Seek(FirstOf(ranges[range_].begin));
  }
  return move;
}

Status LocationResults::Begin() {
  begun_ = true;
  if (query_.what.ranges.empty()) return {};
  Move move = nullptr;
  LocationEntry resumed;
  if (query_.resume.empty()) {
    const LocationEntry first = FirstOf(query_.what.ranges.front().begin);
    const Timestamp from = query_.pick == Pick::kAll ? query_.from : first.time;
    move = InRanges(cursor_->Seek({first.key, from, first.id}));
  } else if (!DecodePosition(query_.resume, resumed)) {
    return Error{ErrorCode::kInvalid, "this is no place where a query can go on"};
  } else if (query_.pick == Pick::kAll) {
    move = InRanges(cursor_->Seek(resumed));
    if (move && *move != nullptr && **move == resumed) move = InRanges(cursor_->Next());
  } else {
    move = SeekBehindKey(std::string(resumed.key));
  }
  if (!move) return move.error();
  at_ = *move;
  return {};
}

Result<const LocationEntry*> LocationResults::Next() {
  if (query_.pick != Pick::kAll) return NextOfPicks();
  return NextOfAll();
}

LocationCursor::Move LocationResults::NextOfAll() {
  if (!begun_) {
    if (const Status status = Begin(); !status) return status.error();
  } else if (at_ != nullptr) {
    const Move move = InRanges(cursor_->Next());
    if (!move) return move;
    at_ = *move;
  }
  while (at_ != nullptr) {
    if (query_.from <= at_->time && at_->time <= query_.to) return Remember(*at_);
    const std::string key(at_->key);
    const Move move = at_->time < query_.from ? InRanges(cursor_->Seek({key, query_.from, {0, 0}}))
                                              : SeekBehindKey(key);
    if (!move) return move;
    at_ = *move;
  }
  return nullptr;
}

LocationCursor::Move LocationResults::NextOfPicks() {
  const auto& ranges = query_.what.ranges;
  if (!begun_ && query_.resume.empty() && ranges.size() == 1 &&
      ranges[0].end == BehindKey(ranges[0].begin)) {
    begun_ = true;  // the one key there can be need not be looked for
    return PickOf(ranges[0].begin);
  }
  if (!begun_) {
    if (const Status status = Begin(); !status) return status.error();
  }
  while (at_ != nullptr) {
    const std::string key(at_->key);
    const Move picked = PickOf(key);
    if (!picked) return picked;
    const Move move = SeekBehindKey(key);
    if (!move) return move;
    at_ = *move;
    if (*picked != nullptr) return picked;
  }
  return nullptr;
}

LocationCursor::Move LocationResults::PickOf(const std::string& key) {
  bool has_before = false;
  if (query_.pick != Pick::kAfter) {
    const Move before = cursor_->SeekBack({key, query_.from, LastOf(key).id});
    if (!before) return before;
    has_before = *before != nullptr && (*before)->key == key;
    if (has_before) Remember(**before);
  }
  if (query_.pick != Pick::kBefore) {
    const Move after = cursor_->Seek({key, query_.from, FirstOf(key).id});
    if (!after) return after;
    const bool has_after = *after != nullptr && (*after)->key == key;
    if (has_after && (!has_before || Distance((*after)->time, query_.from) <
                                         Distance(answer_.time, query_.from))) {
      return Remember(**after);
    }
  }
  return has_before ? &answer_ : nullptr;
}

}  // namespace stele::catalog
