// Most revisits name their original by URI and date, or repeat one of their own URL: both are
// looked up in the catalog. What is left, an original known only by its record id or digest, is
// looked for in the rows of all containers, one after another. Of what was purged, only the ledger
// knows.
#include "archive/revisit_resolver.h"

#include <fmt/format.h>

#include <set>

#include "archive/scanned_originals.h"
#include "formats/warc/revisit.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

using catalog::Capture;
using catalog::CaptureId;
using catalog::HeldCapture;

// A crawler that asks for changes each day, and names the last answer, makes one of thousands.
constexpr std::size_t kChainMax = 10'000;
// Hops that need not be looked for again.
constexpr std::size_t kHopsMax = 100'000;

}  // namespace

bool ClaimsNothing(const Capture& row) {
  static const Digest kSha1 = DigestOf(DigestAlgorithm::kSha1, "");
  static const Digest kSha256 = DigestOf(DigestAlgorithm::kSha256, "");
  const auto is = [](const auto& bytes, const Digest& digest) {
    return bytes && std::string_view(bytes->data(), bytes->size()) == digest.bytes();
  };
  return is(row.sha1, kSha1) || is(row.sha256, kSha256);
}

bool SaysWhatWasThere(const Capture& row) {
  if (row.status != 200) return false;
  return !catalog::IsRevisit(row) || ((row.sha1 || row.sha256) && !ClaimsNothing(row));
}

bool HaveSamePayload(const Capture& a, const Capture& b) {
  if (a.sha256 && b.sha256) return *a.sha256 == *b.sha256;
  return a.sha1 && b.sha1 && *a.sha1 == *b.sha1;
}

Result<HeldCapture> RevisitResolver::Resolve(const HeldCapture& revisit) const {
  Result<Resolution> resolution = Follow(revisit);
  if (!resolution) return resolution.error();
  return std::move(resolution->original);
}

Result<RevisitResolver::Resolution> RevisitResolver::Follow(const HeldCapture& revisit) const {
  const Result<Wanted> wanted = WantedBy(revisit);
  if (!wanted) return wanted.error();
  Resolution resolution;
  resolution.not_modified = wanted->not_modified;
  Result<Hop> hop = HopOf(revisit.row, *wanted);
  std::set<CaptureId> seen = {revisit.row.id};
  while (hop && hop->to && hop->is_revisit && seen.size() < kChainMax &&
         seen.insert(*hop->to).second) {
    resolution.between.push_back(*hop->to);
    hop = HopFrom(*hop->to);
  }
  if (!hop) return hop.error();
  if (hop->to && !hop->is_revisit) {
    Result<HeldCapture> original = view_.catalog().Get(*hop->to);
    if (!original) return original.error();
    resolution.original = *std::move(original);
    return resolution;
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("{} of {} repeats a capture that {}", revisit.row.url,
                           FormatIso(revisit.row.time),
                           hop->was_removed ? "was taken down" : "is not in this archive")};
}

Result<RevisitResolver::Hop> RevisitResolver::HopFrom(const CaptureId& id) const {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = hops_.find(id); known != hops_.end()) return known->second;
  }
  const Result<HeldCapture> revisit = view_.catalog().Get(id);
  if (!revisit) return revisit.error();
  const Result<Wanted> wanted = WantedBy(*revisit);
  if (!wanted) return wanted.error();
  return HopOf(revisit->row, *wanted);
}

