// Exactly one block for each content, whoever stores it where: that is what the home sees to.
//
// Clients that find a content nowhere store it at its home, where the volume itself lets one of
// them make the block. When the home does not take blocks, a client claims the content before it
// stores it elsewhere, and others are busy-waiting until it has published where. Both meet in
// claims_: there is no claim while a block is made here, and no block is made here while there is
// a claim of another operation, or a stub that the client has not followed.
//
// A store becomes one of an epoch at the end of its content: then it passes the gate, finds out
// that its epoch is still the present one, and holds Join() up until its block is made. Clients
// that send slowly hold up nobody.
#include "store/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "util/check.h"

namespace stele::store {

using Settled = Membership::Settled;

namespace {

constexpr std::size_t kListed = 1000;

}  // namespace

// A content whose end is reached only by those who may make a block of it. Until its first byte is
// read, and from its end on, the signature is with its reader, so that no move is logged while the
// volume looks at its blocks.
class Member::GatedContent final : public io::Source {
 public:
  GatedContent(Member& member, const StoreRequest& request, io::Source& content)
      : member_(member), request_(request), content_(content) {
    access_.emplace(member_.access_, request_.signature);
  }
  ~GatedContent() override {
    if (storing_) member_.claims_.EndStoring(request_.signature);
  }
  GatedContent(const GatedContent&) = delete;
  GatedContent& operator=(const GatedContent&) = delete;

  Result<std::size_t> Read(std::span<char> out) override {
    if (!pass_) access_.reset();
    Result<std::size_t> read = content_.Read(out);
    if (!read || *read > 0 || out.empty() || pass_) return read;
    pass_.emplace(member_.gate_);
    access_.emplace(member_.access_, request_.signature);
    const Status current = member_.CheckEpoch(request_.home.epoch);
    if (!current) return current.error();
    const Status staying = member_.NotMoving(request_.signature);
    if (!staying) return staying.error();
    const Result<std::uint32_t> lowest = member_.LowestNumber(request_);
    if (!lowest) return lowest.error();
    if (*lowest > request_.overflow_min) return member_.Busy();  // a block has just left
    const Status arrived = member_.Arrive(request_);
    if (!arrived) return arrived.error();
    // Before the block is made: a crash may leave one that nobody was told of.
    owes_ = request_.home.claim || member_.IsStandIn(request_) || member_.IsEpochless(request_);
    const Status owed = owes_ ? member_.directory_->Owe(request_.signature) : Status();
    if (!owed) return owed.error();
    const bool decided =
        !request_.home.as_home || request_.only_if_here || request_.mode == StoreMode::kForceNew;
    if (decided) return read;
    storing_ = member_.claims_.BeginStoring(request_);
    if (!storing_) return member_.Busy();
    const Result<std::vector<std::string>> holders =
        member_.directory_->Holders(request_.signature);
    if (!holders) return holders.error();
    const std::vector<std::string>& asked = request_.home.asked;
    for (const std::string& holder : *holders) {
      if (std::find(asked.begin(), asked.end(), holder) == asked.end()) return member_.Busy();
    }
    return read;
  }

  // The home is to be told of the content, and this has been noted.
  bool owes() const { return owes_; }

 private:
  Member& member_;
  const StoreRequest& request_;
  io::Source& content_;
  std::optional<Gate::Pass> pass_;
  std::optional<AccessList::Access> access_;
  bool storing_ = false;
  bool owes_ = false;
};

Member::Member(io::FileSystem& fs, std::string directory, std::unique_ptr<Volume> volume,
               Options options)
    : fs_(fs),
      directory_path_(std::move(directory)),
      volume_(std::move(volume)),
      claims_(options.claim_time) {}

Result<std::unique_ptr<Member>> Member::Open(io::FileSystem& fs, const std::string& directory,
                                             std::unique_ptr<Volume> volume,
                                             std::unique_ptr<BlockTable> table, Options options) {
  std::unique_ptr<Member> member(new Member(fs, directory, std::move(volume), options));
  Result<Membership> membership = ReadMembership(fs, directory);
  if (!membership) return membership.error();
  Result<std::unique_ptr<Directory>> opened =
      Directory::Open(std::move(table), member->name(), membership->composition.epoch > 0);
  if (!opened && opened.error().code == ErrorCode::kCorrupt) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}: {}; take the file member and the folder directory away, raise "
                             "the epoch of the instance and let its homes be told again",
                             directory, opened.error().text)};
  }
  if (!opened) return opened.error();
  member->directory_ = *std::move(opened);
  member->membership_ = std::make_shared<const Membership>(*std::move(membership));
  const Status learned = member->LearnArriving();
  if (!learned) return learned.error();
  return member;
}

// ---- Membership ----

