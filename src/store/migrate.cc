#include "store/migrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "store/copies.h"

namespace stele::store {
namespace {

constexpr std::size_t kPage = 1000;
constexpr int kTriesMax = 50;
constexpr std::chrono::milliseconds kPause{20};
constexpr int kFailuresMax = 20;  // one after another

// What lists that begin with the first block of the signature come after.
std::optional<BlockId> Before(const Signature& signature) {
  std::string bytes(signature.bytes());
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    if ((*byte)-- != 0) return BlockId{Signature(bytes), UINT32_MAX};
  }
  return std::nullopt;
}

Error NotAMember(const std::string& volume) {
  return {ErrorCode::kNotFound, fmt::format("there is no volume {} here", volume)};
}

Error NoAnswer(const std::string& volume) {
  return {ErrorCode::kIo, fmt::format("volume {} does not answer", volume)};
}

}  // namespace

// Counts contents and decides which errors end everything. Thread-safe.
class Mover::Tally {
 public:
  Tally(const MigrateOptions& options, Migrated& migrated)
      : options_(options), migrated_(migrated) {}

  int threads() const { return options_.blocks_max > 0 ? 1 : options_.threads; }
  bool IsEnough() const {
    const std::lock_guard lock(mutex_);
    return options_.blocks_max > 0 && migrated_.blocks >= options_.blocks_max;
  }

  Status Count(const ContentKey& key, std::uint64_t size, const Result<bool>& moved) {
    const std::lock_guard lock(mutex_);
    if (moved) {
      in_a_row_ = 0;
      if (*moved) ++migrated_.blocks;
      if (*moved) migrated_.content_bytes += size;
    } else {
      const ErrorCode code = moved.error().code;
      if (code == ErrorCode::kFull || code == ErrorCode::kOutdated) return moved.error();
      ++migrated_.failed;
      if (options_.report) options_.report({key.Text(), code, moved.error().text});
      if (++in_a_row_ >= kFailuresMax && code == ErrorCode::kIo) return moved.error();
    }
    if (options_.progress) options_.progress(migrated_);
    return {};
  }

 private:
  const MigrateOptions& options_;
  mutable std::mutex mutex_;  // of all below
  Migrated& migrated_;
  int in_a_row_ = 0;
};

std::string Mover::NewId() {
  const std::lock_guard lock(mutex_);
  return fmt::format("{:016x}", random_.Next());
}

// ---- What was interrupted ----

Result<std::vector<ContentKey>> Mover::HeldBlocks(MemberVolume& member,
                                                  const Signature& signature) {
  std::vector<ContentKey> keys;
  const std::string owner(kMoveOwner);
  const Result<OwnerUsage> usage = member.UsageOf(owner);
  if (!usage) return usage.error();
  if (usage->references == 0) return keys;
  const Result<std::vector<ListedBlock>> listed = member.List({Before(signature), kPage, owner});
  if (!listed) return listed.error();
  for (const ListedBlock& block : *listed) {
    if (block.block.signature != signature) break;
    keys.push_back({member.name(), signature, block.block.overflow});
  }
  return keys;
}

Result<std::optional<Move::Arrival>> Mover::FindArrival(MemberVolume& to, const ContentKey& from) {
  const Result<std::vector<ContentKey>> keys = HeldBlocks(to, from.signature);
  if (!keys) return keys.error();
  for (const ContentKey& key : *keys) {
    const Result<std::vector<MoveHold>> holds = MoveHoldsOf(to, key);
    if (!holds) return holds.error();
    for (const MoveHold& hold : *holds) {
      if (hold.arrives && hold.volume == from.volume && hold.overflow == from.overflow) {
        return std::optional(Move::Arrival{key, hold.operation});
      }
    }
  }
  return std::optional<Move::Arrival>();
}

Result<bool> Mover::FinishHold(MoveLease& lease, MemberVolume& member, const ContentKey& key,
                               const MoveHold& hold) {
  if (instance_.Find(hold.volume) == nullptr) {
    const std::vector<std::string> volumes = instance_.composition().volumes;
    const bool may_come_back =
        std::find(volumes.begin(), volumes.end(), hold.volume) != volumes.end();
    if (may_come_back) return NoAnswer(hold.volume);
    // The last one that holds a content is the last hope for it.
    const Result<BlockInfo> info = member.Stat(key);
    if (!info) return info.error();
    if (hold.arrives && info->references == 1) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("volume {}, from which it came, has left; nobody else refers to it",
                               hold.volume)};
    }
    const Status released = member.Delete(key, hold.operation);
    if (!released) return released.error();
    return false;
  }
  return hold.arrives ? FinishArrival(lease, member, key, hold)
                      : FinishLeave(lease, member, key, hold);
}

