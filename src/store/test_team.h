#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/memory_file_system.h"
#include "store/rehome.h"
#include "store/test_member.h"

// Members that several instances share, as servers do.
namespace stele::store {

// A way to a member that can be cut. A member without room joins nothing.
class MemberLink final : public MemberVolume {
 public:
  MemberLink(Member& to, const std::atomic<bool>& cut, const std::atomic<bool>& crammed)
      : to_(to), cut_(cut), crammed_(crammed) {}

  const std::string& name() const override { return to_.name(); }
  VolumeState state() const override { return to_.state(); }
  Status SetState(VolumeState state) override { return to_.SetState(state); }
  Result<Lookup> Reference(const StoreRequest& request) override {
    return cut_ ? Cut() : to_.Reference(request);
  }
  Result<Stored> Store(const StoreRequest& request, io::Source& content) override {
    return cut_ ? Cut() : to_.Store(request, content);
  }
  Status Restore(const ContentKey& key, std::uint64_t size, io::Source& content) override {
    return to_.Restore(key, size, content);
  }
  Result<std::unique_ptr<io::Source>> Retrieve(const ContentKey& key) override {
    return cut_ ? Cut() : to_.Retrieve(key);
  }
  Status Refer(const ContentKey& key, const Operation& operation) override {
    return cut_ ? Status(Cut()) : to_.Refer(key, operation);
  }
  Status Delete(const ContentKey& key, const Operation& operation) override {
    return cut_ ? Status(Cut()) : to_.Delete(key, operation);
  }
  Result<BlockInfo> Stat(const ContentKey& key) override { return cut_ ? Cut() : to_.Stat(key); }
  Result<std::uint64_t> Held(const ContentKey& key, const std::string& owner) override {
    return to_.Held(key, owner);
  }
  Result<std::vector<BlockOperation>> Operations(const ContentKey& key,
                                                 const std::optional<BlockOperation>& after,
                                                 std::size_t limit) override {
    return to_.Operations(key, after, limit);
  }
  Result<std::vector<ListedBlock>> List(const ListRequest& request) override {
    return cut_ ? Cut() : to_.List(request);
  }
  Result<std::vector<OwnerUsage>> Owners() override { return to_.Owners(); }
  Result<OwnerUsage> UsageOf(const std::string& owner) override { return to_.UsageOf(owner); }
  Result<VolumeStats> Stats() override { return to_.Stats(); }
  Result<std::uint64_t> Verify(const VerifyOptions& options) override {
    return to_.Verify(options);
  }
  Result<std::uint64_t> Compact(const CompactOptions& options) override {
    return to_.Compact(options);
  }
  Result<Membership> GetMembership() override { return cut_ ? Cut() : to_.GetMembership(); }
  Status Join(const Composition& composition, const std::string& connector,
              bool founding) override {
    if (crammed_) return Error{ErrorCode::kFull, "volume " + name() + " has no room"};
    return cut_ ? Status(Cut()) : to_.Join(composition, connector, founding);
  }
  Status Settle(std::uint64_t epoch, Membership::Settled settled) override {
    return cut_ ? Status(Cut()) : to_.Settle(epoch, settled);
  }
  Status Publish(const Stubs& stubs) override { return cut_ ? Status(Cut()) : to_.Publish(stubs); }
  Status GiveBack(const Signature& signature, const Operation& operation) override {
    return cut_ ? Status(Cut()) : to_.GiveBack(signature, operation);
  }
  Result<SignatureFilter> Filter() override { return cut_ ? Cut() : to_.Filter(); }
  Result<std::vector<OwedStub>> Owed(const std::optional<Signature>& after,
                                     std::size_t limit) override {
    return cut_ ? Cut() : to_.Owed(after, limit);
  }
  Status Forget(std::span<const Signature> owed) override { return to_.Forget(owed); }
  Status Depart(const ContentKey& from, const ContentKey& to, std::uint64_t operations) override {
    return cut_ ? Status(Cut()) : to_.Depart(from, to, operations);
  }
  Status LogMove(const ContentKey& from, const ContentKey& to) override {
    return cut_ ? Status(Cut()) : to_.LogMove(from, to);
  }
  Result<std::optional<ContentKey>> MovedTo(const ContentKey& from) override {
    return cut_ ? Cut() : to_.MovedTo(from);
  }
  Result<std::vector<ContentKey>> FormerKeys(const ContentKey& key) override {
    return cut_ ? Cut() : to_.FormerKeys(key);
  }
  Result<std::vector<Directory::Move>> Arrivals(const std::optional<Directory::Move>& after,
                                                std::size_t limit) override {
    return to_.Arrivals(after, limit);
  }

 private:
  Error Cut() const { return {ErrorCode::kIo, "volume " + name() + " does not answer"}; }

  Member& to_;
  const std::atomic<bool>& cut_;
  const std::atomic<bool>& crammed_;
};

// Members v0, v1, ... in memory, and instances of them.
class TeamLab {
 public:
  explicit TeamLab(int count, bool weak = false, std::uint64_t capacity = 0) : weak_(weak) {
    for (int i = 0; i < count; ++i) {
      const std::string name = "v" + std::to_string(i);
      members_[name] = NewMember(fs_, {.name = name, .depth = 2, .capacity_bytes = capacity},
                                 weak ? WeakOptions() : TreeVolume::Options());
      cut_[name] = false;
      crammed_[name] = false;
    }
  }

  Member& member(const std::string& name) { return *members_.at(name); }
  void Cut(const std::string& name, bool cut) { cut_.at(name) = cut; }
  void Cram(const std::string& name, bool crammed) { crammed_.at(name) = crammed; }
  Signature Sign(std::string_view content) const { return Function()->Of(content); }

  // The first `count` members.
  Composition Of(int count, std::uint64_t epoch, Placement placement) const {
    Composition composition{epoch, std::string(Function()->name()), placement, {}};
    for (int i = 0; i < count; ++i) composition.volumes.push_back("v" + std::to_string(i));
    return composition;
  }
  std::unique_ptr<Instance> Connect(const Composition& composition) {
    Instance::Options options;
    options.signature = Function();
    options.down_time = std::chrono::milliseconds(0);
    options.recompose = [this](const Membership& newer) -> Result<Instance::Composed> {
      return Links(newer.composition);
    };
    return std::make_unique<Instance>(Links(composition), std::move(options));
  }

  std::uint64_t Blocks() {
    std::uint64_t blocks = 0;
    for (const auto& [name, member] : members_) blocks += member->Stats()->blocks;
    return blocks;
  }
  std::uint64_t References() {
    std::uint64_t references = 0;
    for (const auto& [name, member] : members_) references += member->Stats()->references;
    return references;
  }

 private:
  std::shared_ptr<const SignatureFunction> Function() const {
    if (weak_) return std::make_shared<WeakSignatures>();
    return std::make_shared<Sha256Signatures>();
  }
  Instance::Composed Links(const Composition& composition) {
    Instance::Composed composed{composition, "", {}};
    for (const std::string& name : composition.volumes) {
      composed.members.push_back(
          std::make_unique<MemberLink>(*members_.at(name), cut_.at(name), crammed_.at(name)));
    }
    return composed;
  }

  const bool weak_;
  io::MemoryFileSystem fs_;
  std::map<std::string, std::unique_ptr<Member>> members_;
  std::map<std::string, std::atomic<bool>> cut_;
  std::map<std::string, std::atomic<bool>> crammed_;
};

}  // namespace stele::store
