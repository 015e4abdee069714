// Who holds what in a container volume: all of it is in the table.
#include "store/container_volume.h"

namespace stele::store {

Status ContainerVolume::Refer(const ContentKey& key, const Operation& operation) {
  Status accepted = AcceptsKey(key);
  if (!accepted) return accepted;
  const Gate::Pass pass(gate_);
  accepted = Accepts(operation, key.signature);
  if (!accepted) return accepted;
  const AccessList::Access access(access_, key.signature);
  const auto done = index_.FindOperation(key.signature, BlockIndex::Act::kReference, operation);
  if (!done) return done.error();
  if (*done) return {};
  const BlockId block{key.signature, key.overflow};
  const auto row = index_.Find(block);
  if (!row) return row.error();
  if (!*row) return NotHere(key);
  if ((*row)->location.length == 0) {
    return Error{ErrorCode::kCorrupt, key.Text() + ": its record is missing"};
  }
  return AddNote(LogEntry::Kind::kReference, block, **row, operation);
}

Result<std::uint64_t> ContainerVolume::Held(const ContentKey& key, const std::string& owner) {
  const Status accepted = AcceptsKey(key);
  if (!accepted && accepted.error().code == ErrorCode::kNotFound) return std::uint64_t{0};
  if (!accepted) return accepted.error();
  return index_.CountOf({key.signature, key.overflow}, owner);
}

Result<std::vector<BlockOperation>> ContainerVolume::Operations(
    const ContentKey& key, const std::optional<BlockOperation>& after, std::size_t limit) {
  const Status accepted = AcceptsKey(key);
  if (!accepted) return accepted.error();
  return index_.Operations({key.signature, key.overflow}, after, limit);
}

Result<std::vector<ListedBlock>> ContainerVolume::List(const ListRequest& request) {
  return index_.List(request, options_.signature->size());
}

Result<std::vector<OwnerUsage>> ContainerVolume::Owners() { return index_.Owners(); }

Result<OwnerUsage> ContainerVolume::UsageOf(const std::string& owner) {
  return index_.UsageOf(owner);
}

}  // namespace stele::store
