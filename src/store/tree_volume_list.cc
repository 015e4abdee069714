// Who holds what in a tree volume: all of it is in the log of references.
#include <algorithm>

#include "store/tree_volume.h"

namespace stele::store {
namespace {

OwnerUsage UsageFrom(const std::string& owner, const ReferenceLog::OwnerSum& sum) {
  const auto at_least_zero = [](std::int64_t value) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
  };
  return {owner, at_least_zero(sum.references), at_least_zero(sum.content_bytes)};
}

}  // namespace

Result<std::uint64_t> TreeVolume::Held(const ContentKey& key, const std::string& owner) {
  const Status accepted = AcceptsKey(key);
  if (!accepted && accepted.error().code == ErrorCode::kNotFound) return std::uint64_t{0};
  if (!accepted) return accepted.error();
  const AccessList::Access access(access_, key.signature);
  const Result<ReferenceLog::References> references = log_->Find(key.signature);
  if (!references) return references.error();
  return references->set().CountOf(key.overflow, owner);
}

Result<std::vector<BlockOperation>> TreeVolume::Operations(
    const ContentKey& key, const std::optional<BlockOperation>& after, std::size_t limit) {
  const Status accepted = AcceptsKey(key);
  if (!accepted) return accepted.error();
  const AccessList::Access access(access_, key.signature);
  const Result<ReferenceLog::References> references = log_->Find(key.signature);
  if (!references) return references.error();
  return references->set().Operations(key.overflow, after, limit);
}

Result<std::vector<ListedBlock>> TreeVolume::List(const ListRequest& request) {
  return log_->List(request);
}

Result<std::vector<OwnerUsage>> TreeVolume::Owners() {
  std::vector<OwnerUsage> owners;
  for (const auto& [owner, sum] : log_->owners()) owners.push_back(UsageFrom(owner, sum));
  return owners;
}

Result<OwnerUsage> TreeVolume::UsageOf(const std::string& owner) {
  return UsageFrom(owner, log_->SumOf(owner));
}

}  // namespace stele::store
