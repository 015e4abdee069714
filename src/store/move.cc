#include "store/move.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "store/compare.h"
#include "store/compression.h"
#include "util/rabin.h"

namespace stele::store {
namespace {

using Kind = BlockOperation::Kind;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kPage = 1000;
constexpr int kTriesMax = 600;
constexpr int kEagerTries = 100;
constexpr std::size_t kRenamedMax = 100;  // bytes of an id
constexpr milliseconds kPauseMax{50};
constexpr milliseconds kRenewalTime{2'000};  // of claims of ten seconds

std::string DepartureId(const ContentKey& key, std::uint64_t number) {
  return fmt::format("{}{}/{}", kDepartureIds, key.overflow, number);
}

bool IsDeparture(const BlockOperation& done) {
  return done.kind == Kind::kRelease && done.operation.id.starts_with(kDepartureIds);
}

std::string NameOf(const BlockOperation& done) {
  return fmt::format("{}{} {}", static_cast<char>(done.kind), done.operation.owner,
                     done.operation.id);
}

// All that was ever done to a block, in pages.
Status ForEachOperation(Volume& volume, const ContentKey& key,
                        const std::function<Status(const BlockOperation&)>& visit) {
  std::optional<BlockOperation> after;
  for (;;) {
    const Result<std::vector<BlockOperation>> page = volume.Operations(key, after, kPage);
    if (!page) return page.error();
    for (const BlockOperation& done : *page) {
      const Status visited = visit(done);
      if (!visited) return visited;
    }
    if (page->size() < kPage) return {};
    after = page->back();
  }
}

// Again while the answer is kBusy, for some seconds; at first without a pause where `eager`.
template <typename Try>
Status TryWhileBusy(const Try& attempt, bool eager) {
  milliseconds pause{1};
  for (int tries = 1;; ++tries) {
    const Status status = attempt();
    if (status || status.error().code != ErrorCode::kBusy || tries == kTriesMax) return status;
    if (eager && tries < kEagerTries) continue;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kPauseMax);
  }
}

}  // namespace

// ---- One mover at a time ----

MoveLease::MoveLease(Instance& instance, const Signature& signature, const std::string& id)
    : composition_(instance.composition()),
      request_{signature, 0, StoreMode::kCompare, "", {std::string(kMoveOwner), "mover/" + id}} {
  request_.home = {composition_.epoch, true, true, {}};
  home_ = instance.Find(composition_.volumes[composition_.HomeOf(signature)]);
}

// A claim that cannot be given back ends by itself.
MoveLease::~MoveLease() {
  if (home_ == nullptr) return;
  static_cast<void>(home_->GiveBack(request_.signature, request_.operation).ok());
}

Status MoveLease::Claim() {
  if (home_ == nullptr) {
    return Error{ErrorCode::kIo,
                 fmt::format("the home of {} does not answer", request_.signature.Hex())};
  }
  const auto now = steady_clock::now();
  const Result<Lookup> claimed = home_->Reference(request_);
  if (!claimed) return claimed.error();
  taken_ = now;
  return {};
}

Status MoveLease::Take(std::uint64_t size) {
  request_.size = size;
  return TryWhileBusy([&] { return Claim(); }, false);
}

Status MoveLease::Renew() {
  return steady_clock::now() - taken_ < kRenewalTime ? Status() : Claim();
}

Move::Move(Instance& instance, MoveLease& lease, MemberVolume& from, MemberVolume& to,
           ContentKey key)
    : instance_(instance),
      lease_(lease),
      from_(from),
      to_(to),
      key_(std::move(key)),
      composition_(instance.composition()) {}

// ---- Arriving and leaving ----

Result<Move::Outcome> Move::Run(const std::string& id) {
  const Result<Done> before = Look(false);
  if (!before) return before.error();
  const Result<BlockInfo> info = from_.Stat(key_);
  if (!info && info.error().code == ErrorCode::kNotFound) return Outcome::kGone;
  if (!info) return info.error();
  const Status copied = CopyContent(*info, id);
  if (!copied && copied.error().code == ErrorCode::kNotFound) return Outcome::kGone;
  if (!copied) return copied.error();
  const Operation leave = LeaveHold(to_.name(), id);
  Status left = lease_.Renew();
  if (left) left = from_.Refer(key_, leave);
  if (!left) {
    // Where it is not known whether it was done, the move is resumed.
    const bool is_refused = left.error().code != ErrorCode::kIo;
    const Status let_go = is_refused ? LetGo() : Status();
    if (!let_go) return let_go.error();
    if (left.error().code == ErrorCode::kNotFound) return Outcome::kGone;
    return left.error();
  }
  const Result<Done> after = Look(false);
  if (!after) return after.error();
  // The block can have become another one only when something was done to it.
  const Result<bool> same =
      after->operations == before->operations + 1 ? Result<bool>(true) : IsSame();
  if (!same) return same.error();
  return *same ? Complete() : Undo(leave);
}

// A move that has only arrived is continued, too: who began it may be about to. Only where the old
// block cannot leave any more is the new one let go.
Result<Move::Outcome> Move::Resume(std::optional<Arrival> arrival, const std::string& id) {
  arrival_ = std::move(arrival);
  const Result<std::vector<MoveHold>> holds = MoveHoldsOf(from_, key_);
  if (!holds) return holds.error();
  const auto leave = std::find_if(holds->begin(), holds->end(), [&](const MoveHold& hold) {
    return !hold.arrives && hold.volume == to_.name();
  });
  const Operation leaving = leave == holds->end() ? LeaveHold(to_.name(), id) : leave->operation;
  if (leave == holds->end()) {
    const Status left = from_.Refer(key_, leaving);
    const bool is_gone = !left && left.error().code == ErrorCode::kNotFound;
    if (!left && !is_gone) return left.error();
    if (is_gone) return AfterDeparture();
  }
  if (!arrival_) {
    const Result<BlockInfo> info = from_.Stat(key_);
    if (!info && info.error().code == ErrorCode::kNotFound) return AfterDeparture();
    if (!info) return info.error();
    const Status copied = CopyContent(*info, id);
    if (!copied) return copied.error();
  }
  const Result<std::optional<ContentKey>> logged = to_.MovedTo(key_);
  if (!logged) return logged.error();
  const Result<bool> same = *logged == arrival_->key ? Result<bool>(true) : IsSame();
  if (!same) return same.error();
  return *same ? Complete() : Undo(leaving);
}

// What is left to do when the old block is not there any more, or must not be used.
Result<Move::Outcome> Move::AfterDeparture() {
  const Result<std::optional<ContentKey>> moved = from_.MovedTo(key_);
  if (!moved) return moved.error();
  return *moved && (*moved)->volume == to_.name() ? Drop() : Undo(std::nullopt);
}

Status Move::CopyContent(const BlockInfo& info, const std::string& id) {
  const Result<std::uint32_t> unused = UnusedNumber();
  if (!unused) return unused.error();
  Result<std::unique_ptr<io::Source>> content = from_.Retrieve(key_);
  if (!content) return content.error();
  StoreRequest request{key_.signature, info.size, StoreMode::kCompare, "", ArrivalHold(key_, id)};
  request.overflow_min = *unused;
  request.home.epoch = composition_.epoch;
  if (ParseCompression(info.compression)) request.codec = info.compression;
  const Result<Stored> stored = to_.Store(request, **content);
  if (!stored) return stored.error();
  arrival_ = Arrival{stored->key, request.operation};
  return {};
}

// A number that blocks of other times had would have their operations.
Result<std::uint32_t> Move::UnusedNumber() {
  for (ContentKey key{to_.name(), key_.signature, 0};; ++key.overflow) {
    const Result<std::vector<BlockOperation>> done = to_.Operations(key, std::nullopt, 1);
    if (!done) return done.error();
    if (done->empty()) return key.overflow;
  }
}

// Where contents of one signature can differ.
Result<bool> Move::IsSame() {
  const Result<std::unique_ptr<io::Source>> old_content = from_.Retrieve(key_);
  if (!old_content) return old_content.error();
  const Result<std::unique_ptr<io::Source>> content = to_.Retrieve(arrival_->key);
  if (!content) return content.error();
  return HaveSameBytes(**old_content, **content);
}

Result<Move::Outcome> Move::Undo(const std::optional<Operation>& leave) {
  const Status stayed = leave ? from_.Delete(key_, *leave) : Status();
  if (!stayed && stayed.error().code != ErrorCode::kNotFound) return stayed.error();
  const Status let_go = LetGo();
  if (!let_go) return let_go.error();
  return Outcome::kUndone;
}

Result<Move::Outcome> Move::Complete() {
  Status status = to_.LogMove(key_, arrival_->key);
  if (status) status = LearnKnown();
  if (status) status = Depart();
  // Somebody else has let the new block go; it is stored again when the move is resumed.
  if (!status && status.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kBusy, status.error().text};
  }
  if (!status) return status.error();
  return Drop();
}

