#pragma once

#include <functional>
#include <string>
#include <vector>

#include "archive/archive_view.h"
#include "util/result.h"

namespace stele::archive {

// Finds the capture that has a revisit's payload: the one that its record names by URI and date, or
// one of the same URL with the same payload digest, then the one that is named whatever its digest
// says, then any with the record id that it names or the same digest. Chains of revisits are
// followed. Thread-safe, where `search` is. Borrows `view` for life.
class RevisitResolver {
 public:
  enum class Effort {
    kLookUps,  // what an index finds
    kScans,    // all rows of the archive are looked through where no index knows
  };
  explicit RevisitResolver(const ArchiveView& view, Effort effort = Effort::kScans)
      : view_(view), effort_(effort) {}
  // Captures that have a record id (by its hash; 0: none) or the payload of a revisit, wherever
  // they are. In place of the rows of all containers, this is asked.
  using Search = std::function<std::vector<catalog::CaptureId>(const catalog::Capture& revisit,
                                                               std::uint64_t record_id)>;
  RevisitResolver(const ArchiveView& view, Search search)
      : view_(view), effort_(Effort::kLookUps), search_(std::move(search)) {}

  // Errors: kNotFound when there is none, or it was taken down: the text says which; kCorrupt, kIo.
  Result<catalog::HeldCapture> Resolve(const catalog::HeldCapture& revisit) const;

 private:
  // What a revisit's record says about its original.
  struct Wanted {
    std::string uri;
    std::optional<Timestamp> date;
    std::uint64_t record_id = 0;
    bool not_modified = false;
  };
  struct Found {
    std::optional<catalog::HeldCapture> capture;
    bool was_removed = false;  // there was one, and it was taken down
  };

  Result<Wanted> WantedBy(const catalog::HeldCapture& revisit) const;
  // Each looks in another way, and adds to `found`. Errors: kCorrupt, kIo.
  Status ByUriAndDate(const catalog::Capture& revisit, const Wanted& wanted, Found& found) const;
  Status ByUriAndDateAlone(const catalog::Capture& revisit, const Wanted& wanted,
                           Found& found) const;
  Status BySameUrl(const catalog::Capture& revisit, const Wanted& wanted, Found& found) const;
  Status ByRecordIdOrDigest(const catalog::Capture& revisit, const Wanted& wanted,
                            Found& found) const;
  enum class Digests { kMustAgree, kMayDiffer };
  Status AtUriAndDate(const catalog::Capture& revisit, const Wanted& wanted, Digests digests,
                      Found& found) const;
  Status ConsiderAll(const catalog::Capture& revisit, const std::vector<catalog::CaptureId>& ids,
                     Found& found) const;
  // Takes it when it may be the original.
  void Consider(const catalog::Capture& revisit, catalog::HeldCapture candidate,
                Found& found) const;

  const ArchiveView& view_;
  const Effort effort_;
  const Search search_;
};

// Whether both say what their payloads are, and it is the same.
bool HaveSamePayload(const catalog::Capture& a, const catalog::Capture& b);

}  // namespace stele::archive
