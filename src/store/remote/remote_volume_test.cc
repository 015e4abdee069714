#include "store/remote/remote_volume.h"

#include <gmock/gmock.h>

#include <atomic>
#include <limits>
#include <thread>

#include "store/remote/test_service.h"

namespace stele::store {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Result<Stored> StoreIn(Volume& volume, std::string_view content, const std::string& id,
                       StoreMode mode = StoreMode::kRegular) {
  io::MemorySource source(content);
  return volume.Store(Sha256Request(content, id, mode), source);
}

ContentKey KeyFor(std::string_view content) { return {"v", Sha256Signatures().Of(content), 0}; }

std::string ErrorText(Result<std::unique_ptr<io::Source>> source) {
  const Result<std::string> read = ReadAll(std::move(source));
  return read ? "none" : read.error().text;
}

TEST(RemoteVolume, W8_DoesWhatTheVolumeBehindItDoes) {
  ServedVolume served("v");
  const auto client = NewClient();
  const auto remote = NewRemote(*client, served.port());
  for (const std::string& content :
       {std::string(), std::string("text"), std::string(3'000'000, 'x') + "end"}) {
    const std::string id = std::to_string(content.size());
    EXPECT_EQ(remote->Reference(Sha256Request(content, id))->outcome, Lookup::Outcome::kUnknown);
    const Result<Stored> stored = StoreIn(*remote, content, id);
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_TRUE(stored->is_new);
    EXPECT_EQ(Get(*remote, stored->key), content);
    EXPECT_EQ(remote->Stat(stored->key)->size, content.size());
    EXPECT_EQ(remote->Reference(Sha256Request(content, id + "b"))->key, stored->key);
    EXPECT_EQ(ReferencesOf(*remote, stored->key), 2u);
  }
  EXPECT_EQ(remote->Stats()->blocks, 3u);
  const ContentKey key = KeyFor("text");
  const Operation release{"test", "release"};
  EXPECT_TRUE(remote->Delete(key, release));
  EXPECT_TRUE(remote->Delete(key, release));
  EXPECT_EQ(ReferencesOf(served.volume(), key), 1u);
  EXPECT_TRUE(remote->Delete(key, {"test", "release 2"}).error().code == ErrorCode::kInvalid);
  EXPECT_TRUE(remote->Delete(key, {"test", "release-2"}));
  EXPECT_EQ(remote->Retrieve(key).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(remote->Delete(key, {"test", "3"}).error().code, ErrorCode::kNotFound);
}

TEST(RemoteVolume, W8_SaysWhoRefersToWhat) {
  ServedVolume served("v");
  const auto client = NewClient();
  const auto remote = NewRemote(*client, served.port());
  const ContentKey key = StoreIn(*remote, "content", "1")->key;
  ASSERT_TRUE(StoreIn(*remote, "more", "2"));
  EXPECT_TRUE(remote->Refer(key, {"a&b=c/d", "1%"}));
  EXPECT_TRUE(remote->Refer(key, {"a&b=c/d", "1%"}));
  EXPECT_EQ(remote->Refer(KeyFor("none"), {"test", "3"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(remote->Refer(key, {"test", "no id"}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(*remote->Held(key, "a&b=c/d"), 1u);
  EXPECT_EQ(*remote->Held(key, "nobody"), 0u);
  const std::vector<BlockOperation> operations = *remote->Operations(key, std::nullopt, 10);
  EXPECT_EQ(operations, *served.volume().Operations(key, std::nullopt, 10));
  ASSERT_EQ(operations.size(), 2u);
  EXPECT_EQ(remote->Operations(key, operations[0], 10)->front(), operations[1]);
  EXPECT_EQ(*remote->Owners(), *served.volume().Owners());
  EXPECT_EQ(*remote->UsageOf("a&b=c/d"), (OwnerUsage{"a&b=c/d", 1, 7}));
  EXPECT_EQ(remote->UsageOf("test")->references, 2u);
  EXPECT_EQ(*remote->List({}), *served.volume().List({}));
  EXPECT_EQ(remote->List({.owner = "a&b=c/d"})->size(), 1u);
  EXPECT_EQ(remote->List({.owner = "no owner"}).error().code, ErrorCode::kInvalid);
}

TEST(RemoteVolume, W8_PartsOfContentsAreRead) {
  ServedVolume served("v");
  const auto client = NewClient();
  const auto remote = NewRemote(*client, served.port());
  std::string content;
  for (int i = 0; i < 100'000; ++i) content += std::to_string(i);
  for (const std::string codec : {"identity", "gzip"}) {
    StoreRequest request = Sha256Request(content + codec, "1-" + codec);
    request.codec = codec;
    const std::string bytes = content + codec;
    io::MemorySource source(bytes);
    const Result<Stored> stored = remote->Store(request, source);
    ASSERT_TRUE(stored) << stored.error().text;
    const auto range = [&](std::uint64_t offset, std::uint64_t length) {
      return ReadAll(remote->RetrieveRange(stored->key, offset, length));
    };
    EXPECT_EQ(*range(0, 10), bytes.substr(0, 10));
    EXPECT_EQ(*range(12'345, 70'000), bytes.substr(12'345, 70'000));
    EXPECT_EQ(*range(bytes.size() - 3, 10), bytes.substr(bytes.size() - 3));
    EXPECT_EQ(*range(5, 0), "");
    // As of a volume on this machine.
    EXPECT_EQ(*range(bytes.size(), 1), "");
    EXPECT_EQ(*range(5, std::numeric_limits<std::uint64_t>::max()), bytes.substr(5));
  }
  EXPECT_EQ(remote->RetrieveRange(KeyFor("none"), 0, 1).error().code, ErrorCode::kNotFound);
}

TEST(RemoteVolume, W8_AServerThatSendsAnotherPartIsNotBelieved) {
  for (const auto& [status, range] :
       {std::pair(200, ""), std::pair(206, ""), std::pair(206, "bytes 0-1/9")}) {
    net::TestServer liar([&](net::Request&, net::ResponseWriter& response) {
      net::ResponseStart start;
      start.status = status;
      start.fields.push_back({"Content-Range", range});
      static_cast<void>(response.Reply(start, "xy").ok());
    });
    const auto client = NewClient();
    const auto part = NewRemote(*client, liar->port())->RetrieveRange(KeyFor("x"), 4, 2);
    ASSERT_FALSE(part);
    EXPECT_EQ(part.error().code, ErrorCode::kCorrupt);
  }
}

TEST(RemoteVolume, W8_ListsOfManyPagesAreWhole) {
  ServedVolume served("v");
  const auto client = NewClient();
  const auto remote = NewRemote(*client, served.port());
  const ContentKey key = StoreIn(*remote, "content", "1")->key;
  constexpr std::size_t kMany = 10'050;
  for (std::size_t i = 0; i < kMany; ++i) {
    ASSERT_TRUE(served.volume().Refer(key, {"test", "r" + std::to_string(i)}));
    ASSERT_TRUE(Put(served.volume(), std::to_string(i), {"test", std::to_string(i + 2)}));
  }
  EXPECT_EQ(remote->Operations(key, std::nullopt, kMany * 2)->size(), kMany + 1);
  EXPECT_EQ(remote->Operations(key, std::nullopt, kMany - 1)->size(), kMany - 1);
  EXPECT_EQ(*remote->List({.limit = kMany * 2}), *served.volume().List({.limit = kMany * 2}));
}

TEST(RemoteVolume, W8_AListThatGoesInCirclesIsRefused) {
  net::TestServer liar([&](net::Request&, net::ResponseWriter& response) {
    net::ResponseStart start;
    start.status = 200;
    std::string list;
    for (int i = 0; i < 5; ++i) list += R"(,{"block": "AA", "size": 1, "references": 1})";
    static_cast<void>(response.Reply(start, R"({"contents": [)" + list.substr(1) + "]}").ok());
  });
  const auto client = NewClient();
  const auto listed = NewRemote(*client, liar->port())->List({.limit = 5});
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::kCorrupt);
}

TEST(RemoteVolume, W8_AContentThatIsNotWhatTheRequestSaysIsRefused) {
  ServedVolume served("v");
  const auto client = NewClient();
  const auto remote = NewRemote(*client, served.port());
  const std::string large(2'000'000, 'x');
  for (const std::string& content : {std::string("content"), large}) {
    for (const std::string& other : {content + "y", content.substr(1), "y" + content.substr(1)}) {
      io::MemorySource source(other);
      EXPECT_FALSE(remote->Store(Sha256Request(content, "1"), source)) << content.size();
    }
  }
  EXPECT_EQ(served.volume().Stats()->blocks, 0u);
}

TEST(RemoteVolume, W9_KnowsTheStateFromEveryAnswer) {
  ServedVolume served("v");
  const auto client = NewClient();
  const auto remote = NewRemote(*client, served.port());
  EXPECT_EQ(remote->state(), VolumeState::kWritable);
  ASSERT_TRUE(served.volume().SetState(VolumeState::kReadOnly));
  EXPECT_EQ(StoreIn(*remote, "a", "1").error().code, ErrorCode::kFull);
  EXPECT_EQ(remote->state(), VolumeState::kReadOnly);
  ASSERT_TRUE(remote->SetState(VolumeState::kWritable));
  EXPECT_EQ(remote->state(), VolumeState::kWritable);
  EXPECT_TRUE(StoreIn(*remote, "a", "1"));
}

TEST(RemoteVolume, W8_TheTokenIsSent) {
  ServedVolume served("v", {.token = "secret"});
  const auto client = NewClient();
  EXPECT_TRUE(NewRemote(*client, served.port(), "secret")->Stats());
  const auto refused = NewRemote(*client, served.port(), "other")->Stats();
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().text, HasSubstr("token"));
}

// Each answer is lost once, after the server has done what was asked.
TEST(RemoteVolume, W6_AnOperationWhoseAnswerIsLostCountsOnce) {
  ServedVolume served("v");
  std::atomic<bool> lose = false;
  net::TestServer lossy([&](net::Request& request, net::ResponseWriter& response) {
    if (!lose.exchange(false)) return served.service().Handle(request, response);
    LostResponse lost;
    served.service().Handle(request, lost);
    response.Abandon();
  });
  const auto client = NewClient();
  const auto remote = NewRemote(*client, lossy->port());
  for (const StoreMode mode : {StoreMode::kRegular, StoreMode::kCompare, StoreMode::kForceNew}) {
    for (const std::string& content : {std::string("content"), std::string(2'000'000, 'x')}) {
      const std::uint64_t before = served.volume().Stats()->references;
      lose = true;
      const Result<Stored> stored =
          StoreIn(*remote, content, "store-" + std::to_string(static_cast<int>(mode)), mode);
      ASSERT_TRUE(stored) << stored.error().text;
      EXPECT_FALSE(lose);
      EXPECT_EQ(served.volume().Stats()->references, before + 1);
    }
  }
  const ContentKey key = KeyFor("content");
  const std::uint64_t before = ReferencesOf(served.volume(), key);
  lose = true;
  EXPECT_TRUE(remote->Reference(Sha256Request("content", "reference")));
  EXPECT_EQ(ReferencesOf(served.volume(), key), before + 1);
  lose = true;
  EXPECT_TRUE(remote->Delete(key, {"test", "delete"}));
  EXPECT_EQ(ReferencesOf(served.volume(), key), before);
  EXPECT_THAT(Findings(served.volume()), testing::IsEmpty());
}

void ExpectAllFail(RemoteVolume& remote) {
  const ContentKey key = KeyFor("content");
  const auto expect_named = [](const Error& error) {
    EXPECT_THAT(error.text, HasSubstr("volume v at http://127.0.0.1:"));
  };
  expect_named(remote.Reference(Sha256Request("content", "1")).error());
  expect_named(StoreIn(remote, "content", "2").error());
  expect_named(remote.Stat(key).error());
  expect_named(remote.Stats().error());
}

TEST(RemoteVolume, W10_ADeadServerIsAnErrorThatNamesTheVolume) {
  ServedVolume served("v");
  const auto client = NewClient();
  const auto remote = NewRemote(*client, served.port());
  const std::string where = "http://127.0.0.1:" + std::to_string(served.port());
  ASSERT_TRUE(StoreIn(*remote, "content", "1"));
  served.Die();
  ExpectAllFail(*remote);
  EXPECT_THAT(ErrorText(remote->Retrieve(KeyFor("content"))),
              StartsWith("volume v at " + where + ": cannot connect"));
  EXPECT_EQ(remote->Delete(KeyFor("content"), {"a", "b"}).error().code, ErrorCode::kIo);
}

TEST(RemoteVolume, W10_AServerThatNeverAnswersIsAnErrorAfterTheTimeout) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 100), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const auto client = NewClient(100);
  const auto remote = NewRemote(*client, ntohs(address.sin_port));
  ExpectAllFail(*remote);
  EXPECT_EQ(remote->Stats().error().code, ErrorCode::kBusy);
  EXPECT_THAT(ErrorText(remote->Retrieve(KeyFor("content"))), HasSubstr("volume v at"));
  close(listener);
}

TEST(RemoteVolume, W10_AServerThatTalksNonsenseIsAnError) {
  const std::string other_key = ContentKey{"v", Sha256Signatures().Of("other"), 0}.Text();
  for (const std::string& answer :
       {std::string("nonsense"), std::string("{}"), std::string("[1]"), std::string(),
        std::string(100'000, '['), "{\"outcome\": \"referenced\", \"key\": \"" + other_key + "\"}",
        "{\"key\": \"" + other_key + "\", \"new\": true}",
        std::string("{\"size\": -1, \"blocks\": \"many\"}")}) {
    for (const int status : {200, 404, 500}) {
      net::TestServer server([&](net::Request&, net::ResponseWriter& response) {
        static_cast<void>(response.Reply(status, "application/json", answer).ok());
      });
      const auto client = NewClient();
      const auto remote = NewRemote(*client, server->port());
      ExpectAllFail(*remote);
      EXPECT_EQ(remote->Stats().error().code, ErrorCode::kCorrupt) << answer.substr(0, 100);
      EXPECT_NE(ErrorText(remote->Retrieve(KeyFor("content"))), "none");
    }
  }
}

TEST(RemoteVolume, W10_WrongBytesNeverPassForTheContent) {
  for (const std::string_view body : {"Content", "conten", "content!", ""}) {
    net::TestServer server([&](net::Request&, net::ResponseWriter& response) {
      static_cast<void>(response.Reply(200, "text/plain", body).ok());
    });
    const auto client = NewClient();
    const auto remote = NewRemote(*client, server->port());
    const Result<std::string> read = ReadAll(remote->Retrieve(KeyFor("content")));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(read.error().text, HasSubstr("other bytes"));
  }
}

TEST(RemoteVolume, W10_AContentThatEndsEarlyIsAnError) {
  net::TestServer server([&](net::Request&, net::ResponseWriter& response) {
    net::ResponseStart start;
    start.length = 7;
    static_cast<void>(response.Start(start).ok());
    static_cast<void>(response.Write("cont").ok());
  });
  const auto client = NewClient();
  EXPECT_THAT(ErrorText(NewRemote(*client, server->port())->Retrieve(KeyFor("content"))),
              HasSubstr("v:"));
}

TEST(RemoteVolume, W8_ManyClientsAtOnceMakeOneBlockOfOneContent) {
  ServedVolume served("v");
  const auto client = NewClient();
  const auto remote = NewRemote(*client, served.port());
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const std::string content = "content " + std::to_string(i);
        const Result<Stored> stored =
            StoreIn(*remote, content, std::to_string(t) + "-" + std::to_string(i));
        EXPECT_TRUE(stored);
        EXPECT_EQ(stored ? Get(*remote, stored->key) : "", content);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(served.volume().Stats()->blocks, 10u);
  EXPECT_EQ(served.volume().Stats()->references, 80u);
  EXPECT_THAT(Findings(served.volume()), testing::IsEmpty());
}

}  // namespace
}  // namespace stele::store
