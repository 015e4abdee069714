#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "codec/block_deflater.h"
#include "net/http_client.h"
#include "store/compression.h"
#include "store/member_volume.h"
#include "store/remote/wire.h"

namespace stele::store {

// A volume behind a VolumeService. Errors name the volume and its server. Whatever the server does
// (dies, stalls, lies), a call ends within the client's timeouts, and no bytes come out of
// Retrieve() to their end that do not have the signature.
//
// What can be repeated is sent once more when the connection breaks: operations carry their ids, so
// that one whose answer was lost counts once.
class RemoteVolume final : public MemberVolume {
 public:
  struct Options {
    std::string name = {};
    net::Endpoint endpoint = {};
    std::string token = {};  // empty: none is sent
    // state() is never less strict than this.
    VolumeState state = VolumeState::kWritable;
    std::shared_ptr<const SignatureFunction> signature = {};  // never null
    std::chrono::milliseconds total_timeout{600'000};         // of one call
    // Sends contents compressed as they will be stored, as far as this side can know.
    bool packs = true;
  };

  // Borrows `client` for life. Does not connect.
  RemoteVolume(net::HttpClient& client, Options options);

  const std::string& name() const override { return options_.name; }
  // The stricter of the configured one and the one that the server told last. A server that is
  // frozen is asked again after some seconds.
  VolumeState state() const override;
  Status SetState(VolumeState state) override;
  Result<Lookup> Reference(const StoreRequest& request) override;
  Result<Stored> Store(const StoreRequest& request, io::Source& content) override;
  Status Restore(const ContentKey& key, std::uint64_t size, io::Source& content) override;
  Result<std::unique_ptr<io::Source>> Retrieve(const ContentKey& key) override;
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
  Result<std::uint64_t> Compact(const CompactOptions& options) override;

  Result<Membership> GetMembership() override;
  // Errors: also kInvalid when the connector is not that of the composition.
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
  using Response = std::unique_ptr<net::ClientResponse>;

  net::ClientRequest NewRequest(std::string method, const std::string& target) const;
  // A response with a status from 200 to 299, or `also`; everything else is an error.
  Result<Response> Send(const net::ClientRequest& request, int also = 200) const;
  // Sends it again when the connection broke. Returns the body. Requires: may be repeated.
  Result<std::string> Ask(net::ClientRequest request,
                          std::size_t size_max = wire::kAnswerSizeMax) const;
  // How a content is compressed that is sent; none: it is sent as it is.
  std::optional<Compression> PackingOf(const std::string& media_type,
                                       const std::string& codec) const;
  // Sends a content as a stream. Errors: also those of the content.
  Result<std::string> SendStream(net::ClientRequest sent, std::uint64_t size, io::Source& content,
                                 const std::optional<Compression>& packing) const;
  // Compresses a content and says so in the request; empty: it is sent as it is.
  std::string Pack(const StoreRequest& request, std::string_view content, net::ClientRequest& sent);
  Result<Stored> StoreLarge(const StoreRequest& request, io::Source& content,
                            net::ClientRequest sent);
  // Whether a block that was listed behind `before` still is.
  Result<bool> IsListed(const BlockId& block, const std::optional<BlockId>& before);
  // What is wrong with a block that was listed behind `before`. Nothing when it is whole, or was
  // deleted meanwhile. Errors: those of a server that is gone.
  Result<std::optional<Finding>> FindingOf(const ListedBlock& listed,
                                           const std::optional<BlockId>& before);
  // Where nothing comes back.
  Status Tell(net::ClientRequest request) const;
  static void AddEpoch(net::ClientRequest& request, std::uint64_t epoch);
  void NoteState(const net::ClientResponse& response) const;
  Error Named(const Error& error) const;

  net::HttpClient& client_;
  const Options options_;
  codec::BlockDeflaterPool deflaters_;
  mutable std::atomic<VolumeState> told_ = VolumeState::kWritable;
  mutable std::atomic<std::int64_t> told_ms_ = 0;  // when, by the steady clock
};

}  // namespace stele::store
