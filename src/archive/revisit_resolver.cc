// Most revisits name their original by URI and date, or repeat one of their own URL: both are
// looked up in the catalog. What is left, an original known only by its record id or digest, is
// looked for in the rows of all containers, one after another. Of what was purged, only the ledger
// knows.
//
// A URI and a date mean several captures where a site answers twice in one second, with a redirect
// to https or to www and then with the page: their keys are the same. So these are ranked by how
// well they are described, and records are opened only where the record id must tell them apart.
#include "archive/revisit_resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "archive/scanned_originals.h"
#include "formats/url/url.h"
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
// Captures of a key in one second that are told apart.
constexpr std::size_t kNamedMax = 100;
constexpr std::uint32_t kNotModified = 304;

// Also where one was written without the slash of an empty path, say.
bool AreSameUri(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const Result<url::Url> parsed_a = url::Parse(a);
  const Result<url::Url> parsed_b = url::Parse(b);
  return parsed_a && parsed_b && *parsed_a == *parsed_b;
}

// Whether a revisit's own head speaks of another answer than a capture has.
bool StatusDiffers(const Capture& revisit, const Capture& capture) {
  return revisit.status != 0 && revisit.status != kNotModified && capture.status != 0 &&
         capture.status != kNotModified && revisit.status != capture.status;
}

// How badly a capture is described; the least is meant.
auto BadnessOf(const Capture& revisit, const RevisitResolver::Wanted& wanted, const Capture& row) {
  const bool is_other_uri = !AreSameUri(wanted.uri, row.url);
  const bool is_other_date = row.time.milliseconds != wanted.date->milliseconds;
  return std::tuple(!wanted.not_modified && StatusDiffers(revisit, row),
                    is_other_uri || is_other_date, is_other_uri, catalog::IsRevisit(row));
}

// Why a record could not be opened: kIo where its file is away.
Error AwayError(const Capture& capture, const Error& error) {
  if (error.code != ErrorCode::kNotFound) return error;
  return {ErrorCode::kIo, fmt::format("{} of {}: its file is not there: {}; bring its volume back, "
                                      "or restore it from a backup",
                                      capture.url, FormatIso(capture.time), error.text)};
}

bool IsDigestOf(const std::optional<Digest>& digest, const Capture& row) {
  const auto is = [&](const auto& bytes, DigestAlgorithm algorithm) {
    return bytes && digest && digest->algorithm() == algorithm &&
           digest->bytes() == std::string_view(bytes->data(), bytes->size());
  };
  return is(row.sha1, DigestAlgorithm::kSha1) || is(row.sha256, DigestAlgorithm::kSha256);
}

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

