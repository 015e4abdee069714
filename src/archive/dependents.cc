// A revisit says in its record how to find its original, and only a part of that is in its row. So
// revisits are divided by what rows say: where the digest that one claims is that of a capture that
// stays, it will be found there, whatever it names; the records of all others are read, and their
// originals looked for as they are now.
#include "archive/dependents.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "archive/scanned_originals.h"
#include "archive/wanted_payloads.h"
#include "archive/whole_block.h"
#include "catalog/new_rows.h"
#include "util/checksum.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

using catalog::Capture;
using catalog::CaptureId;
using catalog::HeldCapture;

// Revisits that are looked at together.
constexpr std::size_t kTogetherMax = std::size_t{1} << 22;

class Search {
 public:
  Search(const ArchiveView& view, const std::vector<HeldCapture>& goes,
         const std::set<CaptureId>& ids)
      : view_(view), ids_(ids) {
    for (const HeldCapture& capture : goes) {
      keys_.insert(ChecksumOf(catalog::LocationKeyOf(capture.row)));
      if (IsRevisit(capture.row)) continue;
      if (capture.row.sha1) payloads_.insert(NumberOf(*capture.row.sha1));
      if (capture.row.sha256) payloads_.insert(NumberOf(*capture.row.sha256));
    }
  }

  Result<Dependents> Run() {
    for (;;) {
      const Result<bool> more = Collect();
      if (!more) return more.error();
      if (const Status dropped = DropThoseWithOthers(); !dropped) return dropped.error();
      if (const Status examined = Examine(); !examined) return examined.error();
      if (!*more) break;
    }
    std::sort(found_.revisits.begin(), found_.revisits.end(),
              [](const Dependent& a, const Dependent& b) {
                return std::tuple(a.revisit.row.time, a.revisit.row.id) <
                       std::tuple(b.revisit.row.time, b.revisit.row.id);
              });
    return std::move(found_);
  }

 private:
  struct Revisit {
    CaptureId id;
    std::uint64_t payload = 0;  // by which it may be found elsewhere; 0: it must be looked at
  };

  // The next revisits that stay. False: these are the last.
  Result<bool> Collect() {
    revisits_.clear();
    catalog::CaptureScan::Query query;
    query.after = last_;
    catalog::CaptureScan scan = view_.catalog().Scan(query);
    while (revisits_.size() < kTogetherMax) {
      const Result<const Capture*> row = scan.Next();
      if (!row) return row.error();
      if (*row == nullptr) return false;
      last_ = (*row)->id;
      if (!IsRevisit(**row) || IsRemoved(**row) || ids_.contains((*row)->id)) continue;
      revisits_.push_back({(*row)->id, ClaimOf(**row)});
    }
    return true;
  }

  std::uint64_t ClaimOf(const Capture& row) const {
    const std::uint64_t payload = PayloadOf(row);
    const bool may_be_not_modified = row.status == 304 || ClaimsNothing(row) ||
                                     keys_.contains(ChecksumOf(catalog::LocationKeyOf(row)));
    return may_be_not_modified || payloads_.contains(payload) ? 0 : payload;
  }

  // Forgets the revisits whose payload a capture has that stays.
  Status DropThoseWithOthers() {
    std::vector<std::uint64_t> payloads;
    for (const Revisit& revisit : revisits_) {
      if (revisit.payload != 0) payloads.push_back(revisit.payload);
    }
    if (payloads.empty()) return {};
    WantedPayloads wanted(std::move(payloads));
    catalog::CaptureScan scan = view_.catalog().Scan({});
    for (;;) {
      const Result<const Capture*> row = scan.Next();
      if (!row) return row.error();
      if (*row == nullptr) break;
      if (!IsRemoved(**row) && !ids_.contains((*row)->id)) wanted.FindIn(**row);
    }
    std::erase_if(revisits_, [&](const Revisit& revisit) {
      return revisit.payload != 0 && !wanted.Lacks(revisit.payload);
    });
    return {};
  }

  Status Examine() {
    if (revisits_.empty()) return {};
    ScannedOriginals scanned;
    const RevisitResolver resolver(view_, scanned);
    std::vector<CaptureId> left;
    for (const Revisit& revisit : revisits_) {
      const Result<HeldCapture> held = view_.catalog().Get(revisit.id);
      if (!held) return held.error();
      const Result<RevisitResolver::Wanted> wanted = resolver.WantedBy(*held);
      if (!wanted && wanted.error().code == ErrorCode::kCorrupt) {
        ++found_.unreadable;
        continue;
      }
      if (!wanted) return wanted.error();
      scanned.Ask(held->row, wanted->record_id);
      left.push_back(revisit.id);
    }
    // What is found for some may be revisits that name something else.
    do {
      scanned.Fill(view_, {});
      std::vector<CaptureId> not_found;
      for (const CaptureId& id : left) {
        const Result<bool> followed = Follow(resolver, id);
        if (!followed) return followed.error();
        if (!*followed) not_found.push_back(id);
      }
      left = std::move(not_found);
    } while (!left.empty() && scanned.has_new());
    return {};
  }

  // False: its original was not found.
  Result<bool> Follow(const RevisitResolver& resolver, const CaptureId& id) {
    Result<HeldCapture> held = view_.catalog().Get(id);
    if (!held) return held.error();
    Result<RevisitResolver::Resolution> way = resolver.Follow(*held);
    if (!way && way.error().code == ErrorCode::kNotFound) return false;
    if (!way) return way.error();
    const bool original_goes = ids_.contains(way->original.row.id);
    const bool is_led_by_one = std::any_of(way->between.begin(), way->between.end(),
                                           [&](const CaptureId& at) { return ids_.contains(at); });
    if (!original_goes && !is_led_by_one) return true;
    const bool finds_it =
        !original_goes && !way->not_modified && HaveSamePayload(held->row, way->original.row);
    if (finds_it) return true;
    found_.revisits.push_back(DependentOf(*std::move(held), *std::move(way)));
    return true;
  }

