#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "catalog/location_cursor.h"
#include "catalog/page_frame.h"
#include "catalog/serial_clock.h"
#include "util/coding.h"
#include "util/result.h"

// Entries of the location index as a page: each key once, and columns for keys, times and ids, cut
// into groups at which a search can begin. docs/formats/location.md.
namespace stele::catalog {

class LocationPageBuilder {
 public:
  // Borrows `clock`, which readers of the page need, too.
  explicit LocationPageBuilder(const SerialClock& clock) : clock_(clock) {}

  // Requires: behind the last entry; the key has at most kLocationKeyMax bytes.
  void Add(const LocationEntry& entry);
  // The page, and begins the next.
  PageParts Take();

  std::size_t entries() const { return entries_; }
  std::size_t bytes() const;  // of the page so far, about
  // Of the last entry; empty before the first.
  const std::string& last_key() const { return key_; }

 private:
  void FinishKey();
  void BeginGroup();

  const SerialClock& clock_;
  std::string groups_;  // where each begins in the columns
  std::string keys_;
  std::string times_;
  std::string ids_;
  std::string key_;                // the last one
  std::uint64_t key_entries_ = 0;  // of it, in this group
  std::size_t group_keys_ = 0;
  std::size_t group_entries_ = 0;
  std::size_t group_count_ = 0;
  std::size_t entries_ = 0;
  std::int64_t base_time_ = 0;  // of the first entry of the page
  std::int64_t key_time_ = 0;   // of the first entry of the key
  std::int64_t last_time_ = 0;
};

// Borrows the bytes of the page, and the clock. Errors of all moves: kCorrupt, saying what but not
// where.
class LocationPageCursor final : public LocationCursor {
 public:
  explicit LocationPageCursor(const SerialClock& clock) : clock_(clock) {}

  // Errors: kCorrupt.
  Status Open(std::string_view page);

  Move First();
  Move Last();
  Move Seek(const LocationEntry& at) override;
  Move Next() override;
  Move SeekBack(const LocationEntry& at) override;

 private:
  std::size_t GroupOffset(std::size_t group, std::size_t column) const;
  std::string_view GroupSlice(std::string_view bytes, std::size_t group, std::size_t column) const;
  bool EnterGroup(std::size_t group);
  // The next entry of the group, but for its id; false at its end, or when something is wrong.
  bool Step();
  // The id of the entry; false when it makes no sense. Those that are passed need none.
  bool TakeId();
  // The entry, whole.
  Move Entry();
  // Whether the entry is before `at`, or at it. Takes its id where that decides.
  bool Before(const LocationEntry& at, bool or_at);
  // The last group that begins at or before `at`, or the first.
  std::size_t GroupOf(const LocationEntry& at);
  Move SeekBackIn(std::size_t group, const LocationEntry* at);

  const SerialClock& clock_;
  std::string_view groups_;
  std::string_view keys_;
  std::string_view times_;
  std::string_view ids_;
  std::size_t group_count_ = 0;
  std::int64_t base_time_ = 0;

  std::size_t group_ = 0;
  ByteReader key_reader_;
  ByteReader time_reader_;
  ByteReader id_reader_;
  std::string key_;
  std::uint64_t key_left_ = 0;
  std::int64_t key_time_ = 0;
  LocationEntry entry_;
  std::int64_t id_number_ = 0;   // as the page has it
  std::uint64_t odd_batch_ = 0;  // where it is not the month
  bool good_ = true;
  std::string back_key_;
};

}  // namespace stele::catalog
