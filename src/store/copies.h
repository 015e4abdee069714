#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/random.h"
#include "store/instance.h"

namespace stele::store {

// Copies of contents on other volumes than the one that their key names, for the day that volume
// dies. A copy is a block as any other, held by the owner "stele.copy", whose operation ids name
// the original: "tomba-1.0/<uuid>" for tomba-1:ADEE2232AF3A4355. It has no count: references and
// releases go to the original alone. When the original moves, its copies stay its copies.
// Thread-safe. Borrows both for life.
class Copies {
 public:
  static constexpr std::string_view kOwner = "stele.copy";

  Copies(Instance& instance, io::Random& random) : instance_(instance), random_(random) {}

  // Sees to it that the content is on `copies` volumes, that of the original included; what is
  // missing is made from whatever can be read. Returns on how many it is: fewer when not enough
  // volumes take it. Errors: those of reading when neither original nor copy can be read.
  Result<int> Ensure(const ContentKey& original, int copies);

  // The content from its original or, where that is dead, missing or damaged, from a copy, also
  // when the damage shows after the first bytes. Errors: those of the original when there is no
  // copy; the stream ends in kCorrupt when bytes that were handed out turn out to be wrong.
  Result<std::unique_ptr<io::Source>> Retrieve(const ContentKey& original);

  // As Instance::Delete(); with the last reference the copies go as well. A copy on a volume that
  // is dead at that moment is left to Repair().
  Status Delete(const ContentKey& original, const Operation& operation);

  struct Repaired {
    std::uint64_t contents = 0;  // that were looked at
    std::uint64_t made = 0;      // copies that were missing
    std::uint64_t restored = 0;  // originals whose bytes were damaged or missing
    std::uint64_t released = 0;  // copies whose original is gone
    std::uint64_t failed = 0;    // contents that could not be brought to that number of copies
  };
  struct RepairOptions {
    int copies = 2;
    bool read_everything = true;  // false: bytes are believed to be what they were
    std::function<void(const Finding&)> report = [](const Finding&) {};
    std::function<void(const Repaired&)> progress = [](const Repaired&) {};
  };
  // Goes through all volumes. Whatever else happens to the store meanwhile may be missed.
  // Errors: only those that make going on impossible.
  Result<Repaired> Repair(const RepairOptions& options);

 private:
  class Stream;
  struct Place {
    Volume* volume;
    ContentKey key;
  };
  struct Copy {
    Volume* volume;
    ContentKey key;
    Operation reference;  // that holds it
  };
  enum class Health : std::uint8_t { kGood, kDamaged, kUnreachable };

  Operation NewReference(const ContentKey& original);
  bool IsCopyOf(const Operation& reference, const ContentKey& original) const;
  ContentKey PresentKey(const ContentKey& original) const;
  std::vector<Copy> FindCopies(const ContentKey& original);
  Health HealthOf(Volume& volume, const ContentKey& key, bool read);
  Result<int> Complete(const ContentKey& original, const RepairOptions& options,
                       Repaired& repaired);
  Status CopyTo(Volume& volume, const ContentKey& original, const Place& from,
                const BlockInfo& info);
  Status CompleteOrSay(const ContentKey& original, const RepairOptions& options,
                       Repaired& repaired);
  Status RepairCopy(Volume& volume, const ContentKey& key, const RepairOptions& options,
                    Repaired& repaired);
  void RepairBlock(Volume& volume, const ListedBlock& listed, const RepairOptions& options,
                   Repaired& repaired);

  Instance& instance_;
  io::Random& random_;
  std::mutex mutex_;  // of random_
};

}  // namespace stele::store
