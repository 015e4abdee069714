#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "archive/archive_view.h"
#include "util/result.h"

namespace stele::archive {

// That rows could not be read: kIo where they are not there, and what to do. Never kNotFound, which
// would say that there is no such capture.
Error RowsFailure(const Container& container, const Error& error);

// What many revisits name by record id or digest, found in one pass over the rows of all
// containers. Memory goes with what was asked for. Not thread-safe until it was filled.
class ScannedOriginals {
 public:
  // Asks for what a revisit with this row names; record id 0: none.
  void Ask(const catalog::Capture& revisit, std::uint64_t record_id);
  // Looks for all that was asked for. Containers whose rows cannot be read are passed.
  void Fill(const ArchiveView& view);
  // Why not all containers could be looked into; success when all were.
  const Status& failure() const { return failure_; }

  // Whether Ask() knew all that such a revisit names.
  bool WasAsked(const catalog::Capture& revisit, std::uint64_t record_id) const;
  struct Answer {
    std::vector<catalog::CaptureId> ids;  // some of them, in the order of containers and files
    bool was_removed = false;             // there was one, and it was taken down
  };
  Answer Find(const catalog::Capture& revisit, std::uint64_t record_id) const;

 private:
  struct Match {
    std::uint64_t position = 0;  // among all captures that were looked at
    catalog::CaptureId id;
  };
  struct Matches {
    std::vector<Match> first;  // kMatchesMax
    bool was_removed = false;
  };
  using Table = std::unordered_map<std::uint64_t, Matches>;

  static void Take(Table& table, std::uint64_t key, const Match& match, bool is_removed);

  Table by_record_id_;
  Table by_digest_;
  Status failure_;
};

}  // namespace stele::archive
