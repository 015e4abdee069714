#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "catalog/capture_id.h"
#include "util/coding.h"
#include "util/timestamp.h"

// Serials of a batch rise with time, mostly. So who knows the time of a capture and a few points of
// this line knows its serial nearly, and files that have both store how far the serial is off.
// Guesses may be bad: whatever the clock, any serial can be stored.
namespace stele::catalog {

// Immutable once it is made, so thread-safe.
class SerialClock {
 public:
  static constexpr std::size_t kPointsMax = 1 << 14;

  // About which serial a capture of this batch and time has; 0 when nothing is known of the batch.
  std::uint32_t Guess(std::uint32_t batch, Timestamp time) const;

  bool empty() const { return lines_.empty(); }
  // As the summaries of files have it. docs/formats/location.md.
  void Put(std::string& out) const;
  // False when it makes no sense.
  static bool Take(ByteReader& in, SerialClock& clock);

  friend bool operator==(const SerialClock&, const SerialClock&) = default;

 private:
  friend class SerialClockBuilder;

  // Of one batch: the serials at moments that are 2^shift_ milliseconds apart.
  struct Line {
    std::uint32_t batch = 0;
    std::int64_t first = 0;   // the first moment, in such units since 1970
    std::uint32_t begin = 0;  // in serials_
    std::uint32_t count = 0;  // 2 at least

    friend bool operator==(const Line&, const Line&) = default;
  };

  std::uint32_t shift_ = 0;
  std::vector<Line> lines_;  // by batch
  std::vector<std::uint32_t> serials_;
};

// Memory is bounded, whatever is added. Not thread-safe.
class SerialClockBuilder {
 public:
  void Add(CaptureId id, Timestamp time);
  // All that another one knows.
  void Add(const SerialClock& clock);
  // Requires: once. It has few points where there are few `entries` to guess.
  SerialClock Build(std::uint64_t entries);

 private:
  struct Point {
    std::uint32_t least = 0xFFFF'FFFF;  // of the serials from this moment until the next one
    std::uint32_t most = 0;
  };
  struct Line {
    std::int64_t first = 0;
    std::vector<Point> points;
  };

  void AddPoint(std::uint32_t batch, std::int64_t milliseconds, const Point& point);
  Line& LineWith(std::uint32_t batch, std::int64_t at);
  void Coarsen();  // moments are twice as far apart

  std::uint32_t shift_ = 20;  // 17 minutes
  std::map<std::uint32_t, Line> lines_;
  std::size_t points_ = 0;
};

}  // namespace stele::catalog
