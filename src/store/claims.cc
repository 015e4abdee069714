#include "store/claims.h"

#include <algorithm>

#include "util/check.h"

namespace stele::store {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr std::uint64_t kBytesPerMs = 10'000;
constexpr std::uint64_t kMsMax = 24 * 3600 * 1000;  // whatever size is told

}  // namespace

bool Claims::Ask(const StoreRequest& request) {
  const Moment now = steady_clock::now();
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(request.signature);
  const bool is_known = known != entries_.end();
  if (is_known && known->second.IsClaimedByAnother(request.operation, now)) return false;
  if (!request.home.claim) return true;
  if (is_known && known->second.storing > 0) return false;
  // Each look at all of them is paid for by as many that have come since the last.
  if (entries_.size() >= swept_at_) {
    std::erase_if(entries_, [&](const auto& entry) {
      return entry.second.storing == 0 && !entry.second.IsClaimed(now);
    });
    swept_at_ = std::max(swept_at_, 2 * entries_.size());
  }
  Entry& entry = entries_[request.signature];
  entry.claimed_by = request.operation;
  entry.claimed_until = now + time_ + milliseconds(std::min(request.size / kBytesPerMs, kMsMax));
  return true;
}

std::optional<Operation> Claims::ClaimedBy(const Signature& signature) const {
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(signature);
  if (known == entries_.end() || !known->second.IsClaimed(steady_clock::now())) return {};
  return known->second.claimed_by;
}

void Claims::End(const Signature& signature, const Operation& operation) {
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(signature);
  if (known == entries_.end() || known->second.claimed_by != operation) return;
  known->second.claimed_by.reset();
  if (known->second.storing == 0) entries_.erase(known);
}

bool Claims::BeginStoring(const StoreRequest& request) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[request.signature];
  if (entry.IsClaimedByAnother(request.operation, steady_clock::now())) return false;
  ++entry.storing;
  return true;
}

void Claims::EndStoring(const Signature& signature) {
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(signature);
  Check(known != entries_.end() && known->second.storing > 0);
  if (--known->second.storing == 0 && !known->second.claimed_by) entries_.erase(known);
}

std::size_t Claims::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace stele::store
