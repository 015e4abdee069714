#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive_view.h"
#include "util/digest.h"
#include "util/result.h"

namespace stele::archive {

class ScannedOriginals;

// Finds the capture that has a revisit's payload: the one that its record names by URI and date, or
// one of the same URL with the same payload digest, then any with the record id that it names or
// the same digest, and last the one that is named though its digest differs. Of several in one
// second the one that is described best is meant. What was taken down is not replaced by another
// payload. Chains of revisits are followed, and remembered. Borrows `view` for life. Thread-safe
// without `scanned`.
class RevisitResolver {
 public:
  enum class Effort {
    kLookUps,  // what an index finds
    kScans,    // all rows of the archive are looked through where no index knows
  };
  explicit RevisitResolver(const ArchiveView& view, Effort effort = Effort::kScans)
      : view_(view), effort_(effort) {}
  // For many revisits: what no index knows is looked up in `scanned`, which is borrowed for life,
  // and asked for there; what it has not looked for yet is not found.
  RevisitResolver(const ArchiveView& view, ScannedOriginals& scanned)
      : view_(view), effort_(Effort::kScans), scanned_(&scanned) {}

  // Errors: kNotFound when there is none, or it was taken down: the text says which; kCorrupt; kIo,
  // also when it may be in a container of which rows or file are not there.
  Result<catalog::HeldCapture> Resolve(const catalog::HeldCapture& revisit) const;

  enum class How {
    kByUriAndDate,
    kAmongItsUrl,  // it is named by no more than the revisit's own URL, or a digest
    kByRecordIdOrDigest,
  };
  // The same, and how it was found.
  struct Resolution {
    catalog::HeldCapture original;
    std::vector<catalog::CaptureId> between;  // the revisits that lead to it, the nearest first
    bool not_modified = false;                // the revisit is the server's "not modified"
    std::uint64_t record_id = 0;              // that the revisit names
    How how = How::kByUriAndDate;             // the first of all these was found
  };
  Result<Resolution> Follow(const catalog::HeldCapture& revisit) const;

  // What a revisit's record says about its original.
  struct Wanted {
    std::string uri;
    std::optional<Timestamp> date;
    std::uint64_t record_id = 0;
    bool not_modified = false;
  };
  // Errors: kCorrupt; kIo, also when its file is not there.
  Result<Wanted> WantedBy(const catalog::HeldCapture& revisit) const;

 private:
  struct Found {
    std::optional<catalog::HeldCapture> capture;
    bool was_removed = false;  // there was one, and it was taken down
    // Captures that the named URI and second may mean, the best described first.
    std::vector<catalog::HeldCapture> named;
    bool looked_everywhere = false;
    Status unknown;  // why something could not be looked at
  };
  // From a revisit to what it names.
  struct Hop {
    std::optional<catalog::CaptureId> to;  // nothing: it is not here
    bool is_revisit = false;               // what it names is one, too
    bool was_removed = false;              // what it names was taken down
    How how = How::kByUriAndDate;
  };

  Result<Hop> HopFrom(const catalog::CaptureId& id) const;
  Result<Hop> HopOf(const catalog::Capture& revisit, Wanted wanted) const;
  // Says how it looked last. Errors: kCorrupt, kIo.
  Result<How> LookInAllWays(const catalog::Capture& revisit, Wanted& wanted, Found& found) const;

  // Each looks in another way, and adds to `found`. Errors: kCorrupt, kIo.
  Status ByUriAndDate(const catalog::Capture& revisit, const Wanted& wanted, Found& found) const;
  Status ByWhatItSays(const catalog::Capture& revisit, const Wanted& wanted, Found& found) const;
  Status ByUriAndDateAlone(const catalog::Capture& revisit, const Wanted& wanted,
                           Found& found) const;
  Status BySameUrl(const catalog::Capture& revisit, const Wanted& wanted, Found& found) const;
  Status ByRecordIdOrDigest(const catalog::Capture& revisit, const Wanted& wanted,
                            Found& found) const;
  Status AmongScanned(const catalog::Capture& revisit, const Wanted& wanted, Found& found) const;
  // Fills found.named.
  Status CollectNamed(const catalog::Capture& revisit, const Wanted& wanted, Found& found) const;
  // The first of these with the record id that is wanted, else the first. Errors: kIo.
  Result<const catalog::HeldCapture*> BestOf(const std::vector<const catalog::HeldCapture*>& some,
                                             const Wanted& wanted) const;
  // What the record of a capture says of itself. Errors: kCorrupt; kIo, also when its file is away.
  struct Claims {
    std::uint64_t record_id = 0;
    std::optional<Digest> payload;
  };
  Result<Claims> ClaimsOf(const catalog::Capture& capture) const;
  // Takes the first of these that may be the original.
  Status ConsiderAny(const catalog::Capture& revisit, const std::vector<catalog::CaptureId>& ids,
                     Found& found) const;
  // Takes it when it may be the original.
  void Consider(const catalog::Capture& revisit, catalog::HeldCapture candidate,
                Found& found) const;
  // Whether the ledger has a tombstone of what the record names, or of what is wanted in any way.
  bool WasPurgedByName(const Wanted& wanted) const;
  bool WasPurged(const catalog::Capture& revisit, const Wanted& wanted) const;

  const ArchiveView& view_;
  const Effort effort_;
  ScannedOriginals* const scanned_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::map<catalog::CaptureId, Hop> hops_;  // of late, that lead somewhere
};

// What crawlers claim for "not modified": the digest of no bytes.
bool ClaimsNothing(const catalog::Capture& row);
// Whether a later "not modified" of its URL can repeat it: a page, or a revisit that says of what.
bool SaysWhatWasThere(const catalog::Capture& row);
// Whether both have digests of one kind.
bool AreComparable(const catalog::Capture& a, const catalog::Capture& b);
// Whether both say what their payloads are, and it is the same.
bool HaveSamePayload(const catalog::Capture& a, const catalog::Capture& b);

}  // namespace stele::archive