  Dependent DependentOf(HeldCapture revisit, RevisitResolver::Resolution way) const {
    using How = RevisitResolver::How;
    const CaptureId first = way.between.empty() ? way.original.row.id : way.between.front();
    if (way.how == How::kAmongItsUrl && way.record_id != 0) {
      // It may name by its id what was found without it.
      const auto stored = view_.Open(way.original.row);
      if (!stored || RecordIdHash((*stored)->record().record_id()) == way.record_id) {
        way.how = How::kByRecordIdOrDigest;
      }
    }
    return {std::move(revisit), std::move(way.original), way.not_modified, way.how, first};
  }

  const ArchiveView& view_;
  const std::set<CaptureId>& ids_;
  std::unordered_set<std::uint64_t> keys_;      // of those that go
  std::unordered_set<std::uint64_t> payloads_;  // likewise
  std::optional<CaptureId> last_;
  std::vector<Revisit> revisits_;
  Dependents found_;
};

// Chooses heirs one after another, and knows what the others will find.
class HeirChoice {
 public:
  explicit HeirChoice(const ArchiveView& view) : view_(view) {}

  // Errors: those of reading; kCorrupt when its payload is damaged.
  Status Add(const Dependent& dependent) {
    const Result<bool> finds = FindsOne(dependent);
    if (!finds) return finds.error();
    if (*finds) served_.insert(dependent.revisit.row.id);
    if (*finds) return {};
    const Result<WholeBlock> whole =
        WholeBlock::Of(view_, dependent.revisit.row, dependent.original.row);
    if (!whole) return whole.error();
    if (const auto sha1 = Digest::Parse(whole->payload_digest())) {
      digests_.insert(std::string(sha1->bytes()));
    }
    if (const auto& sha256 = dependent.original.row.sha256) {
      digests_.insert(std::string(sha256->data(), sha256->size()));
    }
    // One that is "not modified" gets the head of its original, too.
    if (dependent.not_modified && dependent.original.row.status == 200) {
      last_[{catalog::LocationKeyOf(dependent.revisit.row), dependent.original.row.id}] =
          dependent.revisit.row.time;
    }
    heirs_.push_back(dependent);
    served_.insert(dependent.revisit.row.id);
    return {};
  }

  std::vector<Dependent> Take() { return std::move(heirs_); }

 private:
  // Whether an heir so far is found by what this one says.
  Result<bool> FindsOne(const Dependent& dependent) const {
    const Capture& row = dependent.revisit.row;
    if (!dependent.not_modified) return HasDigestOf(row);
    // What it names, and not what its URL had: that has to stay.
    if (dependent.how != RevisitResolver::How::kAmongItsUrl) {
      const bool is_led = dependent.how == RevisitResolver::How::kByUriAndDate;
      return (is_led && served_.contains(dependent.first)) ||
             (!ClaimsNothing(row) && HasDigestOf(row));
    }
    const auto heir = last_.find({catalog::LocationKeyOf(row), dependent.original.row.id});
    if (heir == last_.end()) return false;
    return IsLastOfItsKey(row, heir->second);
  }

  bool HasDigestOf(const Capture& row) const {
    const auto has = [&](const auto& bytes) {
      return bytes && digests_.contains(std::string(bytes->data(), bytes->size()));
    };
    return row.sha256 ? has(row.sha256) : has(row.sha1);
  }

  // Whether nothing of the same key lies between an heir of that time and the capture.
  Result<bool> IsLastOfItsKey(const Capture& row, Timestamp heir) const {
    catalog::LocationQuery query;
    query.what = catalog::SelectKey(catalog::LocationKeyOf(row));
    query.from = heir;
    query.to = row.time;
    catalog::LocationResults results = view_.catalog().Find(query);
    for (;;) {
      const Result<const catalog::LocationEntry*> entry = results.Next();
      if (!entry) return entry.error();
      if (*entry == nullptr) return true;
      const Result<HeldCapture> held = view_.catalog().Get((*entry)->id);
      if (!held) return held.error();
      if (!IsRevisit(held->row) || SaysWhatWasThere(held->row)) return false;
    }
  }

  const ArchiveView& view_;
  std::vector<Dependent> heirs_;
  std::set<CaptureId> served_;                                   // revisits that will find one
  std::set<std::string> digests_;                                // that they will have
  std::map<std::pair<std::string, CaptureId>, Timestamp> last_;  // by key and original
};

}  // namespace

Result<Dependents> FindDependents(const ArchiveView& view, const std::vector<HeldCapture>& goes,
                                  const std::set<CaptureId>& ids) {
  return Search(view, goes, ids).Run();
}

Result<Heirs> ChooseHeirs(const ArchiveView& view, std::vector<Dependent> dependents) {
  HeirChoice choice(view);
  Heirs heirs;
  for (Dependent& dependent : dependents) {
    const Status added = choice.Add(dependent);
    if (!added && added.error().code == ErrorCode::kCorrupt) {
      heirs.lost.push_back(std::move(dependent));
    } else if (!added) {
      return added.error();
    }
  }
  heirs.heirs = choice.Take();
  return heirs;
}

}  // namespace stele::archive