// ---- Copying what was done ----

// What was done at the new place under other numbers, by which the content may have been there
// before, is known there and would not count once more.
Status Move::LearnKnown() {
  known_.clear();
  copied_.clear();
  ContentKey there = arrival_->key;
  for (there.overflow = 0;; ++there.overflow) {
    const bool is_arrival = there.overflow == arrival_->key.overflow;
    bool is_used = is_arrival;
    const Status listed = ForEachOperation(to_, there, [&](const BlockOperation& done) {
      is_used = true;
      if (is_arrival) copied_.insert(NameOf(done));
      if (!is_arrival) known_.insert(done.operation.owner + ' ' + done.operation.id);
      return Status();
    });
    if (!listed) return listed;
    if (!is_used && there.overflow > arrival_->key.overflow) return {};
  }
}

// Such an operation gets another id, always the same. It begins with the old one where there is
// room: that may say something to its owner.
BlockOperation Move::Renamed(const BlockOperation& done) const {
  const std::string& id = done.operation.id;
  const std::uint64_t hash = RabinFingerprint(key_.Text() + ' ' + id);
  const std::string_view begin = id.size() <= kRenamedMax ? std::string_view(id) : "stele.again";
  return {done.kind, {done.operation.owner, fmt::format("{}~{:016X}", begin, hash)}};
}

