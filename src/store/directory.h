#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/container_table.h"
#include "store/content_key.h"
#include "util/result.h"

namespace stele::store {

// What a member of an instance knows about contents that lie elsewhere. Durable when a call
// succeeds. docs/formats/member.md has the rows. Thread-safe.
//
//   stubs     a signature whose home is here: volumes that may hold its contents. One that does
//             not, because the content was deleted, costs a question, nothing else.
//   moves     a key that is no longer good, and the one that is good instead
//   arrivals  the same seen from the new key, at the volume that it names
//   owed      signatures that this member looked after while their home, or one who may hold
//             their contents, did not answer, and that the home is still to be told of
class Directory {
 public:
  // Takes a table whose writes are durable. A table without rows becomes the directory of
  // `volume`. Errors: kCorrupt when it had to be there already, or is another volume's.
  static Result<std::unique_ptr<Directory>> Open(std::unique_ptr<BlockTable> table,
                                                 const std::string& volume, bool must_exist);

  // One durable write, or none when all are known.
  Status AddStubs(std::span<const Signature> signatures, const std::string& volume);
  // By name.
  Result<std::vector<std::string>> Holders(const Signature& signature) const;

  Status AddMove(const ContentKey& from, const ContentKey& to);
  Result<std::optional<ContentKey>> MovedTo(const ContentKey& from) const;
  // The moves from blocks of `volume` with this signature.
  struct Move {
    ContentKey from;
    ContentKey to;
  };
  Result<std::vector<Move>> MovesOf(const std::string& volume, const Signature& signature) const;
  // The old keys of moves to `to`, a key of this volume.
  Result<std::vector<ContentKey>> FormerKeys(const ContentKey& to) const;
  // Moves to this volume, by their new keys; `after` is the last one of the call before.
  Result<std::vector<Move>> Arrivals(const std::optional<Move>& after, std::size_t limit) const;

  Status Owe(const Signature& signature);
  // In order, behind `after`.
  Result<std::vector<Signature>> Owed(const std::optional<Signature>& after,
                                      std::size_t limit) const;
  Status Forget(std::span<const Signature> owed);

 private:
  Directory(std::unique_ptr<BlockTable> table, std::string volume);

  Result<bool> HasRows(const std::string& prefix) const;
  Status Put(const BlockTable::Changes& rows);

  const std::unique_ptr<BlockTable> table_;
  const std::string volume_;
  // Most directories have none, and then nobody has to look.
  std::atomic<bool> has_stubs_ = false;
  std::atomic<bool> has_moves_ = false;
};

}  // namespace stele::store
