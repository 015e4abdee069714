#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "io/random.h"
#include "store/move.h"

namespace stele::store {

struct Migrated {
  std::uint64_t blocks = 0;
  std::uint64_t content_bytes = 0;
  std::uint64_t failed = 0;  // contents that stay where they are, or on their way, for now
};

struct MigrateOptions {
  std::uint64_t blocks_max = 0;       // 0: all
  std::vector<ContentKey> keys = {};  // none: all contents of the volume
  int threads = 1;                    // contents that are moved at a time; with blocks_max one
  // Of contents that failed, and after each content; by one thread at a time.
  std::function<void(const Finding&)> report = {};
  std::function<void(const Migrated&)> progress = {};
};

// Moves contents between the members of an instance while clients read and write. Old keys stay
// good: whoever uses one is sent to the new place, also when the old volume has left the instance.
// What was interrupted anywhere is finished later: nothing is lost or counted twice.
//
// Any number of movers may work at once. Thread-safe. Borrows both for life.
class Mover {
 public:
  Mover(Instance& instance, io::Random& random) : instance_(instance), random_(random) {}

  // First finishes the moves that were interrupted. Errors: kInvalid when the volumes are the same;
  // kNotFound when one is no member; kFull when the new volume takes no more, or the old one no
  // releases; those of volumes. What has moved until then has moved.
  Result<Migrated> Migrate(const std::string& from, const std::string& to,
                           const MigrateOptions& options);

  // Moves all contents of a signature of which both have some: where both have a content, one block
  // is left. Copies (copies.h) stay, and what cannot move because one of them takes nothing.
  // Errors: kBusy when clients or other movers are in the way for long; those of volumes.
  Status Merge(const Signature& signature, MemberVolume& from, MemberVolume& to);

  // Finishes the moves that were interrupted, from and to all members. Those from and to volumes
  // that do not answer are reported and left.
  Result<Migrated> FinishMoves(const MigrateOptions& options);

 private:
  class Tally;

  std::string NewId();
  // The blocks of the signature at a member that are held by moves.
  Result<std::vector<ContentKey>> HeldBlocks(MemberVolume& member, const Signature& signature);
  Result<std::optional<Move::Arrival>> FindArrival(MemberVolume& to, const ContentKey& from);
  // Whether a move was completed by it.
  Result<bool> FinishHold(MoveLease& lease, MemberVolume& member, const ContentKey& key,
                          const MoveHold& hold);
  Result<bool> FinishArrival(MoveLease& lease, MemberVolume& member, const ContentKey& key,
                             const MoveHold& hold);
  Result<bool> FinishLeave(MoveLease& lease, MemberVolume& member, const ContentKey& key,
                           const MoveHold& hold);
  // Errors: of the first hold that could not be finished.
  Result<bool> FinishBlock(MoveLease& lease, MemberVolume& member, const ContentKey& key);
  Status FinishMember(MemberVolume& member, const MigrateOptions& options, Migrated& migrated);

  Result<bool> MoveOnce(MemberVolume& from, MemberVolume& to, const ContentKey& key);
  // Whether it was moved: contents that are gone are not.
  Result<bool> MoveContent(MemberVolume& from, MemberVolume& to, const ContentKey& key);
  Status MovePage(MemberVolume& from, MemberVolume& to, std::span<const ListedBlock> page,
                  Tally& tally);
  Status MigrateAll(MemberVolume& from, MemberVolume& to, const MigrateOptions& options,
                    Migrated& migrated);
  Status MigrateKeys(MemberVolume& from, MemberVolume& to, const MigrateOptions& options,
                     Migrated& migrated);

  Instance& instance_;
  io::Random& random_;
  std::mutex mutex_;  // of random_
};

}  // namespace stele::store