std::shared_ptr<const Membership> Member::Current() const {
  const std::lock_guard lock(mutex_);
  return membership_;
}

// The caller is alone.
Status Member::Change(Membership membership) {
  const Status written = WriteMembership(fs_, directory_path_, membership);
  if (!written) return written;
  const std::lock_guard lock(mutex_);
  membership_ = std::make_shared<const Membership>(std::move(membership));
  return {};
}

Status Member::CheckEpoch(std::uint64_t epoch) const {
  const std::uint64_t own = Current()->composition.epoch;
  if (epoch == 0 || epoch == own) return {};
  return Error{ErrorCode::kOutdated,
               fmt::format("volume {} is in epoch {} of its instance, not {}", name(), own, epoch)};
}

Result<Membership> Member::GetMembership() { return *Current(); }

Status Member::Join(const Composition& composition, const std::string& connector, bool founding) {
  const std::vector<std::string>& names = composition.volumes;
  if (composition.epoch == 0 || std::find(names.begin(), names.end(), name()) == names.end()) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("volume {} is no member of this composition", name())};
  }
  const Gate::Alone alone(gate_);
  const std::shared_ptr<const Membership> before = Current();
  const std::uint64_t epoch = before->composition.epoch;
  if (epoch == composition.epoch && before->composition == composition) return {};
  if (epoch == composition.epoch) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("volume {} knows another composition of epoch {}: raise the epoch",
                             name(), epoch)};
  }
  const Result<VolumeStats> stats = volume_->Stats();
  if (!stats) return stats.error();
  const bool is_new = epoch == 0 && stats->blocks == 0;
  if (epoch > composition.epoch || (founding && !is_new)) {
    return Error{ErrorCode::kOutdated,
                 fmt::format("volume {} is in epoch {} of its instance and holds {} blocks", name(),
                             epoch, stats->blocks)};
  }
  const Settled settled = names.size() == 1 ? Settled::kAll
                          : founding        ? Settled::kSelf
                                            : Settled::kNo;
  return Change({composition, settled, connector});
}

Status Member::Settle(std::uint64_t epoch, Settled settled) {
  const Gate::Alone alone(gate_);
  Membership membership = *Current();
  if (membership.composition.epoch != epoch || epoch == 0) {
    const Status current = CheckEpoch(epoch);
    return current ? Status(Error{ErrorCode::kInvalid, "there is no epoch 0"}) : current;
  }
  if (membership.settled >= settled) return {};
  membership.settled = settled;
  return Change(std::move(membership));
}

// ---- Storing ----

Error Member::Busy() const {
  return {ErrorCode::kBusy,
          fmt::format("volume {}: somebody stores this content right now; ask again", name())};
}

bool Member::IsStandIn(const StoreRequest& request) const {
  if (!request.home.as_home) return false;
  const auto membership = Current();
  return membership->composition.epoch > 0 &&
         !membership->composition.IsHome(name(), request.signature);
}

// Stored by somebody who knows of no homes.
bool Member::IsEpochless(const StoreRequest& request) const {
  const auto membership = Current();
  return request.home.epoch == 0 && membership->composition.epoch > 0 &&
         !membership->composition.IsHome(name(), request.signature);
}

bool Member::IsClaimed(const Signature& signature) const {
  const std::optional<Operation> claimed_by = claims_.ClaimedBy(signature);
  return claimed_by && claimed_by->owner != kMoveOwner;
}

Result<std::vector<std::string>> Member::MovingTo(const Signature& signature) {
  const Result<std::vector<Directory::Move>> moves = directory_->MovesOf(name(), signature);
  if (!moves) return moves.error();
  std::vector<std::string> volumes;
  for (const Directory::Move& move : *moves) {
    if (volume_->Stat(move.from)) volumes.push_back(move.to.volume);
  }
  return volumes;
}

Status Member::NotMoving(const Signature& signature) {
  const Result<std::vector<std::string>> moving = MovingTo(signature);
  if (!moving) return moving.error();
  return moving->empty() ? Status() : Status(Busy());
}

Status Member::HeldByNoMove(const ContentKey& key, std::uint64_t holds_max) {
  const Result<std::uint64_t> held = volume_->Held(key, std::string(kMoveOwner));
  if (!held) return held.error();
  if (*held <= holds_max) return {};
  return Error{ErrorCode::kBusy, fmt::format("{} is moving already", key.Text())};
}

