#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "archive/archive_view.h"

namespace stele::archive {

// Where a continuation record lies.
struct Continuation {
  std::uint32_t container = 0;
  Companion place;
};

// Finds the records that continue a record which was cut into segments; they may be in any
// container. All rows are looked through when the first is asked for. Not thread-safe. Borrows
// `view` for life.
class Continuations {
 public:
  explicit Continuations(const ArchiveView& view) : view_(view) {}

  struct Found {
    std::vector<Continuation> segments;  // where all are here, in their order
    bool are_all = false;                // none is missing, and their lengths are right
  };
  // Of a record for which warc::BeginsSegments() holds. Errors: those of reading rows and records.
  Result<Found> Of(const record::Record& first);
  // The containers with records that continue one of those with these ids (RecordIdHash()).
  // Errors: likewise.
  Result<std::set<std::uint32_t>> ContainersOf(const std::set<std::uint64_t>& origins);

 private:
  Status Load();

  const ArchiveView& view_;
  // By RecordIdHash() of the record that they continue.
  std::optional<std::multimap<std::uint64_t, Continuation>> by_origin_;
};

}  // namespace stele::archive
