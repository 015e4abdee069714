// Points lie at even distances, the same for all batches of a file, so that a guess takes no search
// but that for the batch. The serial at a point is the least of those that come from it until the
// next one; where none do, that of the point behind it. Distances double until there are few
// points.
#include "catalog/serial_clock.h"

#include <algorithm>
#include <limits>

#include "catalog/capture.h"

namespace stele::catalog {
namespace {

constexpr std::uint32_t kShiftMax = 31;         // 25 days
constexpr std::size_t kPointsMin = 64;          // however few entries there are
constexpr std::uint64_t kEntriesPerPoint = 64;  // or more
constexpr std::size_t kCollectedMax = std::size_t{4} * SerialClock::kPointsMax;
constexpr std::int64_t kMonthMs = 31ll * 86400000;
constexpr std::int64_t kTimeMax = std::int64_t{1} << 53;  // nobody means what is farther away

// Whether so many moments from `first` on are those of a month, with one before it and one behind.
bool IsMonth(std::uint32_t batch, std::int64_t first, std::uint64_t count, std::uint64_t shift) {
  if (count > static_cast<std::uint64_t>(kMonthMs >> shift) + 3) return false;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (first >= kMax >> shift || first < -(kMax >> shift)) return false;
  const std::int64_t begin = first * (std::int64_t{1} << shift);
  const std::int64_t end = begin + (std::int64_t{1} << shift) - 1;
  return BatchOf({begin}) == batch || BatchOf({end}) == batch;
}

}  // namespace

std::uint32_t SerialClock::Guess(std::uint32_t batch, Timestamp time) const {
  const auto line =
      std::lower_bound(lines_.begin(), lines_.end(), batch,
                       [](const Line& one, std::uint32_t wanted) { return one.batch < wanted; });
  if (line == lines_.end() || line->batch != batch) return 0;
  const std::uint32_t* serials = serials_.data() + line->begin;
  const std::int64_t at = time.milliseconds >> shift_;
  if (at < line->first) return serials[0];
  const std::uint64_t index =
      static_cast<std::uint64_t>(at) - static_cast<std::uint64_t>(line->first);
  if (index + 1 >= line->count) return serials[line->count - 1];
  const std::int64_t since = time.milliseconds & ((std::int64_t{1} << shift_) - 1);
  const std::int64_t rise = std::int64_t{serials[index + 1]} - std::int64_t{serials[index]};
  return static_cast<std::uint32_t>(serials[index] + (rise * since >> shift_));
}

void SerialClock::Put(std::string& out) const {
  PutVarint(out, shift_);
  PutVarint(out, lines_.size());
  for (const Line& line : lines_) {
    PutVarint(out, line.batch);
    PutSignedVarint(out, line.first);
    PutVarint(out, line.count);
    std::int64_t last = 0;
    for (std::uint32_t i = 0; i < line.count; ++i) {
      PutSignedVarint(out, serials_[line.begin + i] - last);
      last = serials_[line.begin + i];
    }
  }
}

bool SerialClock::Take(ByteReader& in, SerialClock& clock) {
  const std::uint64_t shift = in.Varint();
  const std::uint64_t lines = in.Varint();
  if (shift > kShiftMax || lines > kPointsMax) return false;
  clock.shift_ = static_cast<std::uint32_t>(shift);
  for (std::uint64_t i = 0; i < lines; ++i) {
    const std::uint64_t batch = in.Varint();
    Line line;
    line.first = in.SignedVarint();
    const std::uint64_t count = in.Varint();
    line.begin = static_cast<std::uint32_t>(clock.serials_.size());
    if (!in.good() || batch > 0xFFFF'FFFF || count < 2 || count > kPointsMax - line.begin) {
      return false;
    }
    line.batch = static_cast<std::uint32_t>(batch);
    line.count = static_cast<std::uint32_t>(count);
    if (!IsMonth(line.batch, line.first, count, shift)) return false;
    if (!clock.lines_.empty() && line.batch <= clock.lines_.back().batch) return false;
    std::int64_t serial = 0;
    for (std::uint64_t point = 0; point < count; ++point) {
      const std::int64_t step = in.SignedVarint();
      if (step < -0xFFFF'FFFFll || step > 0xFFFF'FFFFll) return false;
      serial += step;
      if (serial < 0 || serial > 0xFFFF'FFFFll) return false;
      clock.serials_.push_back(static_cast<std::uint32_t>(serial));
    }
    clock.lines_.push_back(line);
  }
  return in.good();
}

void SerialClockBuilder::Coarsen() {
  ++shift_;
  points_ = 0;
  for (auto& [batch, line] : lines_) {
    Line coarse;
    coarse.first = line.first >> 1;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const std::int64_t at = (line.first + static_cast<std::int64_t>(i)) >> 1;
      const auto index = static_cast<std::size_t>(at - coarse.first);
      if (index >= coarse.points.size()) coarse.points.resize(index + 1);
      Point& point = coarse.points[index];
      point.least = std::min(point.least, line.points[i].least);
      point.most = std::max(point.most, line.points[i].most);
    }
    line = std::move(coarse);
    points_ += line.points.size();
  }
}

// The line of a batch, long enough for this moment.
SerialClockBuilder::Line& SerialClockBuilder::LineWith(std::uint32_t batch, std::int64_t at) {
  Line& line = lines_[batch];
  const std::size_t before = line.points.size();
  if (line.points.empty()) line.first = at;
  if (at < line.first) {
    line.points.insert(line.points.begin(), static_cast<std::size_t>(line.first - at), Point());
    line.first = at;
  }
  const auto index = static_cast<std::size_t>(at - line.first);
  if (index >= line.points.size()) line.points.resize(index + 1);
  points_ += line.points.size() - before;
  return line;
}

void SerialClockBuilder::AddPoint(std::uint32_t batch, std::int64_t milliseconds,
                                  const Point& point) {
  while (points_ > kCollectedMax && shift_ < kShiftMax) Coarsen();
  if (points_ > kCollectedMax && !lines_.contains(batch)) return;
  const std::int64_t at = milliseconds >> shift_;
  // Years of more than 16 bits have the names of others: what is not in this month is left out.
  const std::int64_t far = (kMonthMs >> shift_) + 1;
  if (const auto there = lines_.find(batch); there != lines_.end()) {
    const std::int64_t last =
        there->second.first + static_cast<std::int64_t>(there->second.points.size()) - 1;
    if (at > there->second.first + far || at < last - far) return;
  }
  Line& line = LineWith(batch, at);
  Point& known = line.points[static_cast<std::size_t>(at - line.first)];
  known.least = std::min(known.least, point.least);
  known.most = std::max(known.most, point.most);
}

void SerialClockBuilder::Add(CaptureId id, Timestamp time) {
  // A line is no longer than a month.
  if (BatchOf(time) != id.batch) return;
  if (time.milliseconds > kTimeMax || time.milliseconds < -kTimeMax) return;
  AddPoint(id.batch, time.milliseconds, {id.serial, id.serial});
}

void SerialClockBuilder::Add(const SerialClock& clock) {
  while (shift_ < clock.shift_) Coarsen();
  for (const SerialClock::Line& line : clock.lines_) {
    const std::uint32_t* serials = clock.serials_.data() + line.begin;
    for (std::uint32_t i = 0; i + 1 < line.count; ++i) {
      // The last one is no moment of its own, but the end of the one before.
      const std::uint32_t most =
          i + 2 == line.count ? std::max(serials[i + 1], 1u) - 1 : serials[i];
      AddPoint(line.batch, (line.first + i) * (std::int64_t{1} << clock.shift_),
               {serials[i], std::max(serials[i], most)});
    }
  }
}

SerialClock SerialClockBuilder::Build(std::uint64_t entries) {
  const std::size_t points_max =
      std::clamp<std::size_t>(entries / kEntriesPerPoint, kPointsMin, SerialClock::kPointsMax);
  // Each line has one more for its end.
  while (points_ + lines_.size() > points_max && shift_ < kShiftMax) Coarsen();
  SerialClock clock;
  if (points_ + lines_.size() > SerialClock::kPointsMax) return clock;
  clock.shift_ = shift_;
  for (const auto& [batch, line] : lines_) {
    const auto begin = static_cast<std::uint32_t>(clock.serials_.size());
    const auto count = static_cast<std::uint32_t>(line.points.size() + 1);
    clock.lines_.push_back({batch, line.first, begin, count});
    clock.serials_.resize(begin + count);
    const std::uint32_t most = line.points.back().most;
    std::uint32_t next = most + (most < 0xFFFF'FFFF ? 1 : 0);
    clock.serials_[begin + count - 1] = next;
    for (std::size_t i = line.points.size(); i-- > 0;) {
      if (line.points[i].least <= line.points[i].most) next = line.points[i].least;
      clock.serials_[begin + i] = next;
    }
  }
  return clock;
}

}  // namespace stele::catalog
