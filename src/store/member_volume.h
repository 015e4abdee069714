#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/directory.h"
#include "store/membership.h"
#include "store/move_hold.h"
#include "store/signature_filter.h"
#include "store/volume.h"

namespace stele::store {

// Where contents lie, for their home.
struct Stubs {
  std::uint64_t epoch = 0;
  std::string volume = {};
  std::vector<Signature> signatures = {};
  // Ends the claim that this operation has on the first of them.
  std::optional<Operation> claimed_by = {};
};

// A signature that a member looked after while its home, or a member that may hold its contents,
// did not answer, and who may hold them.
struct OwedStub {
  Signature signature;
  std::vector<std::string> holders;
};

// Releases of references that have moved with their block.
inline constexpr std::string_view kDepartureIds = "stele.moved/";

// A volume that is a member of an instance: the home of some signatures, besides holding blocks.
// It is an interface on top of another because every member is a volume, here or behind a network.
//
// Reference() at a home also tells where else a content may lie. Reference() and Store() fail with
// kOutdated when the client knows another epoch, and with kBusy when the client must begin again
// with Reference(): somebody else is storing the content, or has told the home where it lies.
// Storing at a stand-in is remembered there until its home has been told.
//
// A block takes part in one move at a time: Refer() and Store() for kMoveOwner fail with kBusy when
// that owner holds the block already. Until LogMove() says that it has come, a block that is being
// stored for kMoveOwner is found by nobody: Reference() sends others to where it comes from, and
// Store() fails with kBusy. Meanwhile, Delete() fails with kBusy for an owner that has
// other references to the block than those that it has here: ask again.
class MemberVolume : public Volume {
 public:
  virtual Result<Membership> GetMembership() = 0;

  // Takes over a composition and its connector; durable, and no store of an older epoch comes
  // through any more. Again with what is known already: nothing. `founding`: only a volume that is
  // empty and belongs to no instance. Errors: kOutdated for an epoch that is over, or when it is no
  // founding; kInvalid when the volume is not in the composition, or the epoch had another one.
  virtual Status Join(const Composition& composition, const std::string& connector,
                      bool founding) = 0;

  // Notes that the homes know what lies here, or anywhere. Errors: kOutdated for another epoch.
  virtual Status Settle(std::uint64_t epoch, Membership::Settled settled) = 0;

  // What a home is told. Durable. Errors: kOutdated for another epoch.
  virtual Status Publish(const Stubs& stubs) = 0;
  // Ends a claim of which nothing came.
  virtual Status GiveBack(const Signature& signature, const Operation& operation) = 0;

  // Finds every content that was here when the epoch began and is at home elsewhere.
  virtual Result<SignatureFilter> Filter() = 0;

  // In order, behind `after`; fewer than `limit` mean that there are no more.
  virtual Result<std::vector<OwedStub>> Owed(const std::optional<Signature>& after,
                                             std::size_t limit) = 0;
  virtual Status Forget(std::span<const Signature> owed) = 0;

  // A key that is no longer good. From now on whoever uses it is sent to the new one. To be told
  // to the volumes of both keys and to the home. Durable, at the volume of the new key with all
  // that was done there before. Nothing for a block that is still here: its move is not finished.
  virtual Status LogMove(const ContentKey& from, const ContentKey& to) = 0;
  // The same for a block that is here, unless another number of operations has been done to it, or
  // somebody stores its content elsewhere right now: kBusy. Afterwards it takes nothing but
  // releases whose ids begin with kDepartureIds.
  virtual Status Depart(const ContentKey& from, const ContentKey& to, std::uint64_t operations) = 0;
  virtual Result<std::optional<ContentKey>> MovedTo(const ContentKey& from) = 0;
  // The keys that a block of this volume had at other places, as far as its moves were logged here.
  virtual Result<std::vector<ContentKey>> FormerKeys(const ContentKey& key) = 0;
  virtual Result<std::vector<Directory::Move>> Arrivals(const std::optional<Directory::Move>& after,
                                                        std::size_t limit) = 0;
};

}  // namespace stele::store
