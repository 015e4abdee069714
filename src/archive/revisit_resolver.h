#pragma once

#include <string>

#include "archive/archive_view.h"
#include "util/result.h"

namespace stele::archive {

// Finds the capture that has a revisit's payload: the one that its record names by URI and date, by
// record id, or one of the same URL, then of any, with the same payload digest. Chains of revisits
// are followed. Thread-safe. Borrows `view` for life.
class RevisitResolver {
 public:
  enum class Effort {
    kLookUps,  // what an index finds
    kScans,    // all rows of the archive are looked through where no index knows
  };
  explicit RevisitResolver(const ArchiveView& view, Effort effort = Effort::kScans)
      : view_(view), effort_(effort) {}

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
  Status BySameUrl(const catalog::Capture& revisit, const Wanted& wanted, Found& found) const;
  Status ByRecordIdOrDigest(const catalog::Capture& revisit, const Wanted& wanted,
                            Found& found) const;
  // Takes it when it may be the original.
  void Consider(const catalog::Capture& revisit, catalog::HeldCapture candidate,
                Found& found) const;

  const ArchiveView& view_;
  const Effort effort_;
};

// Whether both say what their payloads are, and it is the same.
bool HaveSamePayload(const catalog::Capture& a, const catalog::Capture& b);

}  // namespace stele::archive
