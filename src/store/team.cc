#include "store/team.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stele::store {

using Settled = Membership::Settled;
using std::chrono::steady_clock;

namespace {

// Filters that are older cost questions that lead to nothing.
constexpr std::chrono::milliseconds kFilterTime{5'000};

}  // namespace

Team::Team(Composition composition, std::string connector, std::vector<MemberVolume*> members,
           std::chrono::milliseconds down_time)
    : composition_(std::move(composition)),
      connector_(std::move(connector)),
      members_(composition_.volumes.size(), nullptr),
      down_time_(down_time),
      down_until_(members_.size()) {
  for (MemberVolume* member : members) {
    const auto place =
        std::find(composition_.volumes.begin(), composition_.volumes.end(), member->name());
    if (place == composition_.volumes.end()) continue;
    members_[static_cast<std::size_t>(place - composition_.volumes.begin())] = member;
  }
}

MemberVolume* Team::Find(std::string_view volume) const {
  const auto place = std::find(composition_.volumes.begin(), composition_.volumes.end(), volume);
  if (place == composition_.volumes.end()) return nullptr;
  return members_[static_cast<std::size_t>(place - composition_.volumes.begin())];
}

std::vector<MemberVolume*> Team::Members() const {
  std::vector<MemberVolume*> members = members_;
  std::erase(members, nullptr);
  return members;
}

std::vector<MemberVolume*> Team::OrderFor(const Signature& signature) const {
  std::vector<MemberVolume*> order;
  std::vector<MemberVolume*> down;
  const auto now = steady_clock::now();
  const std::lock_guard lock(mutex_);
  for (const std::size_t place : composition_.OrderFor(signature)) {
    if (members_[place] == nullptr) continue;
    (down_until_[place] > now ? down : order).push_back(members_[place]);
  }
  order.insert(order.end(), down.begin(), down.end());
  return order;
}

void Team::NoteFailure(const MemberVolume& member) {
  const auto place = std::find(members_.begin(), members_.end(), &member);
  if (place == members_.end()) return;
  const std::lock_guard lock(mutex_);
  down_until_[static_cast<std::size_t>(place - members_.begin())] =
      steady_clock::now() + down_time_;
}

Result<std::vector<MemberVolume*>> Team::Holders(const Signature& signature,
                                                 MemberVolume*& outdated) {
  std::shared_ptr<const Filters> filters;
  const auto current = [&] {
    const std::lock_guard lock(mutex_);
    filters = filters_;
    return filters != nullptr &&
           (filters->all_settled || steady_clock::now() - filters->made < kFilterTime);
  };
  if (!current()) {
    const std::lock_guard lock(asking_);
    if (!current()) {
      Result<std::shared_ptr<const Filters>> asked = AskFilters(outdated);
      if (!asked) return asked.error();
      filters = *std::move(asked);
      const std::lock_guard set(mutex_);
      filters_ = filters;
    }
  }
  std::vector<MemberVolume*> holders;
  for (const auto& [member, filter] : filters->members) {
    if (filter.MayContain(signature)) holders.push_back(member);
  }
  return holders;
}

// A member that does not answer costs only its own contents. Where all are settled, they are told:
// then nobody has to ask again.
Result<std::shared_ptr<const Team::Filters>> Team::AskFilters(MemberVolume*& outdated) {
  auto filters = std::make_shared<Filters>();
  filters->made = steady_clock::now();
  filters->all_settled = true;
  std::vector<MemberVolume*> untold;
  for (MemberVolume* member : members_) {
    Result<Membership> membership = Error{ErrorCode::kIo, "missing"};
    if (member != nullptr) membership = member->GetMembership();
    if (!membership) {
      filters->all_settled = false;
      continue;
    }
    if (membership->composition.epoch != composition_.epoch) {
      outdated = member;
      return Error{ErrorCode::kOutdated,
                   fmt::format("volume {} is in epoch {} of its instance, not {}", member->name(),
                               membership->composition.epoch, composition_.epoch)};
    }
    if (membership->settled != Settled::kAll) untold.push_back(member);
    if (membership->settled != Settled::kNo) continue;
    filters->all_settled = false;
    Result<SignatureFilter> filter = member->Filter();
    filters->members.emplace_back(member, filter ? *std::move(filter) : SignatureFilter());
  }
  if (filters->all_settled) {
    for (MemberVolume* member : untold) {
      static_cast<void>(member->Settle(composition_.epoch, Settled::kAll).ok());
    }
  }
  return std::shared_ptr<const Filters>(std::move(filters));
}

}  // namespace stele::store
