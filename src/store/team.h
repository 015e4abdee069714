#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/member_volume.h"

namespace stele::store {

// The members of an instance in one epoch, as one client sees them: which of them answer, and which
// may hold contents that their homes have not been told of. Thread-safe.
class Team {
 public:
  // Borrows the members; those of the composition that are missing do not answer. A member that
  // failed is not asked again for `down_time` where another can stand in.
  Team(Composition composition, std::string connector, std::vector<MemberVolume*> members,
       std::chrono::milliseconds down_time);

  const Composition& composition() const { return composition_; }
  const std::string& connector() const { return connector_; }
  // Null when it is missing.
  MemberVolume* Find(std::string_view volume) const;
  // In the order of the composition, without those that are missing.
  std::vector<MemberVolume*> Members() const;

  // The members in the order in which they are asked for a signature: the home first, those that
  // failed a moment ago last.
  std::vector<MemberVolume*> OrderFor(const Signature& signature) const;
  void NoteFailure(const MemberVolume& member);

  // Members that may hold a content of which its home says nothing. Asks all members first, once
  // in a while, until all are settled. Errors: kOutdated, when `outdated` is the member that knows
  // another epoch.
  Result<std::vector<MemberVolume*>> Holders(const Signature& signature, MemberVolume*& outdated);

 private:
  struct Filters {
    bool all_settled = false;
    std::chrono::steady_clock::time_point made = {};
    std::vector<std::pair<MemberVolume*, SignatureFilter>> members = {};
  };

  Result<std::shared_ptr<const Filters>> AskFilters(MemberVolume*& outdated);

  const Composition composition_;
  const std::string connector_;
  std::vector<MemberVolume*> members_;  // by their place in the composition; null: missing
  const std::chrono::milliseconds down_time_;

  std::mutex asking_;         // whoever asks for filters
  mutable std::mutex mutex_;  // of all below
  std::shared_ptr<const Filters> filters_;
  std::vector<std::chrono::steady_clock::time_point> down_until_;  // by place
};

}  // namespace stele::store