Status Move::CopyOperation(const BlockOperation& done) {
  if (done.operation.owner == kMoveOwner || IsDeparture(done)) return {};
  const BlockOperation renamed = Renamed(done);
  if (copied_.contains(NameOf(done)) || copied_.contains(NameOf(renamed))) return {};
  const bool is_known = known_.contains(done.operation.owner + ' ' + done.operation.id);
  const Operation& operation = is_known ? renamed.operation : done.operation;
  const bool is_release = done.kind == Kind::kRelease;
  const Status status =
      is_release ? to_.Delete(arrival_->key, operation) : to_.Refer(arrival_->key, operation);
  const bool is_missing =
      !status && is_release &&
      (status.error().code == ErrorCode::kNotFound || status.error().code == ErrorCode::kBusy);
  if (!status && !is_missing) return status;
  // A release whose reference was made behind the reader's back is copied in the next round; where
  // the reference does not come, it has been released at the new place before.
  if (is_missing && refused_.insert(NameOf(done)).second) {
    return Error{ErrorCode::kBusy, fmt::format("{} changes all the time", key_.Text())};
  }
  copied_.insert(NameOf(done));
  return {};
}

// What is copied has been listed while the old block was still held.
Result<Move::Done> Move::Look(bool copy) {
  Done all;
  std::vector<BlockOperation> listed;
  Status status = ForEachOperation(from_, key_, [&](const BlockOperation& done) {
    ++all.operations;
    Count& count = all.owners[done.operation.owner];
    count.held += done.kind == Kind::kReference ? 1 : -1;
    if (IsDeparture(done)) ++count.departed;
    if (copy) listed.push_back(done);
    return Status();
  });
  if (!status) return status.error();
  if (!copy) return all;
  const Result<std::uint64_t> held = from_.Held(key_, std::string(kMoveOwner));
  if (!held) return held.error();
  if (*held == 0) {
    return Error{ErrorCode::kNotFound, fmt::format("{} has gone already", key_.Text())};
  }
  for (const BlockOperation& done : listed) {
    status = lease_.Renew();
    if (status) status = CopyOperation(done);
    if (!status) return status.error();
  }
  return all;
}

// ---- Departing ----

Status Move::Depart() {
  bool told = false;
  return TryWhileBusy(
      [&]() -> Status {
        const Result<Done> done = Look(true);
        if (!done) return done.error();
        const Status alone = lease_.Renew();
        if (!alone) return alone;
        if (!told) {
          Status status = TellHome();
          if (status) status = HandOnFormerKeys();
          if (!status) return status;
          told = true;
        }
        // Once more: what was copied is durable.
        const Status logged = to_.LogMove(key_, arrival_->key);
        return logged ? from_.Depart(key_, arrival_->key, done->operations) : logged;
      },
      true);
}

// The lease sees to it that no client has asked the home before and finds the content nowhere
// afterwards.
Status Move::TellHome() {
  MemberVolume& home = lease_.home();
  if (home.name() == to_.name()) return {};
  const Status published =
      home.Publish({composition_.epoch, to_.name(), {key_.signature}, std::nullopt});
  if (!published || home.name() == from_.name()) return published;
  return home.LogMove(key_, arrival_->key);
}

// Keys of earlier places lead straight to the new one, also when the old volume leaves the
// instance.
Status Move::HandOnFormerKeys() {
  const Result<std::vector<ContentKey>> former = from_.FormerKeys(key_);
  if (!former) return former.error();
  for (const ContentKey& old : *former) {
    if (old == arrival_->key) continue;
    Status told = to_.LogMove(old, arrival_->key);
    if (told) told = lease_.home().LogMove(old, arrival_->key);
    if (!told) return told;
    // For shorter ways: what it knows stays true.
    MemberVolume* first = instance_.Find(old.volume);
    if (first != nullptr) static_cast<void>(first->LogMove(old, arrival_->key).ok());
  }
  return {};
}

// ---- After the departure ----

Result<Move::Outcome> Move::Drop() {
  for (;;) {
    const Result<Done> done = Look(false);
    if (!done) return done.error();
    bool is_left = false;
    for (const auto& [owner, count] : done->owners) {
      for (std::int64_t i = 0; i < count.held; ++i) {
        const std::uint64_t number = count.departed + static_cast<std::uint64_t>(i);
        const Status released = from_.Delete(key_, {owner, DepartureId(key_, number)});
        // Somebody else may finish the move at the same time.
        if (!released && released.error().code != ErrorCode::kNotFound) return released.error();
        is_left |= released.ok();
      }
    }
    if (is_left) continue;
    const Status let_go = LetGo();
    if (!let_go) return let_go.error();
    return Outcome::kMoved;
  }
}

Status Move::LetGo() {
  if (!arrival_) return {};
  const Status released = to_.Delete(arrival_->key, arrival_->hold);
  // It has moved on meanwhile.
  if (!released && released.error().code == ErrorCode::kNotFound) return {};
  return released;
}

}  // namespace stele::store
