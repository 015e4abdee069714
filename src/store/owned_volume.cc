#include "store/owned_volume.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "store/volume_rules.h"
#include "util/check.h"

namespace stele::store {
namespace {

constexpr std::string_view kQuotaText = "quota exceeded: ";
constexpr std::size_t kPage = 1000;
// More than any content has.
constexpr std::uint64_t kClaimBytesMax = std::uint64_t{1} << 50;

}  // namespace

bool IsQuotaError(const Error& error) {
  return error.code == ErrorCode::kInvalid && error.text.find(kQuotaText) != std::string::npos;
}

// Room for one more reference, held while it is made. What is claimed is added before it is looked
// up what is used: a reference that is made in between counts twice for a moment, never not at all.
class OwnedVolume::Claim {
 public:
  // Whatever size is told, the sum of many has room in its number.
  Claim(OwnedVolume& volume, std::uint64_t size)
      : volume_(volume), size_(std::min(size, kClaimBytesMax)) {
    const std::lock_guard lock(volume_.mutex_);
    ++volume_.claimed_references_;
    volume_.claimed_bytes_ += size_;
  }
  ~Claim() {
    const std::lock_guard lock(volume_.mutex_);
    --volume_.claimed_references_;
    volume_.claimed_bytes_ -= size_;
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  Status Fits() const {
    const Quota& quota = volume_.quota_;
    if (quota == Quota()) return {};
    std::uint64_t references = 0;
    std::uint64_t bytes = 0;
    {
      const std::lock_guard lock(volume_.mutex_);
      references = volume_.claimed_references_;
      bytes = volume_.claimed_bytes_;
    }
    const Result<OwnerUsage> used = volume_.volume_.UsageOf(volume_.owner_);
    if (!used) return used.error();
    if (quota.references_max > 0 && used->references + references > quota.references_max) {
      return Exceeded(used->references, quota.references_max, "references");
    }
    if (quota.content_bytes_max > 0 && used->content_bytes + bytes > quota.content_bytes_max) {
      return Exceeded(used->content_bytes, quota.content_bytes_max, "bytes");
    }
    return {};
  }

 private:
  Error Exceeded(std::uint64_t used, std::uint64_t limit, std::string_view unit) const {
    return {ErrorCode::kInvalid,
            fmt::format("{}{} holds {} of {} {} in volume {} and wants {} bytes more: delete "
                        "something or ask for a larger quota",
                        kQuotaText, volume_.owner_, used, limit, unit, volume_.name(), size_)};
  }

  OwnedVolume& volume_;
  const std::uint64_t size_;
};

OwnedVolume::OwnedVolume(Volume& volume, std::string owner, Quota quota)
    : volume_(volume), owner_(std::move(owner)), quota_(quota) {
  Check(IsOwner(owner_));
}

Status OwnedVolume::Mine(const std::string& owner) const {
  if (owner == owner_) return {};
  return Error{ErrorCode::kInvalid, fmt::format("this is for owner {} only", owner_)};
}

Status OwnedVolume::Holds(const ContentKey& key) {
  const Result<std::uint64_t> held = volume_.Held(key, owner_);
  if (!held) return held.error();
  return *held > 0 ? Status() : Status(NotHere(key));
}

// A content of this signature and size that the owner holds. Numbers behind a free one are not
// looked at: such a content is then sent again, nothing worse.
Result<std::optional<ContentKey>> OwnedVolume::FindHeld(const Signature& signature,
                                                        std::uint64_t size) {
  for (ContentKey key{name(), signature, 0};; ++key.overflow) {
    const Result<BlockInfo> info = volume_.Stat(key);
    if (!info && info.error().code == ErrorCode::kNotFound) return std::optional<ContentKey>();
    if (!info && info.error().code == ErrorCode::kCorrupt) continue;
    if (!info) return info.error();
    if (info->size != size) continue;
    const Result<std::uint64_t> held = volume_.Held(key, owner_);
    if (!held) return held.error();
    if (*held > 0) return std::optional(key);
  }
}

Result<bool> OwnedVolume::Done(const ContentKey& key, const Operation& operation) {
  const BlockOperation wanted{BlockOperation::Kind::kReference, operation};
  std::optional<BlockOperation> after;
  for (;;) {
    const Result<std::vector<BlockOperation>> page = volume_.Operations(key, after, kPage);
    if (!page) return page.error();
    if (std::find(page->begin(), page->end(), wanted) != page->end()) return true;
    if (page->size() < kPage) return false;
    after = page->back();
  }
}

// Looked for only when a quota is exceeded: what was done before is answered as before.
Result<std::optional<ContentKey>> OwnedVolume::FindDone(const StoreRequest& request) {
  for (ContentKey key{name(), request.signature, 0};; ++key.overflow) {
    const Result<BlockInfo> info = volume_.Stat(key);
    if (!info && info.error().code == ErrorCode::kNotFound) return std::optional<ContentKey>();
    if (!info && info.error().code != ErrorCode::kCorrupt) return info.error();
    const Result<bool> done = Done(key, request.operation);
    if (!done) return done.error();
    if (*done) return std::optional(key);
  }
}

Result<Lookup> OwnedVolume::Reference(const StoreRequest& request) {
  const Status mine = Mine(request.operation.owner);
  if (!mine) return mine.error();
  if (request.mode == StoreMode::kForceNew) return AskUnheld(request);
  const Result<std::optional<ContentKey>> held = FindHeld(request.signature, request.size);
  if (!held) return held.error();
  if (!*held) return AskUnheld(request);
  Lookup found;
  found.outcome = Lookup::Outcome::kCandidate;
  if (request.mode == StoreMode::kCompare) return found;
  const Status referred = Refer(**held, request.operation);
  if (!referred && referred.error().code == ErrorCode::kNotFound) return Lookup{};  // just gone
  if (!referred) return referred.error();
  found.outcome = Lookup::Outcome::kReferenced;
  found.key = **held;
  return found;
}

// A home says where contents of the signature may lie, without a reference. Elsewhere an owner that
// knows of homes has to send the bytes, whether the content is here or not.
Result<Lookup> OwnedVolume::AskUnheld(const StoreRequest& request) {
  if (request.home.as_home) {
    StoreRequest question = request;
    question.mode = StoreMode::kForceNew;
    return volume_.Reference(question);
  }
  if (request.home.epoch == 0 || request.mode == StoreMode::kForceNew) return Lookup{};
  return Lookup{.outcome = Lookup::Outcome::kCandidate};
}

Result<Stored> OwnedVolume::Store(const StoreRequest& request, io::Source& content) {
  const Status mine = Mine(request.operation.owner);
  if (!mine) return mine.error();
  const Claim claim(*this, request.size);
  const Status fits = claim.Fits();
  if (!fits && IsQuotaError(fits.error())) {
    const Result<std::optional<ContentKey>> done = FindDone(request);
    if (!done) return done.error();
    if (*done) return Stored{**done, false};
  }
  if (!fits) return fits.error();
  StoreRequest verified = request;
  if (verified.mode == StoreMode::kRegular) verified.mode = StoreMode::kCompare;
  return volume_.Store(verified, content);
}

Result<std::unique_ptr<io::Source>> OwnedVolume::Retrieve(const ContentKey& key) {
  const Status holds = Holds(key);
  if (!holds) return holds.error();
  return volume_.Retrieve(key);
}

Result<PackedContent> OwnedVolume::RetrievePacked(const ContentKey& key) {
  const Status holds = Holds(key);
  if (!holds) return holds.error();
  return volume_.RetrievePacked(key);
}

Result<std::unique_ptr<io::Source>> OwnedVolume::RetrieveRange(const ContentKey& key,
                                                               std::uint64_t offset,
                                                               std::uint64_t length) {
  const Status holds = Holds(key);
  if (!holds) return holds.error();
  return volume_.RetrieveRange(key, offset, length);
}

Status OwnedVolume::Refer(const ContentKey& key, const Operation& operation) {
  Status status = Mine(operation.owner);
  if (status) status = Holds(key);
  if (!status) return status;
  const Result<BlockInfo> info = volume_.Stat(key);
  if (!info) return info.error();
  const Claim claim(*this, info->size);
  const Status fits = claim.Fits();
  if (!fits && IsQuotaError(fits.error())) {
    const Result<bool> done = Done(key, operation);
    if (!done) return done.error();
    if (*done) return {};
  }
  if (!fits) return fits;
  return volume_.Refer(key, operation);
}

Status OwnedVolume::Delete(const ContentKey& key, const Operation& operation) {
  const Status mine = Mine(operation.owner);
  return mine ? volume_.Delete(key, operation) : mine;
}

Result<BlockInfo> OwnedVolume::Stat(const ContentKey& key) {
  const Result<std::uint64_t> held = volume_.Held(key, owner_);
  if (!held) return held.error();
  if (*held == 0) return NotHere(key);
  Result<BlockInfo> info = volume_.Stat(key);
  if (info) info->references = *held;
  return info;
}

Result<std::uint64_t> OwnedVolume::Held(const ContentKey& key, const std::string& owner) {
  const Status mine = Mine(owner);
  if (!mine) return mine.error();
  return volume_.Held(key, owner);
}

Result<std::vector<BlockOperation>> OwnedVolume::Operations(
    const ContentKey& key, const std::optional<BlockOperation>& after, std::size_t limit) {
  std::vector<BlockOperation> mine;
  std::optional<BlockOperation> last = after;
  while (mine.size() < limit) {
    const Result<std::vector<BlockOperation>> page = volume_.Operations(key, last, kPage);
    if (!page) return page.error();
    for (const BlockOperation& operation : *page) {
      if (operation.operation.owner == owner_ && mine.size() < limit) mine.push_back(operation);
    }
    if (page->size() < kPage) break;
    last = page->back();
  }
  return mine;
}

Result<std::vector<ListedBlock>> OwnedVolume::List(const ListRequest& request) {
  const Status mine = request.owner.empty() ? Status() : Mine(request.owner);
  if (!mine) return mine.error();
  return volume_.List({request.after, request.limit, owner_});
}

Result<std::vector<OwnerUsage>> OwnedVolume::Owners() {
  Result<OwnerUsage> usage = UsageOf(owner_);
  if (!usage) return usage.error();
  return std::vector{*std::move(usage)};
}

Result<OwnerUsage> OwnedVolume::UsageOf(const std::string& owner) {
  const Status mine = Mine(owner);
  if (!mine) return mine.error();
  return volume_.UsageOf(owner);
}

Status OwnedVolume::SetState(VolumeState) {
  return Error{ErrorCode::kInvalid, "states are set by the administrator"};
}

// Where contents of one signature can be made on purpose, this would change what others hold.
Status OwnedVolume::Restore(const ContentKey&, std::uint64_t, io::Source&) {
  return Error{ErrorCode::kInvalid, "blocks are restored by the administrator"};
}

Result<std::uint64_t> OwnedVolume::Compact(const CompactOptions&) {
  return Error{ErrorCode::kInvalid, "volumes are compacted by the administrator"};
}

Result<VolumeStats> OwnedVolume::Stats() {
  return Error{ErrorCode::kInvalid, "figures of the whole volume are for the administrator"};
}

Result<std::uint64_t> OwnedVolume::Verify(const VerifyOptions&) {
  return Error{ErrorCode::kInvalid, "volumes are checked by the administrator"};
}

}  // namespace stele::store