Result<bool> Mover::FinishArrival(MoveLease& lease, MemberVolume& member, const ContentKey& key,
                                  const MoveHold& hold) {
  MemberVolume* from = instance_.Find(hold.volume);
  if (from == nullptr) return NoAnswer(hold.volume);
  Move move(instance_, lease, *from, member, {hold.volume, key.signature, hold.overflow});
  const auto finished = move.Resume(Move::Arrival{key, hold.operation}, NewId());
  if (!finished) return finished.error();
  return *finished == Move::Outcome::kMoved;
}

Result<bool> Mover::FinishLeave(MoveLease& lease, MemberVolume& member, const ContentKey& key,
                                const MoveHold& hold) {
  MemberVolume* to = instance_.Find(hold.volume);
  if (to == nullptr) return NoAnswer(hold.volume);
  Result<std::optional<Move::Arrival>> arrival = FindArrival(*to, key);
  if (!arrival) return arrival.error();
  const auto finished =
      Move(instance_, lease, member, *to, key).Resume(*std::move(arrival), NewId());
  if (!finished) return finished.error();
  return *finished == Move::Outcome::kMoved;
}

Result<bool> Mover::FinishBlock(MoveLease& lease, MemberVolume& member, const ContentKey& key) {
  const Result<std::vector<MoveHold>> holds = MoveHoldsOf(member, key);
  if (!holds) return holds.error();
  bool moved = false;
  for (const MoveHold& hold : *holds) {
    const Result<bool> finished = FinishHold(lease, member, key, hold);
    if (!finished) return finished.error();
    moved |= *finished;
  }
  return moved;
}

Status Mover::FinishMember(MemberVolume& member, const MigrateOptions& options,
                           Migrated& migrated) {
  const std::string owner(kMoveOwner);
  const Result<OwnerUsage> usage = member.UsageOf(owner);
  if (!usage) return usage.error();
  if (usage->references == 0) return {};
  Tally tally(options, migrated);
  ListRequest request{std::nullopt, kPage, owner};
  for (;;) {
    const Result<std::vector<ListedBlock>> page = member.List(request);
    if (!page) return page.error();
    for (const ListedBlock& listed : *page) {
      const ContentKey key{member.name(), listed.block.signature, listed.block.overflow};
      MoveLease lease(instance_, key.signature, NewId());
      const Status taken = lease.Take(listed.size);
      const Result<bool> finished =
          taken ? FinishBlock(lease, member, key) : Result<bool>(taken.error());
      const Status counted = tally.Count(key, listed.size, finished);
      if (!counted) return counted;
    }
    if (page->size() < kPage) return {};
    request.after = page->back().block;
  }
}

Result<Migrated> Mover::FinishMoves(const MigrateOptions& options) {
  Migrated migrated;
  for (MemberVolume* member : instance_.volumes()) {
    const Status finished = FinishMember(*member, options, migrated);
    if (finished) continue;
    if (finished.error().code == ErrorCode::kOutdated) return finished.error();
    ++migrated.failed;
    if (options.report)
      options.report({member->name(), finished.error().code, finished.error().text});
  }
  return migrated;
}

// ---- Moving ----

// Errors: kBusy when it is to be tried again.
Result<bool> Mover::MoveOnce(MemberVolume& from, MemberVolume& to, const ContentKey& key) {
  const Result<BlockInfo> info = from.Stat(key);
  MoveLease lease(instance_, key.signature, NewId());
  const Status taken = lease.Take(info ? info->size : 0);
  if (!taken) return taken.error();
  const Result<bool> finished = FinishBlock(lease, from, key);
  if (!finished) return finished.error();
  const Result<std::optional<ContentKey>> moved = from.MovedTo(key);
  if (!moved) return moved.error();
  if (*moved) {
    // Somebody was interrupted when little was left to do.
    MemberVolume* there = instance_.Find((*moved)->volume);
    if (there == nullptr) return NoAnswer((*moved)->volume);
    const auto dropped = Move(instance_, lease, from, *there, key).Resume(std::nullopt, NewId());
    if (!dropped) return dropped.error();
    return *finished;
  }
  const Result<Move::Outcome> outcome = Move(instance_, lease, from, to, key).Run(NewId());
  if (outcome && *outcome == Move::Outcome::kUndone) {
    return Error{ErrorCode::kBusy, fmt::format("{} changes all the time", key.Text())};
  }
  if (outcome) return *outcome == Move::Outcome::kMoved;
  if (outcome.error().code != ErrorCode::kBusy) return outcome.error();
  // Another move has the block at the new place; it may have been interrupted.
  const Result<std::vector<ContentKey>> held = HeldBlocks(to, key.signature);
  if (!held) return held.error();
  for (const ContentKey& other : *held) {
    const Result<bool> freed = FinishBlock(lease, to, other);
    if (!freed) return freed.error();
  }
  return outcome.error();
}