bool AreComparable(const Capture& a, const Capture& b) {
  return (a.sha1 && b.sha1) || (a.sha256 && b.sha256);
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
  resolution.record_id = wanted->record_id;
  Result<Hop> hop = HopOf(revisit.row, *wanted);
  if (hop) resolution.how = hop->how;
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

Result<RevisitResolver::Hop> RevisitResolver::HopOf(const Capture& revisit, Wanted wanted) const {
  Found found;
  const Result<How> how = LookInAllWays(revisit, wanted, found);
  if (!how) return how.error();
  if (!found.capture) {
    const bool may_be_it = found.looked_everywhere && !found.was_removed;
    if (may_be_it && !found.unknown) return found.unknown.error();
    return Hop{.to = {}, .was_removed = found.was_removed || WasPurged(revisit, wanted)};
  }
  const Hop hop = {.to = found.capture->row.id,
                   .is_revisit = catalog::IsRevisit(found.capture->row),
                   .how = *how};
  const std::scoped_lock lock(mutex_);
  if (hops_.size() >= kHopsMax) hops_.clear();
  hops_[revisit.id] = hop;
  return hop;
}

Result<RevisitResolver::How> RevisitResolver::LookInAllWays(const Capture& revisit, Wanted& wanted,
                                                            Found& found) const {
  Capture row = revisit;
  if (wanted.not_modified && ClaimsNothing(revisit)) {
    row.sha1.reset();
    row.sha256.reset();
  }
  struct Look {
    Status (RevisitResolver::*look)(const Capture&, const Wanted&, Found&) const;
    How how;
  };
  How how = How::kByUriAndDate;
  for (const Look& next : {Look{&RevisitResolver::ByUriAndDate, How::kByUriAndDate},
                           Look{&RevisitResolver::BySameUrl, How::kAmongItsUrl},
                           Look{&RevisitResolver::ByWhatItSays, How::kByUriAndDate},
                           Look{&RevisitResolver::ByRecordIdOrDigest, How::kByRecordIdOrDigest},
                           Look{&RevisitResolver::ByUriAndDateAlone, How::kByUriAndDate}}) {
    how = next.how;
    if (const Status looked = (this->*next.look)(row, wanted, found); !looked) {
      return looked.error();
    }
    if (found.capture) break;
    // What its URL had before that would not do; the same payload elsewhere would.
    if (wanted.not_modified && (found.was_removed || WasPurgedByName(wanted))) {
      found.was_removed = true;
      if (!row.sha1 && !row.sha256) break;
      wanted.not_modified = false;
    }
  }
  return how;
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

Result<RevisitResolver::Claims> RevisitResolver::ClaimsOf(const Capture& capture) const {
  Result<std::unique_ptr<StoredRecord>> stored = view_.Open(capture);
  if (!stored) return AwayError(capture, stored.error());
  const record::Record& record = (*stored)->record();
  return Claims{RecordIdHash(record.record_id()),
                Digest::Parse(record.fields.Find("WARC-Payload-Digest").value_or(""))};
}

Result<RevisitResolver::Wanted> RevisitResolver::WantedBy(const HeldCapture& revisit) const {
  Result<std::unique_ptr<StoredRecord>> stored = view_.Open(revisit.row);
  // That the revisit is away says nothing about its original.
  if (!stored) return AwayError(revisit.row, stored.error());
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

Status RevisitResolver::CollectNamed(const Capture& revisit, const Wanted& wanted,
                                     Found& found) const {
  if (wanted.uri.empty() || !wanted.date) return {};
  catalog::LocationQuery query;
  query.what = catalog::SelectUrl(wanted.uri);
  // Dates of one second or one millisecond, as their writers knew them.
  query.from = Timestamp{wanted.date->milliseconds / 1000 * 1000};
  query.to = Timestamp{query.from.milliseconds + 999};
  catalog::LocationResults results = view_.catalog().Find(query);
  while (found.named.size() < kNamedMax) {
    Result<const catalog::LocationEntry*> entry = results.Next();
    if (!entry) return entry.error();
    if (*entry == nullptr) break;
    Result<HeldCapture> held = view_.catalog().Get((*entry)->id);
    if (!held) return held.error();
    if (held->row.id != revisit.id) found.named.push_back(*std::move(held));
  }
  if (found.named.size() < 2) return {};
  std::stable_sort(found.named.begin(), found.named.end(),
                   [&](const HeldCapture& a, const HeldCapture& b) {
                     return BadnessOf(revisit, wanted, a.row) < BadnessOf(revisit, wanted, b.row);
                   });
  return {};
}

// Those with the digest that is claimed, or, where none can be compared, what is described best.
Status RevisitResolver::ByUriAndDate(const Capture& revisit, const Wanted& wanted,
                                     Found& found) const {
  if (const Status collected = CollectNamed(revisit, wanted, found); !collected) return collected;
  std::vector<const HeldCapture*> possible;
  for (const HeldCapture& named : found.named) {
    const Capture& row = named.row;
    if (wanted.not_modified) {
      if (catalog::IsRevisit(row) || SaysWhatWasThere(row)) possible.push_back(&named);
    } else if (HaveSamePayload(revisit, row)) {
      Consider(revisit, named, found);
      if (found.capture) return {};
    } else if (!AreComparable(revisit, row) &&
               (!StatusDiffers(revisit, row) || AreSameUri(wanted.uri, row.url))) {
      possible.push_back(&named);
    }
  }
  if (found.was_removed || possible.empty()) return {};
  const Result<const HeldCapture*> best = BestOf(possible, wanted);
  if (!best) return best.error();
  Consider(revisit, **best, found);
  // A copy of what was taken down is as good.
  for (const HeldCapture* other : possible) {
    if (found.capture) break;
    if (HaveSamePayload((*best)->row, other->row)) Consider(revisit, *other, found);
  }
  return {};
}

Result<const HeldCapture*> RevisitResolver::BestOf(const std::vector<const HeldCapture*>& some,
                                                   const Wanted& wanted) const {
  if (some.size() == 1 || wanted.record_id == 0) return some.front();
  for (const HeldCapture* one : some) {
    const Result<Claims> claims = ClaimsOf(one->row);
    const bool matters = !catalog::IsRemoved(one->row);
    if (!claims && matters && claims.error().code == ErrorCode::kIo) return claims.error();
    if (claims && claims->record_id == wanted.record_id) return one;
  }
  return some.front();
}

// Rows have other digests than what their records claim where that is of another kind, or of the
// body as it was sent, in chunks say.
Status RevisitResolver::ByWhatItSays(const Capture& revisit, const Wanted& wanted,
                                     Found& found) const {
  if (found.was_removed || wanted.not_modified) return {};
  if (wanted.record_id == 0 && !revisit.sha256) return {};
  for (const HeldCapture& named : found.named) {
    const Result<Claims> claims = ClaimsOf(named.row);
    const bool matters = !catalog::IsRemoved(named.row);
    if (!claims && matters && claims.error().code == ErrorCode::kIo) found.unknown = claims.error();
    if (!claims) continue;
    const bool is_named = wanted.record_id != 0 && claims->record_id == wanted.record_id;
    if (is_named || IsDigestOf(claims->payload, revisit)) Consider(revisit, named, found);
    if (found.capture) return {};
  }
  return {};
}

// Tools that take a body out of its chunks give it another digest. So the only payload that was at
// that URI then is meant, unless some other was taken down.
Status RevisitResolver::ByUriAndDateAlone(const Capture& revisit, const Wanted& wanted,
                                          Found& found) const {
  if (!found.looked_everywhere || found.was_removed || wanted.not_modified) return {};
  const HeldCapture* only = nullptr;
  for (const HeldCapture& named : found.named) {
    if (!AreSameUri(wanted.uri, named.row.url)) continue;
    if (only != nullptr && !HaveSamePayload(only->row, named.row)) return {};
    if (only == nullptr || catalog::IsRemoved(only->row)) only = &named;
  }
  if (only == nullptr || StatusDiffers(revisit, only->row) || WasPurgedByName(wanted)) return {};
  Consider(revisit, *only, found);
  return {};
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
    if (is_repeated) {
      found.capture.reset();
      found.was_removed = false;
    }
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
  found.looked_everywhere = true;
  return missing;
}

Status RevisitResolver::AmongScanned(const Capture& revisit, const Wanted& wanted,
                                     Found& found) const {
  const ScannedOriginals::Answer answer = scanned_->Find(revisit, wanted.record_id);
  found.was_removed = found.was_removed || answer.was_removed;
  if (const Status looked = ConsiderAny(revisit, answer.ids, found); !looked) return looked;
  found.looked_everywhere = answer.is_final;
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
