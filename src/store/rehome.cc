#include "store/rehome.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace stele::store {

using Settled = Membership::Settled;

namespace {

class Rehoming {
 public:
  Rehoming(Team& team, const RehomeOptions& options) : team_(team), options_(options) {}

  Result<Rehomed> Run() {
    const Status joined = JoinAll();
    if (!joined) return joined.error();
    std::uint64_t settled = 0;
    for (MemberVolume* member : answering_) {
      Status done = TellOwed(*member);
      if (done) done = Settle(*member);
      if (done) ++settled;
      if (!done) NoteFailure(done.error());
    }
    result_.settled = settled;
    if (settled < team_.composition().volumes.size()) return result_;
    for (MemberVolume* member : team_.Members()) {
      const Status told = member->Settle(team_.composition().epoch, Settled::kAll);
      if (!told) NoteFailure(told.error());
    }
    return result_;
  }

 private:
  // A member that does not answer may be in the way of several others.
  void NoteFailure(const Error& failure) {
    const bool is_known = std::any_of(result_.failures.begin(), result_.failures.end(),
                                      [&](const Error& one) { return one.text == failure.text; });
    if (!is_known) result_.failures.push_back(failure);
  }

  // Whoever is settled has told every home of the epoch, so every home knew the epoch then. One
  // that does not know it now has forgotten what it was told, unless it is new and nobody used it
  // yet.
  Status JoinAll() {
    const std::uint64_t epoch = team_.composition().epoch;
    std::string settled;
    std::string behind;
    std::set<MemberVolume*> answered;
    for (MemberVolume* member : team_.Members()) {
      const Result<Membership> membership = member->GetMembership();
      if (!membership) continue;
      answered.insert(member);
      const std::uint64_t known = membership->composition.epoch;
      if (known == epoch && membership->settled != Settled::kNo) settled = member->name();
      if (known < epoch && (known > 0 || !IsEmpty(*member))) behind = member->name();
    }
    if (!settled.empty() && !behind.empty()) {
      return Error{ErrorCode::kInvalid,
                   fmt::format("volume {} does not know epoch {} any more, and volume {} has "
                               "finished it: raise the epoch in the connector",
                               behind, epoch, settled)};
    }
    for (MemberVolume* member : team_.Members()) {
      const Status joined = member->Join(team_.composition(), team_.connector(), false);
      if (joined || answered.contains(member)) answering_.push_back(member);
      if (joined) {
        ++joined_;
        continue;
      }
      const ErrorCode code = joined.error().code;
      if (code == ErrorCode::kOutdated || code == ErrorCode::kInvalid) return joined;
      NoteFailure(joined.error());
    }
    return {};
  }

  static bool IsEmpty(MemberVolume& member) {
    const Result<VolumeStats> stats = member.Stats();
    return stats && stats->blocks == 0;
  }

  MemberVolume* HomeOf(const Signature& signature) const {
    const Composition& composition = team_.composition();
    return team_.Find(composition.volumes[composition.HomeOf(signature)]);
  }

  Status Publish(const std::string& volume, const std::map<std::string, Stubs>& by_home) {
    for (const auto& [name, stubs] : by_home) {
      MemberVolume* home = team_.Find(name);
      if (home == nullptr) {
        return Error{ErrorCode::kIo,
                     fmt::format("volume {}: its home {} is missing", volume, name)};
      }
      const Status published = home->Publish(stubs);
      if (!published) return published;
      result_.stubs += stubs.signatures.size();
    }
    return {};
  }

  Status Settle(MemberVolume& member) {
    const Composition& composition = team_.composition();
    const Result<Membership> membership = member.GetMembership();
    if (!membership) return membership.error();
    if (membership->composition.epoch != composition.epoch) {
      return Error{ErrorCode::kOutdated, fmt::format("volume {} has not joined", member.name())};
    }
    if (membership->settled != Settled::kNo) return {};
    if (joined_ < composition.volumes.size()) {
      return Error{ErrorCode::kBusy,
                   fmt::format("volume {} waits for members that do not answer or cannot join",
                               member.name())};
    }
    Status done = TellMoves(member);
    std::uint64_t seen = 0;
    ListRequest page{.limit = options_.batch};
    while (done) {
      const Result<std::vector<ListedBlock>> blocks = member.List(page);
      if (!blocks) return blocks.error();
      std::map<std::string, Stubs> by_home;
      for (const ListedBlock& listed : *blocks) {
        const Signature& signature = listed.block.signature;
        const std::string& home = composition.volumes[composition.HomeOf(signature)];
        if (home == member.name()) continue;
        Stubs& stubs = by_home[home];
        stubs.epoch = composition.epoch;
        stubs.volume = member.name();
        stubs.signatures.push_back(signature);
      }
      done = Publish(member.name(), by_home);
      seen += blocks->size();
      if (options_.progress != nullptr) options_.progress(member.name(), seen);
      if (blocks->size() < options_.batch) break;
      page.after = blocks->back().block;
    }
    return done ? member.Settle(composition.epoch, Settled::kSelf) : done;
  }