Result<bool> Mover::MoveContent(MemberVolume& from, MemberVolume& to, const ContentKey& key) {
  for (int tries = 1;; ++tries) {
    const Result<bool> moved = MoveOnce(from, to, key);
    if (moved || moved.error().code != ErrorCode::kBusy || tries == kTriesMax) return moved;
    std::this_thread::sleep_for(kPause);
  }
}

Status Mover::MovePage(MemberVolume& from, MemberVolume& to, std::span<const ListedBlock> page,
                       Tally& tally) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  std::mutex mutex;  // of status
  Status status;
  const auto work = [&] {
    while (!stopped && !tally.IsEnough()) {
      const std::size_t place = next++;
      if (place >= page.size()) return;
      const ListedBlock& listed = page[place];
      const ContentKey key{from.name(), listed.block.signature, listed.block.overflow};
      const Status counted = tally.Count(key, listed.size, MoveContent(from, to, key));
      if (counted) continue;
      stopped = true;
      const std::lock_guard lock(mutex);
      status = counted;
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < tally.threads(); ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return status;
}

Status Mover::MigrateAll(MemberVolume& from, MemberVolume& to, const MigrateOptions& options,
                         Migrated& migrated) {
  Tally tally(options, migrated);
  ListRequest request{std::nullopt, kPage, ""};
  for (;;) {
    const Result<std::vector<ListedBlock>> page = from.List(request);
    if (!page) return page.error();
    const Status moved = MovePage(from, to, *page, tally);
    if (!moved) return moved;
    if (page->size() < kPage || tally.IsEnough()) return {};
    request.after = page->back().block;
  }
}

// Contents that have moved are where they were wanted, or elsewhere; they are not looked for.
Status Mover::MigrateKeys(MemberVolume& from, MemberVolume& to, const MigrateOptions& options,
                          Migrated& migrated) {
  Tally tally(options, migrated);
  for (const ContentKey& key : options.keys) {
    if (tally.IsEnough()) return {};
    const Result<BlockInfo> info = from.Stat(key);
    const Result<std::optional<ContentKey>> moved = from.MovedTo(key);
    if (!moved) return moved.error();
    Result<bool> done = info ? MoveContent(from, to, key) : info.error();
    if (!info && *moved) done = MoveContent(from, to, key);
    const Status counted = tally.Count(key, info ? info->size : 0, done);
    if (!counted) return counted;
  }
  return {};
}

Result<Migrated> Mover::Migrate(const std::string& from, const std::string& to,
                                const MigrateOptions& options) {
  MemberVolume* source = instance_.Find(from);
  MemberVolume* target = instance_.Find(to);
  if (source == nullptr) return NotAMember(from);
  if (target == nullptr) return NotAMember(to);
  if (source == target) return Error{ErrorCode::kInvalid, "contents move to another volume"};
  for (const ContentKey& key : options.keys) {
    if (key.volume == from) continue;
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} is not a key of volume {}", key.Text(), from)};
  }
  Result<Migrated> migrated = FinishMoves(options);
  if (!migrated) return migrated;
  const Status done = options.keys.empty() ? MigrateAll(*source, *target, options, *migrated)
                                           : MigrateKeys(*source, *target, options, *migrated);
  if (!done) return done.error();
  return migrated;
}

Status Mover::Merge(const Signature& signature, MemberVolume& from, MemberVolume& to) {
  if (from.name() == to.name()) return {};
  ListRequest request{Before(signature), kPage, ""};
  const Result<std::vector<ListedBlock>> there = to.List({request.after, 1, ""});
  if (!there) return there.error();
  if (there->empty() || there->front().block.signature != signature) return {};
  for (;;) {
    const Result<std::vector<ListedBlock>> page = from.List(request);
    if (!page) return page.error();
    for (const ListedBlock& listed : *page) {
      if (listed.block.signature != signature) return {};
      const ContentKey key{from.name(), signature, listed.block.overflow};
      const Result<std::uint64_t> copies = from.Held(key, std::string(Copies::kOwner));
      if (!copies) return copies.error();
      if (*copies > 0) continue;
      const Result<bool> moved = MoveContent(from, to, key);
      if (!moved && moved.error().code == ErrorCode::kFull) return {};
      if (!moved) return moved.error();
    }
    if (page->size() < kPage) return {};
    request.after = page->back().block;
  }
}

}  // namespace stele::store
