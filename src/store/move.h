#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/instance.h"
#include "store/move_hold.h"

// How one content moves to another member while clients read and write. Each step is durable before
// the next begins and can be repeated by anybody:
//
//   arrive   the block is stored at the new place, held there for the mover. Whoever asks for the
//            content there is still sent to the old place.
//   leave    the old block is held, too: from now on it is the same one until the move is finished.
//            A block that is held by a move takes part in no other one, so that moves never cross.
//   log      the new volume logs the move, and lets others refer to the block
//   copy     what was ever done to the block is done at the new place, with the same owners and ids
//   tell     the home learns of the new place
//   depart   the old volume logs the move, unless something has been done to the block since it was
//            copied: then that is copied first. From now on everybody is sent to the new place.
//   drop     the old block's references are released, and it goes
//   let go   the new block is no longer held for the mover
//
// Until "log" nothing has changed for anybody, and a move that was interrupted before is undone.
// Later ones are finished.
namespace stele::store {

// Sees to it that one mover at a time works on the contents of a signature, by a claim at their
// home, which ends by itself when the mover dies. Clients that store such a content elsewhere than
// at its home wait meanwhile. Not thread-safe. Borrows the instance for life.
class MoveLease {
 public:
  MoveLease(Instance& instance, const Signature& signature, const std::string& id);
  ~MoveLease();
  MoveLease(const MoveLease&) = delete;
  MoveLease& operator=(const MoveLease&) = delete;

  // Waits for others, for some seconds. A content of `size` bytes takes longer to move. Errors: kIo
  // when the home does not answer; kBusy.
  Status Take(std::uint64_t size);
  // To be called before each step that takes long or must not be done by two. Errors: as Take(),
  // also when somebody else has come in between.
  Status Renew();

  MemberVolume& home() const { return *home_; }

 private:
  Status Claim();

  const Composition composition_;
  StoreRequest request_;
  MemberVolume* home_ = nullptr;  // null: it does not answer
  std::chrono::steady_clock::time_point taken_ = {};
};

// Not thread-safe. Borrows the members and the lease, which has been taken, for life.
class Move {
 public:
  enum class Outcome {
    kMoved,
    kGone,    // the content was deleted, or somebody else has moved it
    kUndone,  // it had only begun
  };
  // A block at the new place that is held for this move.
  struct Arrival {
    ContentKey key;
    Operation hold;
  };

  Move(Instance& instance, MoveLease& lease, MemberVolume& from, MemberVolume& to, ContentKey key);

  // From the begin; `id` was never used. Errors: kBusy when one of the blocks takes part in another
  // move, or changes too fast; kFull when the new volume takes no more.
  Result<Outcome> Run(const std::string& id);
  // Finishes or undoes what has begun. `id` as above, in case the content has to be stored again.
  Result<Outcome> Resume(std::optional<Arrival> arrival, const std::string& id);

 private:
  struct Count {
    std::int64_t held = 0;
    std::uint64_t departed = 0;
  };
  struct Done {
    std::uint64_t operations = 0;
    std::map<std::string, Count> owners = {};
  };

  Status CopyContent(const BlockInfo& info, const std::string& id);
  Result<std::uint32_t> UnusedNumber();
  Result<bool> IsSame();
  Result<Outcome> Undo(const std::optional<Operation>& leave);
  Result<Outcome> AfterDeparture();
  Result<Outcome> Complete();
  Status LearnKnown();
  BlockOperation Renamed(const BlockOperation& done) const;
  Status CopyOperation(const BlockOperation& done);
  Result<Done> Look(bool copy);
  Status Depart();
  Status TellHome();
  Status HandOnFormerKeys();
  Result<Outcome> Drop();
  Status LetGo();

  Instance& instance_;
  MoveLease& lease_;
  MemberVolume& from_;
  MemberVolume& to_;
  const ContentKey key_;
  const Composition composition_;
  std::optional<Arrival> arrival_;
  std::set<std::string> known_;   // at the new place, from earlier times: owners and ids
  std::set<std::string> copied_;  // what has been done to the new block
  std::set<std::string> refused_;
};

}  // namespace stele::store
