#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "io/file_system.h"
#include "store/access_list.h"
#include "store/claims.h"
#include "store/member_volume.h"

namespace stele::store {

// Makes a volume on this machine a member of an instance, by two things in its directory:
//
//   DIR/member      its membership (docs/formats/member.md)
//   DIR/directory/  the table of its Directory
class Member final : public MemberVolume {
 public:
  struct Options {
    // How long others wait for a client that stores a content elsewhere, besides a second for each
    // 10 MB of it. A client that takes longer may leave a second block.
    std::chrono::milliseconds claim_time{10'000};
  };

  // Takes the volume in `directory` and the table of its Directory, whose writes must be durable.
  // Borrows `fs` for life. Errors: kCorrupt when membership or directory are damaged or lost,
  // saying what to do.
  static Result<std::unique_ptr<Member>> Open(io::FileSystem& fs, const std::string& directory,
                                              std::unique_ptr<Volume> volume,
                                              std::unique_ptr<BlockTable> table, Options options);

  Volume& volume() { return *volume_; }

  const std::string& name() const override { return volume_->name(); }
  VolumeState state() const override { return volume_->state(); }
  Status SetState(VolumeState state) override { return volume_->SetState(state); }
  Result<Lookup> Reference(const StoreRequest& request) override;
  Result<Stored> Store(const StoreRequest& request, io::Source& content) override;
  Result<std::unique_ptr<io::Source>> Retrieve(const ContentKey& key) override;
  Status Sync() override { return volume_->Sync(); }
  Result<PackedContent> RetrievePacked(const ContentKey& key) override;
  Result<std::unique_ptr<io::Source>> RetrieveRange(const ContentKey& key, std::uint64_t offset,
                                                    std::uint64_t length) override;
  Status Refer(const ContentKey& key, const Operation& operation) override;
  Status Delete(const ContentKey& key, const Operation& operation) override;
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
  Status Restore(const ContentKey& key, std::uint64_t size, io::Source& content) override;
  Result<std::uint64_t> Compact(const CompactOptions& options) override;

  Result<Membership> GetMembership() override;
  Status Join(const Composition& composition, const std::string& connector, bool founding) override;
  Status Settle(std::uint64_t epoch, Membership::Settled settled) override;
  Status Publish(const Stubs& stubs) override;
  Status GiveBack(const Signature& signature, const Operation& operation) override;
  Result<SignatureFilter> Filter() override;
  Result<std::vector<OwedStub>> Owed(const std::optional<Signature>& after,
                                     std::size_t limit) override;
  Status Forget(std::span<const Signature> owed) override;
  Status LogMove(const ContentKey& from, const ContentKey& to) override;
  Status Depart(const ContentKey& from, const ContentKey& to, std::uint64_t operations) override;
  Result<std::optional<ContentKey>> MovedTo(const ContentKey& from) override;
  Result<std::vector<ContentKey>> FormerKeys(const ContentKey& key) override;
  Result<std::vector<Directory::Move>> Arrivals(const std::optional<Directory::Move>& after,
                                                std::size_t limit) override;

 private:
  class GatedContent;

  Member(io::FileSystem& fs, std::string directory, std::unique_ptr<Volume> volume,
         Options options);

  std::shared_ptr<const Membership> Current() const;
  Status Change(Membership membership);
  Status CheckEpoch(std::uint64_t epoch) const;
  bool IsStandIn(const StoreRequest& request) const;
  bool IsEpochless(const StoreRequest& request) const;

  // Parts of storing.
  Result<Lookup> LookHere(const StoreRequest& request);
  bool IsClaimed(const Signature& signature) const;
  Result<std::uint32_t> LowestNumber(const StoreRequest& request) const;
  // Requires: access to the signature.
  Status NotMoving(const Signature& signature);
  Status HeldByNoMove(const ContentKey& key, std::uint64_t holds_max);
  // Where blocks of the signature are moving to that are still here.
  Result<std::vector<std::string>> MovingTo(const Signature& signature);
  Status LearnArriving();
  Status NotArriving(const StoreRequest& request) const;
  Status Arrive(const StoreRequest& request);
  std::vector<std::string> ArrivingFrom(const Signature& signature) const;
  void EndArriving(const Signature& signature, const std::function<bool(const MoveHold&)>& which);
  Status NoMove(const ContentKey& key) const;
  Status MissingAt(const ContentKey& key, const std::string& owner, const Error& missing);
  Error Busy() const;

  io::FileSystem& fs_;
  const std::string directory_path_;
  const std::unique_ptr<Volume> volume_;
  std::unique_ptr<Directory> directory_;
  Claims claims_;

  Gate gate_;                 // whoever makes a block passes; whoever changes the epoch is alone
  AccessList access_;         // nobody refers to a block while its move is logged
  mutable std::mutex mutex_;  // of all below
  std::shared_ptr<const Membership> membership_;
  std::map<Signature, std::vector<MoveHold>> arriving_;  // whose moves are not logged yet
  bool filtering_ = false;                               // somebody makes the filter
  std::uint64_t filter_epoch_ = 0;
  std::shared_ptr<const SignatureFilter> filter_;
};

}  // namespace stele::store
