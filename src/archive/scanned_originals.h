#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "archive/archive_view.h"
#include "util/result.h"

namespace stele::archive {

// That rows could not be read: kIo where they are not there, and what to do. Never kNotFound, which
// would say that there is no such capture.
Error RowsFailure(const Container& container, const Error& error);

// What many revisits name by record id or digest, found in passes over the rows of containers. What
// is looked up and was never asked for is found by the next pass. Memory goes with what was asked
// for. Not thread-safe.
class ScannedOriginals {
 public:
  // Asks for what a revisit with this row names; record id 0: none.
  void Ask(const catalog::Capture& revisit, std::uint64_t record_id);
  // Whether something was asked for since the last pass.
  bool has_new() const { return has_new_; }

  struct Pass {
    std::optional<std::uint32_t> run = {};                     // only containers that it brought
    std::function<bool(const catalog::Capture&)> counts = {};  // what it denies is not there
  };
  // Looks for all that was asked for and not found yet. Containers whose rows cannot be read are
  // passed over. False: nothing more was found.
  bool Fill(const ArchiveView& view, const Pass& pass);
  // Why not all containers could be looked into; success when all were.
  const Status& failure() const { return failure_; }

  struct Answer {
    std::vector<catalog::CaptureId> ids;  // some of them, in the order of containers and files
    bool was_removed = false;             // there was one, and it was taken down
    bool is_final = true;                 // all containers were looked through
  };
  // Asks for it, too.
  Answer Find(const catalog::Capture& revisit, std::uint64_t record_id);

 private:
  struct Match {
    std::uint64_t position = 0;  // among all captures that were looked at
    catalog::CaptureId id;
  };
  struct Matches {
    std::vector<Match> first;  // kMatchesMax
    bool was_removed = false;
    bool is_wanted = true;  // by the pass that goes on
    bool is_final = false;
  };
  using Table = std::unordered_map<std::uint64_t, Matches>;

  void BeginPass();
  void EndPass(bool is_over_all);
  // False: it was not wanted.
  static bool Take(Table& table, std::uint64_t key, const Match& match, bool is_removed);

  Table by_record_id_;
  Table by_digest_;
  std::uint64_t position_ = 0;
  bool has_new_ = false;
  Status failure_;
};

}  // namespace stele::archive
