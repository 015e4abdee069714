#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/instance.h"

// How one content moves to another member while clients read and write. Each step is durable before
// the next begins and can be repeated, by anybody and by several at once:
//
//   arrive   the block is stored at the new place, held there for the mover
//   leave    the old block is held, too: from now on it is the same one until the move is finished.
//            A block that is held by a move takes part in no other one, so that moves never cross.
//   log      the new volume logs the move
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

// A reference by which a move holds a block.
struct MoveHold {
  bool arrives = false;  // at its new place; otherwise it leaves its old one
  // Where it comes from, or the volume it goes to.
  std::string volume;
  std::uint32_t overflow = 0;  // where it comes from
  Operation operation;
};

// Those of one block; more than one only for a moment.
Result<std::vector<MoveHold>> MoveHoldsOf(Volume& volume, const ContentKey& key);

// Not thread-safe. Borrows the members for life.
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

  Move(Instance& instance, MemberVolume& from, MemberVolume& to, ContentKey key);

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
  MemberVolume& from_;
  MemberVolume& to_;
  const ContentKey key_;
  const Composition composition_;
  MemberVolume* home_ = nullptr;  // null: it does not answer
  std::optional<Arrival> arrival_;
  std::set<std::string> known_;   // at the new place, from earlier times: owners and ids
  std::set<std::string> copied_;  // what has been done to the new block
  std::set<std::string> refused_;
};

}  // namespace stele::store
