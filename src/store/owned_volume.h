#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "store/volume.h"

namespace stele::store {

// What an owner may hold in one volume, each reference counting the whole content. 0: no limit.
struct Quota {
  std::uint64_t content_bytes_max = 0;
  std::uint64_t references_max = 0;

  friend bool operator==(const Quota&, const Quota&) = default;
};

// Was it a quota that refused? Such errors are kInvalid: another volume is no way out, and the text
// says owner, use and limit.
bool IsQuotaError(const Error& error);

// A volume as one owner sees it: what it does not hold is not there, whoever else holds it. Knowing
// a signature or a key gives nothing: a content that the owner does not hold yet is unknown until
// its bytes have come and were verified; then it gets a reference, not a second block.
//
// Quotas hold for all callers of one object together; make one for each owner and volume.
// Thread-safe. Errors: besides those of Volume, kInvalid for operations and questions of another
// owner and for what concerns the whole volume (SetState, Restore, Stats, Verify, Compact);
// IsQuotaError().
class OwnedVolume final : public Volume {
 public:
  // Borrows `volume` for life. Requires: IsOwner(owner).
  OwnedVolume(Volume& volume, std::string owner, Quota quota);

  const std::string& owner() const { return owner_; }

  const std::string& name() const override { return volume_.name(); }
  VolumeState state() const override { return volume_.state(); }
  Status SetState(VolumeState state) override;
  Result<Lookup> Reference(const StoreRequest& request) override;
  // Where kRegular would believe the signature, the bytes are compared.
  Result<Stored> Store(const StoreRequest& request, io::Source& content) override;
  Status Restore(const ContentKey& key, std::uint64_t size, io::Source& content) override;
  Result<std::unique_ptr<io::Source>> Retrieve(const ContentKey& key) override;
  Result<PackedContent> RetrievePacked(const ContentKey& key) override;
  Result<std::unique_ptr<io::Source>> RetrieveRange(const ContentKey& key, std::uint64_t offset,
                                                    std::uint64_t length) override;
  Status Refer(const ContentKey& key, const Operation& operation) override;
  Status Delete(const ContentKey& key, const Operation& operation) override;
  // With the references of this owner.
  Result<BlockInfo> Stat(const ContentKey& key) override;
  Result<std::uint64_t> Held(const ContentKey& key, const std::string& owner) override;
  Result<std::vector<BlockOperation>> Operations(const ContentKey& key,
                                                 const std::optional<BlockOperation>& after,
                                                 std::size_t limit) override;
  Result<std::vector<ListedBlock>> List(const ListRequest& request) override;
  Result<std::vector<OwnerUsage>> Owners() override;
  Result<OwnerUsage> UsageOf(const std::string& owner) override;
  Result<VolumeStats> Stats() override;
  Result<std::uint64_t> Verify(const VerifyOptions& options) override;
  Result<std::uint64_t> Compact(const CompactOptions& options) override;

 private:
  class Claim;

  Status Mine(const std::string& owner) const;
  Status Holds(const ContentKey& key);
  Result<std::optional<ContentKey>> FindHeld(const Signature& signature, std::uint64_t size);
  // Has this owner's reference been made before?
  Result<bool> Done(const ContentKey& key, const Operation& operation);
  Result<std::optional<ContentKey>> FindDone(const StoreRequest& request);
  Result<Lookup> AskUnheld(const StoreRequest& request);

  Volume& volume_;
  const std::string owner_;
  const Quota quota_;

  std::mutex mutex_;                      // of all below
  std::uint64_t claimed_references_ = 0;  // by calls under way
  std::uint64_t claimed_bytes_ = 0;
};

}  // namespace stele::store
