#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/volume.h"

namespace stele::store {

// Passes everything on to another volume, so that whoever changes a few calls writes only those.
class ForwardingVolume : public Volume {
 public:
  // Borrows `base` for life.
  explicit ForwardingVolume(Volume& base) : base_(base) {}

  const std::string& name() const override { return base_.name(); }
  VolumeState state() const override { return base_.state(); }
  Status SetState(VolumeState state) override { return base_.SetState(state); }
  Result<Lookup> Reference(const StoreRequest& request) override {
    return base_.Reference(request);
  }
  Result<Stored> Store(const StoreRequest& request, io::Source& content) override {
    return base_.Store(request, content);
  }
  Status Restore(const ContentKey& key, std::uint64_t size, io::Source& content) override {
    return base_.Restore(key, size, content);
  }
  Result<std::unique_ptr<io::Source>> Retrieve(const ContentKey& key) override {
    return base_.Retrieve(key);
  }
  Status Sync() override { return base_.Sync(); }
  Result<PackedContent> RetrievePacked(const ContentKey& key) override {
    return base_.RetrievePacked(key);
  }
  Result<std::unique_ptr<io::Source>> RetrieveRange(const ContentKey& key, std::uint64_t offset,
                                                    std::uint64_t length) override {
    return base_.RetrieveRange(key, offset, length);
  }
  Status Refer(const ContentKey& key, const Operation& operation) override {
    return base_.Refer(key, operation);
  }
  Status Delete(const ContentKey& key, const Operation& operation) override {
    return base_.Delete(key, operation);
  }
  Result<BlockInfo> Stat(const ContentKey& key) override { return base_.Stat(key); }
  Result<std::uint64_t> Held(const ContentKey& key, const std::string& owner) override {
    return base_.Held(key, owner);
  }
  Result<std::vector<BlockOperation>> Operations(const ContentKey& key,
                                                 const std::optional<BlockOperation>& after,
                                                 std::size_t limit) override {
    return base_.Operations(key, after, limit);
  }
  Result<std::vector<ListedBlock>> List(const ListRequest& request) override {
    return base_.List(request);
  }
  Result<std::vector<OwnerUsage>> Owners() override { return base_.Owners(); }
  Result<OwnerUsage> UsageOf(const std::string& owner) override { return base_.UsageOf(owner); }
  Result<VolumeStats> Stats() override { return base_.Stats(); }
  Result<std::uint64_t> Verify(const VerifyOptions& options) override {
    return base_.Verify(options);
  }
  Result<std::uint64_t> Compact(const CompactOptions& options) override {
    return base_.Compact(options);
  }

 protected:
  Volume& base() const { return base_; }

 private:
  Volume& base_;
};

}  // namespace stele::store
