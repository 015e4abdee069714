// Homes and epochs over the network.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

#include "store/rehome.h"
#include "store/remote/connect.h"
#include "store/remote/test_service.h"
#include "store/remote/wire_members.h"

namespace stele::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class MembersTest : public testing::Test {
 protected:
  void Serve(int count) {
    while (static_cast<int>(served_.size()) < count) {
      served_.push_back(std::make_unique<ServedVolume>(fmt::format("v{}", served_.size())));
    }
  }
  std::string ConnectorOf(int count, std::uint64_t epoch) {
    Connector connector;
    connector.epoch = epoch;
    connector.placement = Placement::kRendezvous;
    for (int i = 0; i < count; ++i) {
      connector.volumes.push_back(
          {.name = fmt::format("v{}", i), .host = "127.0.0.1", .port = served_[i]->port()});
    }
    return FormatConnector(connector);
  }
  static RemoteStore Open(const std::string& connector) {
    ConnectOptions options;
    options.lag_time = std::chrono::milliseconds(0);
    Result<RemoteStore> store = Connect(connector, options);
    EXPECT_TRUE(store) << store.error().text;
    return *std::move(store);
  }
  Result<Stored> Put(RemoteStore& store, std::string_view content,
                     std::optional<std::string> volume = {}) {
    Instance::StoreOptions options;
    options.operation = {"test", std::to_string(++operations_)};
    options.volume = std::move(volume);
    return store.instance->Store(content, options);
  }
  int Requests() const {
    int requests = 0;
    for (const auto& served : served_) requests += served->requests();
    return requests;
  }

  std::vector<std::unique_ptr<ServedVolume>> served_;
  std::atomic<int> operations_ = 0;
};

TEST_F(MembersTest, W11_ADuplicateTakesOneRequestWhateverTheNumberOfVolumes) {
  for (int count = 1; count <= 8; ++count) {
    served_.clear();
    Serve(count);
    RemoteStore store = Open(ConnectorOf(count, 1));
    // The first contents let the volumes join.
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(Put(store, "first " + std::to_string(i)));
    int before = Requests();
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(Put(store, "new " + std::to_string(i))->is_new);
    EXPECT_EQ(Requests() - before, 20 * 2) << count;
    before = Requests();
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(Put(store, "new " + std::to_string(i))->is_new);
    EXPECT_EQ(Requests() - before, 20) << count;
    // One that comes later asks no more.
    RemoteStore other = Open(ConnectorOf(count, 1));
    before = Requests();
    EXPECT_TRUE(Put(other, "another")->is_new);
    EXPECT_EQ(Requests() - before, 2) << count;
  }
}

TEST_F(MembersTest, W8_AClientOfAnOldEpochIsRefusedLearnsAndGoesOn) {
  Serve(3);
  RemoteStore client = Open(ConnectorOf(2, 1));
  std::map<std::string, ContentKey> keys;
  for (int i = 0; i < 40; ++i) {
    const std::string content = "content " + std::to_string(i);
    keys.emplace(content, Put(client, content)->key);
  }
  RemoteStore admin = Open(ConnectorOf(3, 2));
  // Nobody has been told: whoever is ahead of the servers hears what to do.
  const Result<Stored> early = Put(admin, "content 1");
  ASSERT_FALSE(early);
  EXPECT_THAT(early.error().text, HasSubstr("stele store rehome"));
  const Result<Rehomed> rehomed = Rehome(*admin.instance, {});
  ASSERT_TRUE(rehomed) << rehomed.error().text;
  EXPECT_THAT(rehomed->failures, IsEmpty());
  EXPECT_EQ(rehomed->settled, 3u);
  EXPECT_GT(rehomed->stubs, 0u);
  bool uses_the_new_one = false;
  for (const auto& [content, key] : keys) {
    EXPECT_EQ(Put(client, content)->key, key);
    const Result<Stored> fresh = Put(client, "new " + content);
    ASSERT_TRUE(fresh) << fresh.error().text;
    uses_the_new_one |= fresh->key.volume == "v2";
    EXPECT_EQ(*ReadAll(client.instance->Retrieve(fresh->key)), "new " + content);
    EXPECT_EQ(client.instance->Stat(key)->references, 2u);
  }
  EXPECT_TRUE(uses_the_new_one);
  EXPECT_EQ(client.instance->composition().epoch, 2u);
}

TEST_F(MembersTest, W8_ManyThreadsGoOnWhileTheEpochChanges) {
  Serve(3);
  RemoteStore client = Open(ConnectorOf(2, 1));
  ASSERT_TRUE(Put(client, "first"));
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        Result<Stored> stored = Put(client, "content " + std::to_string(i));
        // The administrator is between two members.
        for (int again = 0; !stored && again < 200; ++again) {
          if (stored.error().code != ErrorCode::kOutdated) break;
          stored = Put(client, "content " + std::to_string(i));
        }
        if (!stored) ++failures;
      }
    });
  }
  RemoteStore admin = Open(ConnectorOf(3, 2));
  const Result<Rehomed> rehomed = Rehome(*admin.instance, {});
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(rehomed) << rehomed.error().text;
  EXPECT_EQ(failures, 0);
  std::uint64_t blocks = 0;
  for (const auto& served : served_) blocks += served->volume().Stats()->blocks;
  EXPECT_EQ(blocks, 26u);
}

