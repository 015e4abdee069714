// Applications that share a server, each with a token of its own.
#include <gmock/gmock.h>

#include "store/remote/test_service.h"

namespace stele::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kOneToken = "token-of-one-one-one";
constexpr const char* kTwoToken = "token-of-two-two-two";

class VolumeServiceOwners : public testing::Test {
 protected:
  VolumeServiceOwners()
      : served_("v", {.token = "administrator",
                      .owners = *ParseOwners("one token:token-of-one-one-one bytes=1000\n"
                                             "two token:token-of-two-two-two\n")}),
        client_(NewClient()),
        one_(NewRemote(*client_, served_.port(), kOneToken)),
        two_(NewRemote(*client_, served_.port(), kTwoToken)),
        administrator_(NewRemote(*client_, served_.port(), "administrator")) {}

  static StoreRequest For(std::string_view content, const Operation& operation) {
    return {Sha256Signatures().Of(content), content.size(), StoreMode::kRegular, "", operation};
  }
  static Result<Stored> Add(Volume& volume, std::string_view content, const Operation& operation) {
    io::MemorySource source(content);
    return volume.Store(For(content, operation), source);
  }

  int StatusOf(const std::string& method, const std::string& target, const std::string& token) {
    net::ClientRequest request;
    request.endpoint = {false, "127.0.0.1", served_.port()};
    request.method = method;
    request.target = "/v1/volumes/v" + target;
    if (!token.empty()) request.fields.push_back({"Authorization", "Bearer " + token});
    const auto response = client_->Send(request);
    return response ? (*response)->status() : 0;
  }

  ServedVolume served_;
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<RemoteVolume> one_;
  std::unique_ptr<RemoteVolume> two_;
  std::unique_ptr<RemoteVolume> administrator_;
};

TEST_F(VolumeServiceOwners, W6_TheTokenDecidesWhoAsks) {
  const ContentKey key = Add(*one_, "content", {"one", "1"})->key;
  const std::string block = "/contents/" + BlockName(key.signature, 0);
  for (const std::string& target : {std::string(""), block, block + "/info", std::string("/owners"),
                                    std::string("/contents")}) {
    EXPECT_EQ(StatusOf("GET", target, ""), 401) << target;
    EXPECT_EQ(StatusOf("GET", target, "token-of-nobody-at-all"), 401) << target;
    EXPECT_EQ(StatusOf("GET", target, "administrator"), 200) << target;
  }
  EXPECT_EQ(StatusOf("GET", "", kOneToken), 403);
  EXPECT_EQ(StatusOf("GET", "/state", kOneToken), 200);
  EXPECT_EQ(StatusOf("PUT", "/state?state=frozen", kOneToken), 403);
  EXPECT_EQ(StatusOf("POST", "/compact", kOneToken), 403);
  EXPECT_EQ(StatusOf("GET", "/contents?owner=one", kTwoToken), 403);
  EXPECT_EQ(StatusOf("GET", "/owners?owner=one", kTwoToken), 403);
  EXPECT_EQ(StatusOf("DELETE", block + "?owner=one&operation=9", kTwoToken), 403);
  EXPECT_EQ(StatusOf("POST", block + "/references?owner=one&operation=9", kTwoToken), 403);
  EXPECT_EQ(StatusOf("GET", block, kOneToken), 200);
  EXPECT_EQ(StatusOf("GET", block, kTwoToken), 404);
  EXPECT_EQ(StatusOf("HEAD", block, kTwoToken), 404);
  EXPECT_EQ(StatusOf("GET", block + "/info", kTwoToken), 404);
  EXPECT_EQ(ReferencesOf(served_.volume(), key), 1u);
}

TEST_F(VolumeServiceOwners, W6_OwnersShareBlocksButNotContents) {
  const ContentKey key = Add(*one_, "content", {"one", "1"})->key;
  EXPECT_EQ(two_->Reference(For("content", {"two", "1"}))->outcome, Lookup::Outcome::kUnknown);
  EXPECT_THAT(*two_->List({}), IsEmpty());
  io::MemorySource wrong("CONTENT");
  EXPECT_FALSE(two_->Store(For("content", {"two", "1"}), wrong));
  EXPECT_EQ(two_->Retrieve(key).error().code, ErrorCode::kNotFound);
  const Result<Stored> stored = Add(*two_, "content", {"two", "1"});
  ASSERT_TRUE(stored) << stored.error().text;
  EXPECT_FALSE(stored->is_new);
  EXPECT_EQ(Get(*two_, key), "content");
  EXPECT_EQ(two_->Stat(key)->references, 1u);
  EXPECT_EQ(administrator_->Stat(key)->references, 2u);
  EXPECT_EQ(administrator_->Owners()->size(), 2u);
  EXPECT_EQ(two_->Owners()->size(), 1u);
  EXPECT_EQ(administrator_->Stats()->blocks, 1u);
}

TEST_F(VolumeServiceOwners, W6_AQuotaHasAnErrorOfItsOwn) {
  ASSERT_TRUE(Add(*one_, std::string(600, 'x'), {"one", "1"}));
  const Result<Stored> refused = Add(*one_, std::string(401, 'y'), {"one", "2"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(IsQuotaError(refused.error()));
  EXPECT_THAT(refused.error().text, HasSubstr("one holds 600 of 1000 bytes in volume v"));
  const StoreRequest request = For(std::string(600, 'x'), {"one", "3"});
  EXPECT_EQ(StatusOf("POST", "/references?" + wire::FormatQuery(wire::QueryOf(request)), kOneToken),
            413);
  EXPECT_TRUE(Add(*two_, std::string(5000, 'y'), {"two", "1"}));
  EXPECT_EQ(*administrator_->UsageOf("one"), (OwnerUsage{"one", 1, 600}));
}

TEST(VolumeServiceOwnersOnly, W6_WithoutAnAdministratorsTokenNobodyIsOne) {
  ServedVolume served("v", {.owners = *ParseOwners("one token:token-of-one-one-one")});
  const auto client = NewClient();
  EXPECT_FALSE(NewRemote(*client, served.port())->Stats());
  EXPECT_FALSE(NewRemote(*client, served.port(), kOneToken)->Stats());
  EXPECT_TRUE(NewRemote(*client, served.port(), kOneToken)->Owners());
}

}  // namespace
}  // namespace stele::store
