#include "access/sight.h"

#include "archive/revisit_resolver.h"
#include "formats/url/surt.h"

namespace stele::access {

using catalog::HeldCapture;
using catalog::LocationCursor;
using catalog::LocationEntry;
using catalog::LocationQuery;

bool Sight::GivesWhole(std::string_view key, const catalog::HeldCapture& capture) const {
  if (!Gives(key, capture.row)) return false;
  if (!has_rules() || (capture.row.flags & catalog::kRevisit) == 0) return true;
  const Result<HeldCapture> original = archive::RevisitResolver(view()).Resolve(capture);
  return !original || Gives(KeyOfCapture(original->row), original->row);
}

archive::CaptureFilter Sight::Filter() const {
  if (!has_rules()) return {};
  return [sight = *this](std::string_view key, const catalog::Capture& row) {
    const std::string own = key.empty() ? KeyOfCapture(row) : std::string();
    return sight.Judge(key.empty() ? std::string_view(own) : key, row).access ==
           AccessRules::Access::kAllow;
  };
}

Result<const HeldCapture*> SeenCaptures::Next() {
  for (;;) {
    Result<const HeldCapture*> held = results_.Next();
    if (!held || *held == nullptr) return held;
    if (sight_.Shows(results_.key(), (*held)->row)) return held;
  }
}

NearestCaptures::NearestCaptures(Sight sight, std::string key, Timestamp at, Direction direction,
                                 std::int64_t span_ms)
    : sight_(std::move(sight)), key_(std::move(key)), at_(at), span_ms_(span_ms) {
  if (direction != Direction::kForward) {
    // With both, what is at the moment itself comes from the other side.
    const bool at_too = direction == Direction::kBack;
    if (at_too || at.milliseconds > catalog::kTimeBegin.milliseconds) {
      back_to_ = Timestamp{at.milliseconds - (at_too ? 0 : 1)};
    }
  }
  if (direction != Direction::kBack) {
    LocationQuery query;
    query.what = catalog::SelectKey(key_);
    query.from = at;
    forward_.reset(new catalog::LocationResults(sight_.view().catalog().Find(std::move(query))));
  }
}

Status NearestCaptures::FillBack() {
  if (!back_.empty() || !back_to_) return {};
  LocationQuery query;
  query.what = catalog::SelectKey(key_);
  query.pick = LocationQuery::Pick::kBefore;
  query.from = *back_to_;
  catalog::LocationResults before = sight_.view().catalog().Find(query);
  Result<const LocationEntry*> entry = before.Next();
  if (!entry) return entry.error();
  back_to_.reset();
  if (*entry == nullptr) return {};
  const Timestamp time = (*entry)->time;
  if (time > catalog::kTimeBegin) back_to_ = Timestamp{time.milliseconds - 1};
  query.pick = LocationQuery::Pick::kAll;
  query.from = time;
  query.to = time;
  catalog::LocationResults same = sight_.view().catalog().Find(query);
  for (;;) {
    entry = same.Next();
    if (!entry) return entry.error();
    if (*entry == nullptr) return {};
    back_.push_back({(*entry)->time, (*entry)->id});
  }
}

Status NearestCaptures::FillForward() {
  if (next_forward_ || !forward_) return {};
  Result<const LocationEntry*> entry = forward_->Next();
  if (!entry) return entry.error();
  if (*entry == nullptr) {
    forward_.reset();
  } else {
    next_forward_ = Place{(*entry)->time, (*entry)->id};
  }
  return {};
}

Result<const HeldCapture*> NearestCaptures::Next() {
  for (;;) {
    if (const Status filled = FillForward(); !filled) return filled.error();
    // Unsigned, so that the distance from the end of all times is no overflow.
    const auto distance = [](Timestamp from, Timestamp to) {
      return static_cast<std::uint64_t>(to.milliseconds) -
             static_cast<std::uint64_t>(from.milliseconds);
    };
    // Nothing before the moment is nearer than what is at it, and need not be looked for.
    const bool exact =
        next_forward_ && distance(at_, next_forward_->time) <= static_cast<std::uint64_t>(span_ms_);
    if (!exact) {
      if (const Status filled = FillBack(); !filled) return filled.error();
    }
    if (back_.empty() && !next_forward_) return nullptr;
    const bool take_back =
        !exact && !back_.empty() &&
        (!next_forward_ || distance(back_.front().time, at_) <= distance(at_, next_forward_->time));
    const catalog::CaptureId id = take_back ? back_.front().id : next_forward_->id;
    if (take_back) {
      back_.pop_front();
    } else {
      next_forward_.reset();
    }
    Result<HeldCapture> held = sight_.view().catalog().Get(id);
    if (!held) return held.error();
    if (sight_.Shows(key_, held->row)) {
      held_ = *std::move(held);
      return &held_;
    }
    met_blocked_ |= sight_.Judge(key_, held->row).access == AccessRules::Access::kBlock;
  }
}

CaptureFinder::CaptureFinder(const Sight& sight, std::string_view key)
    : sight_(sight),
      key_(key),
      location_(catalog::LocationKey(key)),
      cursor_(sight.view().catalog().NewLocationCursor()) {}

LocationCursor::Move CaptureFinder::StepBackFrom(const LocationEntry& entry) {
  LocationEntry before{location_, entry.time, entry.id};
  return StepBack(before) ? cursor_->SeekBack(before) : Move(nullptr);
}

Result<std::optional<HeldCapture>> CaptureFinder::FirstShown(Move move, Way way) {
  while (move && *move != nullptr && (*move)->key == location_) {
    Result<HeldCapture> held = sight_.view().catalog().Get((*move)->id);
    if (!held) return held.error();
    if (sight_.Shows(key_, held->row)) return std::optional(*std::move(held));
    move = way == Way::kBack ? StepBackFrom(**move) : cursor_->Next();
  }
  if (!move) return move.error();
  return std::optional<HeldCapture>();
}

Result<std::optional<HeldCapture>> CaptureFinder::Before(Timestamp at) {
  return FirstShown(cursor_->SeekBack({location_, at, catalog::LastOf(location_).id}), Way::kBack);
}

Result<std::optional<HeldCapture>> CaptureFinder::After(Timestamp at) {
  return FirstShown(cursor_->Seek({location_, at, catalog::FirstOf(location_).id}), Way::kForward);
}

std::string KeyOfUrl(std::string_view url) { return url::SurtKey(url); }

std::string KeyOfCapture(const catalog::Capture& row) {
  return row.key.empty() ? KeyOfUrl(row.url) : std::string(row.key);
}

std::string AddressOf(const catalog::Capture& row) {
  const std::size_t arguments = row.key.find('?');
  if (arguments == std::string_view::npos) return std::string(row.url);
  std::string address(row.url.substr(0, row.url.find_first_of("?#")));
  address += row.key.substr(arguments);
  return address;
}

Result<Nearest> FindNearest(const Sight& sight, std::string_view url, Timestamp at) {
  NearestCaptures captures(sight, KeyOfUrl(url), at, NearestCaptures::Direction::kBoth);
  Result<const HeldCapture*> found = captures.Next();
  if (!found) return found.error();
  Nearest nearest;
  if (*found != nullptr) nearest.capture = **found;
  nearest.blocked = *found == nullptr && captures.met_blocked();
  return nearest;
}

}  // namespace stele::access