TEST_F(MembersTest, W11_WhatLiesElsewhereIsFoundOverTheNetwork) {
  Serve(3);
  RemoteStore store = Open(ConnectorOf(3, 1));
  for (int i = 0; i < 6; ++i) {
    const std::string content = "content " + std::to_string(i);
    const Result<Stored> chosen = Put(store, content, "v1");
    ASSERT_TRUE(chosen) << chosen.error().text;
    EXPECT_EQ(Put(store, content)->key, chosen->key);
  }
  // A home that takes no blocks, and one that is gone.
  ASSERT_TRUE(served_[0]->volume().SetState(VolumeState::kReadOnly));
  for (int i = 0; i < 12; ++i) {
    const std::string content = "more " + std::to_string(i);
    const Result<Stored> stored = Put(store, content);
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_NE(stored->key.volume, "v0");
    EXPECT_EQ(Put(store, content)->key, stored->key);
  }
  served_[2]->Die();
  for (int i = 0; i < 12; ++i) {
    const Result<Stored> stored = Put(store, "last " + std::to_string(i));
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_EQ(stored->key.volume, "v1");
  }
}

TEST_F(MembersTest, W8_AMemberIsTheSameOverTheNetwork) {
  Serve(2);
  const std::string connector = ConnectorOf(2, 7);
  RemoteStore store = Open(connector);
  MemberVolume& remote = *store.instance->Find("v0");
  Member& local = served_[0]->member();
  EXPECT_EQ(remote.GetMembership()->composition.epoch, 0u);
  ASSERT_TRUE(remote.Join(store.instance->composition(), connector, false));
  EXPECT_EQ(*remote.GetMembership(), *local.GetMembership());
  EXPECT_EQ(remote.GetMembership()->connector, connector);
  ASSERT_TRUE(remote.Settle(7, Membership::Settled::kSelf));
  EXPECT_EQ(local.GetMembership()->settled, Membership::Settled::kSelf);
  EXPECT_EQ(remote.Settle(8, Membership::Settled::kAll).error().code, ErrorCode::kOutdated);
  const Signature signature = Sha256Signatures().Of("a");
  ASSERT_TRUE(remote.Publish({7, "v1", {signature}, {}}));
  StoreRequest request = Sha256Request("a", "1");
  request.home = {.epoch = 7, .as_home = true};
  EXPECT_THAT(remote.Reference(request)->elsewhere, testing::ElementsAre("v1"));
  EXPECT_TRUE(remote.Reference(request)->unsettled);
  request.home.epoch = 6;
  EXPECT_EQ(remote.Reference(request).error().code, ErrorCode::kOutdated);
  const ContentKey from{"v0", signature, 0};
  const ContentKey to{"v1", signature, 2};
  EXPECT_EQ(*remote.MovedTo(from), std::nullopt);
  ASSERT_TRUE(remote.LogMove(from, to));
  EXPECT_EQ(*remote.MovedTo(from), to);
  const ContentKey arrived{"v0", signature, 1};
  ASSERT_TRUE(remote.LogMove(to, arrived));
  ASSERT_EQ(remote.Arrivals(std::nullopt, 5)->size(), 1u);
  EXPECT_THAT(*remote.Arrivals(Directory::Move{to, arrived}, 5), IsEmpty());
  EXPECT_THAT(*remote.FormerKeys(arrived), testing::ElementsAre(to));
  EXPECT_THAT(*remote.FormerKeys({"v0", signature, 7}), IsEmpty());
  const ContentKey leaving{"v0", Sha256Signatures().Of("leaves"), 0};
  const ContentKey gone{"v1", leaving.signature, 0};
  EXPECT_EQ(remote.Depart(leaving, gone, 5).error().code, ErrorCode::kBusy);
  ASSERT_TRUE(remote.Depart(leaving, gone, 0));
  EXPECT_EQ(*remote.MovedTo(leaving), gone);
  EXPECT_FALSE(remote.Filter()->MayContain(signature));
  EXPECT_THAT(*remote.Owed(std::nullopt, 5), IsEmpty());
  EXPECT_TRUE(remote.GiveBack(signature, {"test", "1"}));
}

TEST(WireMembers, W11_LinesAreReadAsTheyWereWritten) {
  const Signature a = Sha256Signatures().Of("a");
  const Signature signatures[] = {a, Sha256Signatures().Of("b")};
  EXPECT_EQ(wire::ParseSignatures(wire::FormatSignatures(signatures))->size(), 2u);
  EXPECT_EQ(wire::ParseOwed(wire::FormatOwed({{a, {"v1", "v2"}}}))->front().holders.size(), 2u);
  EXPECT_EQ(wire::ParseMoves(wire::FormatMoves({{{"v1", a, 0}, {"v2", a, 1}}}))->front().to,
            (ContentKey{"v2", a, 1}));
  for (const char* wrong : {"x\n", "AB", "AB AB\n", "\n"}) {
    EXPECT_EQ(wire::ParseSignatures(wrong).error().code, ErrorCode::kInvalid) << wrong;
  }
  EXPECT_FALSE(wire::ParseOwed("AB V\n"));
  EXPECT_FALSE(wire::ParseMoves("v1:AB\n"));
}

}  // namespace
}  // namespace stele::store
