#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include "store/signature.h"
#include "store/volume.h"

namespace stele::store {

// What goes on with contents at their home: whose blocks are made here right now, and which ones a
// client has claimed to store them elsewhere. A claim ends by itself some time after it was made,
// whatever becomes of the client. Thread-safe.
class Claims {
 public:
  // A claim of a content lasts `time`, and a second more for each 10 MB of it.
  explicit Claims(std::chrono::milliseconds time) : time_(time) {}

  // Looks whether the request may go on, and makes its claim where it wants one. False: another
  // operation has claimed the content, or a block of it is being made that a claim has to wait for.
  bool Ask(const StoreRequest& request);
  // The operation that has claimed the content.
  std::optional<Operation> ClaimedBy(const Signature& signature) const;
  void End(const Signature& signature, const Operation& operation);

  // False: another operation has claimed the content. Otherwise EndStoring() follows.
  bool BeginStoring(const StoreRequest& request);
  void EndStoring(const Signature& signature);

  // Signatures that are known; claims that have ended by themselves may be among them for a while.
  std::size_t size() const;

 private:
  using Moment = std::chrono::steady_clock::time_point;
  struct Entry {
    int storing = 0;
    std::optional<Operation> claimed_by = {};
    Moment claimed_until = {};

    bool IsClaimed(Moment now) const { return claimed_by && claimed_until > now; }
    bool IsClaimedByAnother(const Operation& operation, Moment now) const {
      return IsClaimed(now) && *claimed_by != operation;
    }
  };

  const std::chrono::milliseconds time_;
  mutable std::mutex mutex_;  // of all below
  std::map<Signature, Entry> entries_;
  std::size_t swept_at_ = 1000;  // with so many signatures, claims that have ended are looked for
};

}  // namespace stele::store
