#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "catalog/location_cursor.h"
#include "catalog/page_frame.h"
#include "util/coding.h"
#include "util/result.h"

// Entries of the location index as a page: each key once, and columns for keys, times and ids, cut
// into groups at which a search can begin. docs/formats/location.md.
namespace stele::catalog {

class LocationPageBuilder {
 public:
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
  std::uint32_t last_serial_ = 0;
};

// Borrows the bytes of the page. Errors of all moves: kCorrupt, saying what but not where.
class LocationPageCursor final : public LocationCursor {
 public:
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
  // The next entry of the group; false at its end, or when something is wrong.
  bool Step();
  // The last group that begins at or before `at`, or the first.
  std::size_t GroupOf(const LocationEntry& at);
  Move SeekBackIn(std::size_t group, const LocationEntry* at);

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
  bool good_ = true;
  std::string back_key_;
};

}  // namespace stele::catalog