// What the volume has. A block that is being moved takes no more references: its content lies at
// its new place already.
Result<Lookup> Member::LookHere(const StoreRequest& request) {
  const AccessList::Access access(access_, request.signature);
  Result<std::vector<std::string>> moving = MovingTo(request.signature);
  if (!moving) return moving.error();
  const std::vector<std::string> arriving = ArrivingFrom(request.signature);
  moving->insert(moving->end(), arriving.begin(), arriving.end());
  if (!moving->empty()) return Lookup{.elsewhere = *std::move(moving)};
  if (request.home.as_home && volume_->state() == VolumeState::kFrozen) return Lookup{};
  return volume_->Reference(request);
}

Result<Lookup> Member::Reference(const StoreRequest& request) {
  const Status current = CheckEpoch(request.home.epoch);
  if (!current) return current.error();
  Result<Lookup> found = LookHere(request);
  if (!found || !request.home.as_home) return found;
  if (found->outcome != Lookup::Outcome::kReferenced) {
    if (request.mode != StoreMode::kForceNew) {
      if (!claims_.Ask(request)) return Busy();
      // Somebody may have stored it between the look and the claim.
      if (request.home.claim) found = LookHere(request);
    }
    Result<std::vector<std::string>> holders = directory_->Holders(request.signature);
    if (found && !holders) found = holders.error();
    if (found) {
      found->elsewhere.insert(found->elsewhere.end(), holders->begin(), holders->end());
      found->unsettled = Current()->settled != Settled::kAll;
    }
  }
  const bool is_done = found && found->outcome == Lookup::Outcome::kReferenced;
  if (is_done && IsStandIn(request)) {
    const Status owed = directory_->Owe(request.signature);
    if (!owed) found = owed.error();
  }
  if (!found || is_done) claims_.End(request.signature, request.operation);
  return found;
}

// A key that sends its users elsewhere is given to no other content.
Result<std::uint32_t> Member::LowestNumber(const StoreRequest& request) const {
  const Result<std::vector<Directory::Move>> moves = directory_->MovesOf(name(), request.signature);
  if (!moves) return moves.error();
  std::uint32_t lowest = request.overflow_min;
  for (const Directory::Move& move : *moves) lowest = std::max(lowest, move.from.overflow + 1);
  return lowest;
}

Result<Stored> Member::Store(const StoreRequest& request, io::Source& content) {
  const Status current = CheckEpoch(request.home.epoch);
  if (!current) return current.error();
  StoreRequest numbered = request;
  const Result<std::uint32_t> lowest = LowestNumber(request);
  if (!lowest) return lowest.error();
  numbered.overflow_min = *lowest;
  GatedContent gated(*this, numbered, content);
  Status staying = NotMoving(request.signature);
  if (staying) staying = NotArriving(request);
  if (!staying) return staying.error();
  Result<Stored> stored = volume_->Store(numbered, gated);
  if (stored && request.operation.owner == kMoveOwner) {
    const Status alone = HeldByNoMove(stored->key, 1);
    const Status released = alone ? Status() : volume_->Delete(stored->key, request.operation);
    if (!released) return released.error();
    if (!alone) stored = alone.error();
  }
  if (!stored && request.operation.owner == kMoveOwner) {
    EndArriving(request.signature,
                [&](const MoveHold& hold) { return hold.operation == request.operation; });
  }
  if (stored && !gated.owes() && (IsStandIn(request) || IsEpochless(request))) {
    const Status owed = directory_->Owe(request.signature);
    if (!owed) return owed.error();
  }
  return stored;
}

// ---- What a home is told ----

Status Member::Publish(const Stubs& stubs) {
  const Status current = CheckEpoch(stubs.epoch);
  if (!current) return current;
  if (!IsVolumeName(stubs.volume)) {
    return Error{ErrorCode::kInvalid, "stubs need the name of a volume"};
  }
  const Status added =
      stubs.volume == name() ? Status() : directory_->AddStubs(stubs.signatures, stubs.volume);
  if (!added || !stubs.claimed_by || stubs.signatures.empty()) return added;
  const Signature& signature = stubs.signatures.front();
  const auto membership = Current();
  if (membership->composition.epoch > 0 && !membership->composition.IsHome(name(), signature)) {
    const Status owed = directory_->Owe(signature);
    if (!owed) return owed;
  }
  claims_.End(signature, *stubs.claimed_by);
  return {};
}

Status Member::GiveBack(const Signature& signature, const Operation& operation) {
  claims_.End(signature, operation);
  return {};
}

