#include "store/remote/connect.h"

#include <gmock/gmock.h>

#include <set>

#include "store/remote/test_service.h"

namespace stele::store {
namespace {

using testing::HasSubstr;

class ConnectTest : public testing::Test {
 protected:
  ConnectTest() {
    Connector connector;
    for (const auto& [name, served] : {std::pair{"v1", &first_}, std::pair{"v2", &second_}}) {
      connector.volumes.push_back({.name = name, .host = "127.0.0.1", .port = served->port()});
    }
    Result<RemoteStore> store = Connect(FormatConnector(connector), {});
    EXPECT_TRUE(store) << store.error().text;
    store_ = *std::move(store);
  }
  Result<Stored> Put(std::string_view content, std::optional<std::string> volume = {}) {
    Instance::StoreOptions options;
    options.operation = {"test", std::to_string(++operations_)};
    options.volume = std::move(volume);
    return store_.instance->Store(content, options);
  }

  ServedVolume first_{"v1"};
  ServedVolume second_{"v2"};
  RemoteStore store_;
  int operations_ = 0;
};

TEST_F(ConnectTest, W8_AConnectorMakesAnInstance) {
  std::set<std::string> volumes;
  for (int i = 0; i < 20; ++i) {
    const std::string content = "content " + std::to_string(i);
    const Result<Stored> stored = Put(content);
    ASSERT_TRUE(stored) << stored.error().text;
    volumes.insert(stored->key.volume);
    EXPECT_EQ(*ReadAll(store_.instance->Retrieve(stored->key)), content);
    const Result<Stored> again = Put(content);
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->is_new);
    EXPECT_EQ(again->key, stored->key);
    EXPECT_TRUE(store_.instance->Delete(stored->key, {"test", "rm-" + std::to_string(i)}));
    EXPECT_EQ(store_.instance->Stat(stored->key)->references, 1u);
  }
  EXPECT_EQ(volumes.size(), 2u);
}

TEST_F(ConnectTest, W10_ADeadNodeCostsOnlyItsOwnContents) {
  const Result<Stored> here = Put("here", "v1");
  const Result<Stored> there = Put("there", "v2");
  const Result<Stored> replica = Put("here", "v2");
  ASSERT_TRUE(here && there && replica);
  first_.Die();
  const Result<std::string> lost = ReadAll(store_.instance->Retrieve(here->key));
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().text, HasSubstr("volume v1"));
  EXPECT_EQ(*ReadAll(store_.instance->Retrieve(there->key)), "there");
  const ContentKey replicas[] = {here->key, replica->key};
  EXPECT_EQ(*ReadAll(store_.instance->RetrieveAny(replicas)), "here");
  for (int i = 0; i < 10; ++i) {
    const Result<Stored> stored = Put("new " + std::to_string(i));
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_EQ(stored->key.volume, "v2");
  }
}

TEST(Connect, W8_AWrongConnectorIsRefused) {
  EXPECT_THAT(Connect("<connector/>", {}).error().text, HasSubstr("line 1"));
  io::MemoryFileSystem fs;
  ASSERT_TRUE(io::ReplaceFile(fs, "c.xml", "<connector/>"));
  EXPECT_THAT(ConnectFile(fs, "c.xml", {}).error().text, HasSubstr("c.xml: connector, line 1"));
  EXPECT_EQ(ConnectFile(fs, "missing", {}).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stele::store
