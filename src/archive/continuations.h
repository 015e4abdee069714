#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "archive/container_rows.h"
#include "archive/holdings.h"
#include "formats/record/record.h"
#include "formats/warc/segments.h"
#include "util/result.h"

namespace stele::archive {

class ArchiveView;

// Where a continuation record lies.
struct Continuation {
  std::uint32_t container = 0;
  Companion place;
};

// Finds the records that continue a record which was cut into segments; they may be in any
// container. Rows are looked through when somebody asks, once, those of the containers first that
// are likely to have them. Belongs to one view of an archive, which all calls are given.
// Thread-safe.
class Continuations {
 public:
  struct Found {
    std::vector<Continuation> all;      // that are here; in their order where none is missing
    std::vector<Continuation> leading;  // those that follow one another, from the second segment on
    std::string flaw;                   // why the record is not whole; empty: it is
  };
  // Of a record for which warc::BeginsSegments() holds, in this container. Errors: those of reading
  // rows and records; of rows only where segments are missing, which may be there.
  Result<Found> Of(const ArchiveView& view, const record::Record& first, std::uint32_t container);
  // The containers with records that continue one of those with these ids (RecordIdHash()).
  // Errors: those of reading rows.
  Result<std::set<std::uint32_t>> ContainersOf(const ArchiveView& view,
                                               const std::set<std::uint64_t>& origins);

 private:
  struct Known {
    Continuation where;
    bool is_indexed = false;  // in index_
  };

  // All require mutex_.
  Status Load(const ArchiveView& view, std::uint32_t container);
  Status Index(const ArchiveView& view, std::uint64_t origin);
  Found Arrange(std::string_view first_id, std::uint64_t origin) const;

  std::mutex mutex_;
  std::set<std::uint32_t> loaded_;                 // containers
  std::multimap<std::uint64_t, Known> by_origin_;  // by RecordIdHash() of what they continue
  warc::SegmentIndex index_;                       // of those that were asked for
  std::vector<Continuation> indexed_;              // by their file's number in index_, less 1
};

}  // namespace stele::archive