// The first caller makes it; until it is there, others get one that finds everything.
Result<SignatureFilter> Member::Filter() {
  std::shared_ptr<const Membership> membership;
  {
    const std::lock_guard lock(mutex_);
    membership = membership_;
    if (filter_ != nullptr && filter_epoch_ == membership->composition.epoch) return *filter_;
    if (filtering_ || membership->composition.epoch == 0) return SignatureFilter();
    filtering_ = true;
  }
  const auto make = [&]() -> Result<SignatureFilter> {
    const Result<VolumeStats> stats = volume_->Stats();
    if (!stats) return stats.error();
    SignatureFilter filter(stats->blocks);
    ListRequest page{.limit = kListed};
    for (;;) {
      const Result<std::vector<ListedBlock>> blocks = volume_->List(page);
      if (!blocks) return blocks.error();
      for (const ListedBlock& listed : *blocks) {
        const Signature& signature = listed.block.signature;
        if (!membership->composition.IsHome(name(), signature)) filter.Add(signature);
      }
      if (blocks->size() < kListed) return filter;
      page.after = blocks->back().block;
    }
  };
  Result<SignatureFilter> filter = make();
  const std::lock_guard lock(mutex_);
  filtering_ = false;
  if (!filter) return filter;
  filter_ = std::make_shared<const SignatureFilter>(*filter);
  filter_epoch_ = membership->composition.epoch;
  return filter;
}

Result<std::vector<OwedStub>> Member::Owed(const std::optional<Signature>& after,
                                           std::size_t limit) {
  const Result<std::vector<Signature>> signatures = directory_->Owed(after, limit);
  if (!signatures) return signatures.error();
  std::vector<OwedStub> owed;
  for (const Signature& signature : *signatures) {
    Result<std::vector<std::string>> holders = directory_->Holders(signature);
    if (!holders) return holders.error();
    holders->insert(holders->begin(), name());
    owed.push_back({signature, *std::move(holders)});
  }
  return owed;
}

Status Member::Forget(std::span<const Signature> owed) { return directory_->Forget(owed); }

// ---- What the volume does, for keys that are still good ----

Status Member::NoMove(const ContentKey& key) const {
  const Result<std::optional<ContentKey>> moved = directory_->MovedTo(key);
  if (!moved) return moved.error();
  if (!*moved) return {};
  return Error{ErrorCode::kNotFound,
               fmt::format("{} has moved to {}", key.Text(), (*moved)->Text())};
}

Result<std::unique_ptr<io::Source>> Member::Retrieve(const ContentKey& key) {
  return volume_->Retrieve(key);
}

Result<PackedContent> Member::RetrievePacked(const ContentKey& key) {
  return volume_->RetrievePacked(key);
}

Result<std::unique_ptr<io::Source>> Member::RetrieveRange(const ContentKey& key,
                                                          std::uint64_t offset,
                                                          std::uint64_t length) {
  return volume_->RetrieveRange(key, offset, length);
}

Status Member::Refer(const ContentKey& key, const Operation& operation) {
  const AccessList::Access access(access_, key.signature);
  Status good = NoMove(key);
  if (good && operation.owner == kMoveOwner) good = HeldByNoMove(key, 0);
  return good ? volume_->Refer(key, operation) : good;
}

Status Member::Delete(const ContentKey& key, const Operation& operation) {
  const AccessList::Access access(access_, key.signature);
  const Status good = NoMove(key);
  const bool departs = operation.id.starts_with(kDepartureIds);
  if (!good && !departs) return good;
  const Status deleted = volume_->Delete(key, operation);
  if (deleted && operation.owner == kMoveOwner) {
    EndArriving(key.signature, [&](const MoveHold& hold) { return hold.operation == operation; });
  }
  const bool is_missing = !deleted && deleted.error().code == ErrorCode::kNotFound;
  return is_missing && !departs ? MissingAt(key, operation.owner, deleted.error()) : deleted;
}

Status Member::Restore(const ContentKey& key, std::uint64_t size, io::Source& content) {
  return volume_->Restore(key, size, content);
}

Result<std::uint64_t> Member::Compact(const CompactOptions& options) {
  return volume_->Compact(options);
}

Result<BlockInfo> Member::Stat(const ContentKey& key) {
  const Status good = NoMove(key);
  if (!good) return good.error();
  return volume_->Stat(key);
}

Result<std::uint64_t> Member::Held(const ContentKey& key, const std::string& owner) {
  return volume_->Held(key, owner);
}

Result<std::vector<BlockOperation>> Member::Operations(const ContentKey& key,
                                                       const std::optional<BlockOperation>& after,
                                                       std::size_t limit) {
  return volume_->Operations(key, after, limit);
}

Result<std::vector<ListedBlock>> Member::List(const ListRequest& request) {
  return volume_->List(request);
}

Result<std::vector<OwnerUsage>> Member::Owners() { return volume_->Owners(); }

Result<OwnerUsage> Member::UsageOf(const std::string& owner) { return volume_->UsageOf(owner); }

Result<VolumeStats> Member::Stats() { return volume_->Stats(); }

Result<std::uint64_t> Member::Verify(const VerifyOptions& options) {
  return volume_->Verify(options);
}

}  // namespace stele::store