Result<RevisitResolver::Hop> RevisitResolver::HopOf(const Capture& revisit,
                                                    const Wanted& wanted) const {
  Found found;
  Capture row = revisit;
  if (wanted.not_modified && ClaimsNothing(revisit)) {
    row.sha1.reset();
    row.sha256.reset();
  }
  using Look = Status (RevisitResolver::*)(const Capture&, const Wanted&, Found&) const;
  for (const Look look :
       {&RevisitResolver::ByUriAndDate, &RevisitResolver::BySameUrl,
        &RevisitResolver::ByUriAndDateAlone, &RevisitResolver::ByRecordIdOrDigest}) {
    if (const Status looked = (this->*look)(row, wanted, found); !looked) return looked.error();
    if (found.capture) break;
    // What its URL had before that would not do.
    if (wanted.not_modified && (found.was_removed || WasPurgedByName(wanted))) break;
  }
  if (!found.capture) {
    return Hop{.to = {}, .was_removed = found.was_removed || WasPurged(revisit, wanted)};
  }
  const Hop hop = {.to = found.capture->row.id,
                   .is_revisit = catalog::IsRevisit(found.capture->row)};
  const std::scoped_lock lock(mutex_);
  if (hops_.size() >= kHopsMax) hops_.clear();
  hops_[revisit.id] = hop;
  return hop;
}

bool RevisitResolver::WasPurgedByName(const Wanted& wanted) const {
  std::vector<Tombstone> tombstones;
  if (!wanted.uri.empty() && wanted.date) {
    tombstones.push_back(TombstoneOfUrlAndSecond(wanted.uri, *wanted.date));
  }
  if (wanted.record_id != 0) tombstones.push_back(TombstoneOfRecord(wanted.record_id));
  return view_.holdings().HasTombstone(tombstones);
}

bool RevisitResolver::WasPurged(const Capture& revisit, const Wanted& wanted) const {
  if (WasPurgedByName(wanted)) return true;
  std::vector<Tombstone> tombstones;
  if (wanted.not_modified) {
    tombstones.push_back(TombstoneOfUrl(revisit.url));
  } else {
    if (revisit.sha1) tombstones.push_back(TombstoneOfPayload(*revisit.sha1));
    if (revisit.sha256) tombstones.push_back(TombstoneOfPayload(*revisit.sha256));
  }
  return view_.holdings().HasTombstone(tombstones);
}

Result<RevisitResolver::Wanted> RevisitResolver::WantedBy(const HeldCapture& revisit) const {
  Result<std::unique_ptr<StoredRecord>> stored = view_.Open(revisit.row);
  if (!stored && stored.error().code == ErrorCode::kNotFound) {
    // That the revisit is away says nothing about its original.
    return Error{ErrorCode::kIo,
                 fmt::format("{} of {}: its file is not there: {}; bring its volume back, or "
                             "restore it from a backup",
                             revisit.row.url, FormatIso(revisit.row.time), stored.error().text)};
  }
  if (!stored) return stored.error();
  const warc::RevisitTarget target = warc::RevisitTargetOf((*stored)->record());
  Wanted wanted;
  wanted.uri = target.uri;
  wanted.date = ParseIso(target.date);
  wanted.record_id = RecordIdHash(target.record_id);
  wanted.not_modified =
      warc::RevisitProfileOf((*stored)->record()) == warc::RevisitProfile::kServerNotModified;
  return wanted;
}

void RevisitResolver::Consider(const Capture& revisit, HeldCapture candidate, Found& found) const {
  if (candidate.row.id == revisit.id) return;
  if (catalog::IsRemoved(candidate.row)) {
    found.was_removed = true;
  } else {
    found.capture = std::move(candidate);
  }
}

Status RevisitResolver::ByUriAndDate(const Capture& revisit, const Wanted& wanted,
                                     Found& found) const {
  return AtUriAndDate(revisit, wanted, Digests::kMustAgree, found);
}

// Some compute digests of the body as it was sent, in chunks say, and rows have that of the
// payload.
Status RevisitResolver::ByUriAndDateAlone(const Capture& revisit, const Wanted& wanted,
                                          Found& found) const {
  return AtUriAndDate(revisit, wanted, Digests::kMayDiffer, found);
}

