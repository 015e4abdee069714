#pragma once

#include "catalog/location_entry.h"
#include "util/result.h"

namespace stele::catalog {

// Moves over entries in their order. Each move gives the entry it arrives at, or null beyond the
// ends; its key is valid until the next move. Not thread-safe. After an error, Seek() or SeekBack()
// comes next, if anything.
class LocationCursor {
 public:
  using Move = Result<const LocationEntry*>;

  virtual ~LocationCursor() = default;
  // To the first entry that is not before `at`.
  virtual Move Seek(const LocationEntry& at) = 0;
  // Requires: the last move was Seek() or Next(), and gave an entry.
  virtual Move Next() = 0;
  // To the last entry that is not behind `at`.
  virtual Move SeekBack(const LocationEntry& at) = 0;
};

}  // namespace stele::catalog