  // The other end of a move may have forgotten it, and its home may be another one now.
  Status TellMoves(MemberVolume& member) {
    std::optional<Directory::Move> after;
    for (;;) {
      const Result<std::vector<Directory::Move>> moves = member.Arrivals(after, options_.batch);
      if (!moves) return moves.error();
      for (const Directory::Move& move : *moves) {
        for (MemberVolume* other : {team_.Find(move.from.volume), HomeOf(move.from.signature)}) {
          if (other == nullptr || other == &member) continue;
          const Status told = other->LogMove(move.from, move.to);
          if (!told) return told;
        }
      }
      if (moves->size() < options_.batch) return {};
      after = moves->back();
    }
  }

  Status TellOwed(MemberVolume& member) {
    std::optional<Signature> after;
    std::optional<Error> failure;
    for (;;) {
      const Result<std::vector<OwedStub>> owed = member.Owed(after, options_.batch);
      if (!owed) return owed.error();
      std::vector<Signature> paid;
      for (const OwedStub& stub : *owed) {
        MemberVolume* home = HomeOf(stub.signature);
        if (home == nullptr) {
          return Error{ErrorCode::kIo,
                       fmt::format("the home of {} is missing", stub.signature.Hex())};
        }
        const Status told = TellHolders(stub, *home);
        if (!told) return told;
        const Status merged = Merge(stub, member, *home);
        if (merged) paid.push_back(stub.signature);
        if (!merged && !failure) failure = merged.error();
      }
      const Status forgotten = member.Forget(paid);
      if (!forgotten) return forgotten;
      if (owed->size() < options_.batch) break;
      after = owed->back().signature;
    }
    if (failure) NoteFailure(*failure);
    return {};
  }

  Status TellHolders(const OwedStub& stub, MemberVolume& home) {
    for (const std::string& holder : stub.holders) {
      if (holder == home.name()) continue;
      const Status told = home.Publish({team_.composition().epoch, holder, {stub.signature}, {}});
      if (!told) return told;
      ++result_.stubs;
    }
    return {};
  }

  // What the member stored joins what lies at the home or, else, at one of those that the home or
  // the member knows of. Those stay apart: a client may have wanted it so.
  Status Merge(const OwedStub& stub, MemberVolume& member, MemberVolume& home) {
    if (options_.merge == nullptr) return {};
    StoreRequest question{
        stub.signature, 0, StoreMode::kForceNew, "", {std::string(kMoveOwner), "rehome"}};
    question.home = {.epoch = team_.composition().epoch, .as_home = true};
    const Result<Lookup> known = home.Reference(question);
    if (!known) return known.error();
    std::vector<std::string> names = {home.name()};
    names.insert(names.end(), stub.holders.begin(), stub.holders.end());
    names.insert(names.end(), known->elsewhere.begin(), known->elsewhere.end());
    const std::vector<std::string>& members = team_.composition().volumes;
    for (auto name = names.begin(); name != names.end(); ++name) {
      if (*name == member.name() || std::find(names.begin(), name, *name) != name) continue;
      if (std::find(members.begin(), members.end(), *name) == members.end()) continue;
      MemberVolume* other = team_.Find(*name);
      if (other == nullptr) {
        return Error{ErrorCode::kIo, fmt::format("volume {} does not answer", *name)};
      }
      const Status merged = options_.merge(stub.signature, member, *other);
      if (!merged) return merged;
    }
    return {};
  }

  Team& team_;
  const RehomeOptions& options_;
  std::vector<MemberVolume*> answering_;
  std::size_t joined_ = 0;  // know the epoch
  Rehomed result_;
};

}  // namespace

Result<Rehomed> Rehome(Instance& instance, const RehomeOptions& options) {
  const std::shared_ptr<Team> team = instance.team();
  return Rehoming(*team, options).Run();
}

}  // namespace stele::store
