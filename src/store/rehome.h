#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/instance.h"

namespace stele::store {

struct RehomeOptions {
  std::size_t batch = 1000;  // stubs in one request
  // Told after each batch: whose contents, and how many of its blocks have been looked at.
  std::function<void(const std::string& volume, std::uint64_t blocks)> progress = {};
  // Called for contents of a signature that `newcomer` stored while their home, or `other`, which
  // may hold them, did not answer, when the home has been told: both may have a block of one now.
  // Null: both stay. See Mover::Merge().
  std::function<Status(const Signature& signature, MemberVolume& newcomer, MemberVolume& other)>
      merge = {};
};

struct Rehomed {
  std::uint64_t stubs = 0;           // that homes were told
  std::uint64_t settled = 0;         // members
  std::vector<Error> failures = {};  // of members that did not answer: call again when they do
};

// Begins the instance's epoch at every member, and tells the homes what lies elsewhere. Clients
// read and write meanwhile. Again after a crash or a failure, it goes on where it has to.
// Errors: kOutdated when a member knows a newer epoch; kInvalid when a member has lost its
// directory, so that the epoch must be raised first.
Result<Rehomed> Rehome(Instance& instance, const RehomeOptions& options);

}  // namespace stele::store
