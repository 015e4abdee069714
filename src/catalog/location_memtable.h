#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "catalog/location_cursor.h"

namespace stele::catalog {

// Entries in memory, in order. Immutable.
class SortedEntries {
 public:
  // From entries in any order, and without those that are there twice.
  static std::shared_ptr<const SortedEntries> Sort(const std::vector<LocationEntry>& entries);
  static std::shared_ptr<const SortedEntries> Merge(const SortedEntries& a, const SortedEntries& b);

  std::size_t size() const { return entries_.size(); }
  // The keys are valid as long as this.
  const std::vector<LocationEntry>& entries() const { return entries_; }
  // Borrows this.
  std::unique_ptr<LocationCursor> NewCursor() const;

 private:
  SortedEntries() = default;
  void Append(const LocationEntry& entry);

  std::string keys_;  // never grows once an entry points into it
  std::vector<LocationEntry> entries_;
};

// The newest entries, in the order they come. Sorting waits until somebody looks. Not thread-safe.
class LocationMemtable {
 public:
  using Parts = std::vector<std::shared_ptr<const SortedEntries>>;

  void Add(const LocationEntry& entry);
  std::size_t entries() const { return entries_; }

  // All entries so far, in a few sorted parts, which stay as they are. What was sorted is sorted
  // for good: the next time only what has come since is new.
  Parts Sorted();

 private:
  struct Pending {
    std::size_t key_end;
    Timestamp time;
    CaptureId id;
  };

  std::string keys_;  // of pending_, one after another
  std::vector<Pending> pending_;
  Parts parts_;
  std::size_t entries_ = 0;
};

}  // namespace stele::catalog
