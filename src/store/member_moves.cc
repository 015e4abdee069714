// What a member does about blocks that come from other members and go to them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "store/member.h"

namespace stele::store {
namespace {

constexpr std::size_t kListed = 1000;

}  // namespace

// ---- Blocks that come from elsewhere ----

// Whoever has asked where it comes from, in vain, may have it all the same.
Status Member::NotArriving(const StoreRequest& request) const {
  if (request.operation.owner == kMoveOwner) return {};
  const std::vector<std::string>& asked = request.home.asked;
  for (const std::string& from : ArrivingFrom(request.signature)) {
    if (std::find(asked.begin(), asked.end(), from) == asked.end()) return Busy();
  }
  return {};
}

// Requires: access to the signature.
Status Member::Arrive(const StoreRequest& request) {
  const std::optional<MoveHold> hold = ParseMoveHold(request.operation);
  if (!hold || !hold->arrives) return NotArriving(request);
  const std::lock_guard lock(mutex_);
  arriving_[request.signature].push_back(*hold);
  return {};
}

// Those of moves that were interrupted.
Status Member::LearnArriving() {
  const std::string owner(kMoveOwner);
  const Result<OwnerUsage> usage = volume_->UsageOf(owner);
  if (!usage) return usage.error();
  ListRequest page{std::nullopt, kListed, owner};
  while (usage->references > 0) {
    const Result<std::vector<ListedBlock>> blocks = volume_->List(page);
    if (!blocks) return blocks.error();
    for (const ListedBlock& listed : *blocks) {
      const ContentKey key{name(), listed.block.signature, listed.block.overflow};
      const Result<std::vector<MoveHold>> holds = MoveHoldsOf(*volume_, key);
      if (!holds) return holds.error();
      for (const MoveHold& hold : *holds) {
        const auto logged = directory_->MovedTo({hold.volume, key.signature, hold.overflow});
        if (!logged) return logged.error();
        if (hold.arrives && *logged != key) arriving_[key.signature].push_back(hold);
      }
    }
    if (blocks->size() < kListed) break;
    page.after = blocks->back().block;
  }
  return {};
}

std::vector<std::string> Member::ArrivingFrom(const Signature& signature) const {
  std::vector<std::string> volumes;
  const std::lock_guard lock(mutex_);
  const auto known = arriving_.find(signature);
  if (known == arriving_.end()) return volumes;
  for (const MoveHold& hold : known->second) volumes.push_back(hold.volume);
  return volumes;
}

void Member::EndArriving(const Signature& signature,
                         const std::function<bool(const MoveHold&)>& which) {
  const std::lock_guard lock(mutex_);
  const auto known = arriving_.find(signature);
  if (known == arriving_.end()) return;
  std::erase_if(known->second, which);
  if (known->second.empty()) arriving_.erase(known);
}

// ---- Moves ----

Status Member::LogMove(const ContentKey& from, const ContentKey& to) {
  if (from == to || !(from.signature == to.signature)) {
    return Error{ErrorCode::kInvalid, "a content moves from one key to another of its signature"};
  }
  const AccessList::Access access(access_, from.signature);
  if (from.volume == name() && volume_->Stat(from)) return {};
  const Status synced = to.volume == name() ? volume_->Sync() : Status();
  if (!synced) return synced;
  const Status logged = directory_->AddMove(from, to);
  if (!logged || to.volume != name()) return logged;
  EndArriving(to.signature, [&](const MoveHold& hold) {
    return hold.volume == from.volume && hold.overflow == from.overflow;
  });
  return {};
}

Status Member::Depart(const ContentKey& from, const ContentKey& to, std::uint64_t operations) {
  if (from == to || from.volume != name() || !(from.signature == to.signature)) {
    return Error{ErrorCode::kInvalid, "a content of this volume moves to another key of its own"};
  }
  const AccessList::Access access(access_, from.signature);
  const Result<std::optional<ContentKey>> moved = directory_->MovedTo(from);
  if (!moved) return moved.error();
  if (*moved && **moved == to) return {};
  if (*moved) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} has moved to {}", from.Text(), (*moved)->Text())};
  }
  if (IsClaimed(from.signature)) return Busy();
  std::uint64_t count = 0;
  std::optional<BlockOperation> after;
  for (;;) {
    const Result<std::vector<BlockOperation>> page = volume_->Operations(from, after, kListed);
    if (!page) return page.error();
    count += page->size();
    if (page->size() < kListed) break;
    after = page->back();
  }
  if (count != operations) {
    return Error{ErrorCode::kBusy, fmt::format("{} has changed meanwhile", from.Text())};
  }
  return directory_->AddMove(from, to);
}

Result<std::optional<ContentKey>> Member::MovedTo(const ContentKey& from) {
  return directory_->MovedTo(from);
}

Result<std::vector<ContentKey>> Member::FormerKeys(const ContentKey& key) {
  return directory_->FormerKeys(key);
}

Result<std::vector<Directory::Move>> Member::Arrivals(const std::optional<Directory::Move>& after,
                                                      std::size_t limit) {
  return directory_->Arrivals(after, limit);
}

// While a block moves, an owner can have references at both places. One that never had any learns
// nothing.
Status Member::MissingAt(const ContentKey& key, const std::string& owner, const Error& missing) {
  const Status still = HeldByNoMove(key, 0);
  if (still) return missing;
  const BlockOperation first{BlockOperation::Kind::kReference, {owner, "!"}};
  const auto done = volume_->Operations(key, first, 1);
  if (!done) return done.error();
  return done->empty() || done->front().operation.owner != owner ? Status(missing) : still;
}

}  // namespace stele::store