Status RevisitResolver::AtUriAndDate(const Capture& revisit, const Wanted& wanted, Digests digests,
                                     Found& found) const {
  if (wanted.uri.empty() || !wanted.date) return {};
  catalog::LocationQuery query;
  query.what = catalog::SelectUrl(wanted.uri);
  // Dates of one second or one millisecond, as their writers knew them.
  query.from = Timestamp{wanted.date->milliseconds / 1000 * 1000};
  query.to = Timestamp{query.from.milliseconds + 999};
  catalog::LocationResults results = view_.catalog().Find(query);
  for (;;) {
    Result<const catalog::LocationEntry*> entry = results.Next();
    if (!entry) return entry.error();
    if (*entry == nullptr) return {};
    Result<HeldCapture> held = view_.catalog().Get((*entry)->id);
    if (!held) return held.error();
    const bool are_known = (revisit.sha1 && held->row.sha1) || (revisit.sha256 && held->row.sha256);
    const bool must_agree = are_known && digests == Digests::kMustAgree;
    if (must_agree && !wanted.not_modified && !HaveSamePayload(revisit, held->row)) continue;
    Consider(revisit, *std::move(held), found);
    if (found.capture && !catalog::IsRevisit(found.capture->row)) return {};
  }
}

Status RevisitResolver::BySameUrl(const Capture& revisit, const Wanted& wanted,
                                  Found& found) const {
  catalog::LocationQuery query;
  query.what =
      revisit.key.empty() ? catalog::SelectUrl(revisit.url) : catalog::SelectKey(revisit.key);
  catalog::LocationResults results = view_.catalog().Find(query);
  for (;;) {
    Result<const catalog::LocationEntry*> entry = results.Next();
    if (!entry) return entry.error();
    if (*entry == nullptr) return {};
    // The last one before the revisit is the one that the crawler knew.
    if (found.capture && (*entry)->time > revisit.time) return {};
    Result<HeldCapture> held = view_.catalog().Get((*entry)->id);
    if (!held) return held.error();
    const bool is_before = held->row.id != revisit.id && held->row.time <= revisit.time;
    const bool is_repeated = wanted.not_modified && is_before && SaysWhatWasThere(held->row);
    // Nothing before it is, also where it was taken down.
    if (is_repeated) found = {};
    const bool is_same = !catalog::IsRevisit(held->row) && HaveSamePayload(revisit, held->row);
    if (is_repeated || is_same) Consider(revisit, *std::move(held), found);
  }
}

Status RevisitResolver::ByRecordIdOrDigest(const Capture& revisit, const Wanted& wanted,
                                           Found& found) const {
  if (wanted.record_id == 0 && !revisit.sha1 && !revisit.sha256) return {};
  if (scanned_ != nullptr) return AmongScanned(revisit, wanted, found);
  if (effort_ == Effort::kLookUps) return {};
  Status missing;
  for (const auto& [number, container] : view_.holdings().containers()) {
    std::vector<CaptureId> ids;
    const Status read =
        view_.ForEachCapture(container, [&](const ContainerCapture& capture) -> Status {
          const bool is_named = wanted.record_id != 0 && capture.record_id == wanted.record_id;
          const bool is_same =
              !catalog::IsRevisit(capture.row) && HaveSamePayload(revisit, capture.row);
          if (is_named || is_same) ids.push_back(capture.row.id);
          return {};
        });
    // Another container may have it, too.
    if (!read && missing) missing = RowsFailure(container, read.error());
    if (const Status looked = ConsiderAny(revisit, ids, found); !looked) return looked;
    if (found.capture) return {};
  }
  return missing;
}

Status RevisitResolver::AmongScanned(const Capture& revisit, const Wanted& wanted,
                                     Found& found) const {
  const ScannedOriginals::Answer answer = scanned_->Find(revisit, wanted.record_id);
  found.was_removed = found.was_removed || answer.was_removed;
  if (const Status looked = ConsiderAny(revisit, answer.ids, found); !looked) return looked;
  return found.capture || !answer.is_final ? Status() : scanned_->failure();
}

Status RevisitResolver::ConsiderAny(const Capture& revisit, const std::vector<CaptureId>& ids,
                                    Found& found) const {
  for (const CaptureId& id : ids) {
    Result<HeldCapture> held = view_.catalog().Get(id);
    if (!held && held.error().code == ErrorCode::kNotFound) continue;
    if (!held) return held.error();
    Consider(revisit, *std::move(held), found);
    if (found.capture) return {};
  }
  return {};
}

}  // namespace stele::archive
