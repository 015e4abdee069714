#include "store/remote/volume_service.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "codec/registry.h"
#include "store/remote/test_service.h"
#include "store/remote/wire.h"

namespace stele::store {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr std::string_view kPage = "<p>a page</p>";

class VolumeServiceTest : public testing::Test {
 protected:
  using Response = net::RawClient::Response;

  Response Ask(const std::string& method, const std::string& target, std::string_view body = "",
               const std::string& fields = "") {
    net::RawClient client(served_.port());
    std::string head = method + " /v1" + target + " HTTP/1.1\r\nHost: h\r\n" + fields;
    if (method == "POST") head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    EXPECT_TRUE(client.Send(head + "\r\n" + std::string(body)));
    return client.ReceiveResponse(method);
  }
  static std::string Query(std::string_view content, const std::string& id,
                           StoreMode mode = StoreMode::kRegular) {
    return "?" + wire::FormatQuery(wire::QueryOf(Sha256Request(content, id, mode)));
  }
  Response Put(std::string_view content, const std::string& id) {
    return Ask("POST", "/volumes/v/contents" + Query(content, id), content);
  }
  static std::string Block(std::string_view content) {
    return Sha256Signatures().Of(content).Hex();
  }

  ServedVolume served_{"v"};
};

TEST_F(VolumeServiceTest, W8_AContentIsStoredRetrievedAndDeleted) {
  const Response stored = Put(kPage, "1");
  EXPECT_EQ(stored.status, 201);
  EXPECT_EQ(json::parse(stored.body), json({{"key", "v:" + Block(kPage)}, {"new", true}}));
  const std::string content = "/volumes/v/contents/" + Block(kPage);
  const Response got = Ask("GET", content);
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, kPage);
  EXPECT_THAT(got.head, HasSubstr("Content-Length: 13\r\n"));
  EXPECT_THAT(got.head, HasSubstr("Stele-Volume-State: writable\r\n"));
  EXPECT_THAT(Ask("HEAD", content).head, HasSubstr("Content-Length: 13\r\n"));
  EXPECT_EQ(json::parse(Ask("GET", content + "/info").body)["references"], 1);
  EXPECT_EQ(Ask("DELETE", content + "?owner=test&operation=2").status, 204);
  EXPECT_EQ(Ask("GET", content).status, 404);
}

TEST_F(VolumeServiceTest, W7_AContentComesCompressedToWhoeverTakesIt) {
  const std::string page = "<p>" + std::string(5000, 'x') + "</p>";
  Put(page, "1");
  const std::string content = "/volumes/v/contents/" + Block(page);
  for (const std::string accepted : {"gzip", "br;q=0.9, GZIP;q=0.5"}) {
    const Response got = Ask("GET", content, "", "Accept-Encoding: " + accepted + "\r\n");
    EXPECT_THAT(got.head, HasSubstr("Content-Encoding: gzip\r\n"));
    EXPECT_THAT(got.head, HasSubstr("Stele-Content-Size: 5007\r\n"));
    EXPECT_LT(got.body.size(), 500u);
    EXPECT_EQ(*codec::StandardRegistry().Find("gzip")->Decompress(got.body, page.size()), page);
  }
  for (const std::string accepted : {"identity", "br", "gzip;q=0", "gzip;q=0.000", "*"}) {
    const Response got = Ask("GET", content, "", "Accept-Encoding: " + accepted + "\r\n");
    EXPECT_EQ(got.body, page) << accepted;
  }
  const Response head = Ask("HEAD", content, "", "Accept-Encoding: gzip\r\n");
  EXPECT_THAT(head.head, HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_EQ(
      Ask("GET", "/volumes/v/contents/" + Block("none"), "", "Accept-Encoding: gzip\r\n").status,
      404);
}

TEST_F(VolumeServiceTest, W7_AContentCanBeSentCompressed) {
  const std::string page = "<p>" + std::string(5000, 'x') + "</p>";
  int number = 0;
  const auto send = [&](const std::string& coding, std::string_view body) {
    return Ask("POST", "/volumes/v/contents" + Query(page, std::to_string(++number)), body,
               "Content-Encoding: " + coding + "\r\n")
        .status;
  };
  const codec::Registry codecs = codec::StandardRegistry();
  EXPECT_EQ(send("br", "x"), 400);
  EXPECT_EQ(send("gzip", page), 400);
  EXPECT_EQ(send("gzip", *codecs.Find("gzip")->Compress(page + "more", 1)), 400);
  EXPECT_EQ(send("gzip", *codecs.Find("gzip")->Compress(page, 1)), 201);
  EXPECT_EQ(send("zstd", *codecs.Find("zstd")->Compress(page, 1)), 200);
  EXPECT_EQ(Ask("GET", "/volumes/v/contents/" + Block(page)).body, page);
}

TEST_F(VolumeServiceTest, W4_ADuplicateIsReferencedWithoutItsBytes) {
  const std::string references = "/volumes/v/references";
  EXPECT_EQ(json::parse(Ask("POST", references + Query(kPage, "1")).body)["outcome"], "unknown");
  ASSERT_EQ(Put(kPage, "1").status, 201);
  const json found = json::parse(Ask("POST", references + Query(kPage, "2")).body);
  EXPECT_EQ(found, json({{"outcome", "referenced"}, {"key", "v:" + Block(kPage)}}));
  const Response compared = Ask("POST", references + Query(kPage, "3", StoreMode::kCompare));
  EXPECT_EQ(json::parse(compared.body)["outcome"], "candidate");
  EXPECT_EQ(served_.volume().Stats()->references, 2u);
}

TEST_F(VolumeServiceTest, W6_ARepeatedOperationCountsOnce) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Put(kPage, "1").status, i == 0 ? 201 : 200);
  EXPECT_EQ(served_.volume().Stats()->references, 1u);
}

TEST_F(VolumeServiceTest, W8_ManySignaturesAreLookedUpInOneRequest) {
  ASSERT_EQ(Put(kPage, "1").status, 201);
  const Response found =
      Ask("POST", "/volumes/v/lookup", Block(kPage) + "\n" + Block("other") + "\r\n\n");
  EXPECT_EQ(found.status, 200);
  const json contents = json::parse(found.body)["contents"];
  ASSERT_EQ(contents.size(), 2u);
  EXPECT_EQ(contents[0]["size"], kPage.size());
  EXPECT_EQ(contents[1], json({{"key", "v:" + Block("other")}, {"error", "not-found"}}));
  EXPECT_EQ(Ask("POST", "/volumes/v/lookup", "").status, 200);
  EXPECT_THAT(Ask("POST", "/volumes/v/lookup", "ADEE\nxyz\n").body, HasSubstr("line 2"));
}

TEST_F(VolumeServiceTest, W9_TheStateIsToldAndSet) {
  EXPECT_EQ(json::parse(Ask("GET", "/volumes/v/state").body)["state"], "writable");
  EXPECT_EQ(Ask("PUT", "/volumes/v/state?state=read-only").status, 200);
  EXPECT_EQ(served_.volume().state(), VolumeState::kReadOnly);
  const Response refused = Put(kPage, "1");
  EXPECT_EQ(refused.status, 507);
  EXPECT_EQ(json::parse(refused.body)["error"]["code"], "full");
  EXPECT_EQ(Ask("PUT", "/volumes/v/state?state=full").status, 400);
  EXPECT_EQ(json::parse(Ask("GET", "/volumes/v").body)["state"], "read-only");
  EXPECT_EQ(json::parse(Ask("GET", "/health").body), json({{"status", "ok"}, {"volumes", {"v"}}}));
}

TEST_F(VolumeServiceTest, W8_WrongRequestsAreRefusedWithTheReason) {
  const auto code = [](const Response& response) {
    const json body = json::parse(response.body, nullptr, false);
    return body.is_object() ? body["error"]["code"].get<std::string>() : "none";
  };
  const std::string contents = "/volumes/v/contents";
  for (const std::string& target :
       {contents, contents + "?signature=ad&size=1", contents + "?signature=AD&size=x",
        contents + "?signature=AD&size=1&mode=odd&owner=a&operation=b",
        contents + "?signature=AD&size=0&owner=a", contents + "?a=1&a=2", contents + "?a=%zz"}) {
    const Response refused = Ask("POST", target);
    EXPECT_EQ(refused.status, 400) << target;
    EXPECT_EQ(code(refused), "invalid") << target;
  }
  EXPECT_EQ(Ask("POST", contents + Query(kPage, "1"), "short").status, 400);
  const std::string other_bytes(kPage.size(), 'x');
  EXPECT_EQ(Ask("POST", contents + Query(kPage, "1"), other_bytes).status, 400);
  EXPECT_EQ(Ask("GET", contents + "/../volume").status, 400);
  EXPECT_EQ(Ask("GET", "/volumes/w").status, 404);
  EXPECT_EQ(Ask("GET", "/elsewhere").status, 404);
  const Response wrong_method = Ask("DELETE", "/volumes/v");
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_THAT(wrong_method.head, HasSubstr("Allow: GET, HEAD\r\n"));
  EXPECT_EQ(served_.volume().Stats()->blocks, 0u);
}

TEST(VolumeServiceToken, W8_NobodyGetsInWithoutTheToken) {
  ServedVolume served("v", {.token = "secret"});
  const auto status = [&](const std::string& field) {
    net::RawClient client(served.port());
    EXPECT_TRUE(client.Send("GET /v1/volumes/v HTTP/1.1\r\nHost: h\r\n" + field + "\r\n"));
    return client.ReceiveResponse().status;
  };
  EXPECT_EQ(status(""), 401);
  EXPECT_EQ(status("Authorization: Bearer secre\r\n"), 401);
  EXPECT_EQ(status("Authorization: Bearer secreT\r\n"), 401);
  EXPECT_EQ(status("Authorization: Basic secret\r\n"), 401);
  EXPECT_EQ(status("Authorization: Bearer secret\r\n"), 200);
  net::RawClient client(served.port());
  EXPECT_TRUE(client.Send("GET /v1/health HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_EQ(client.ReceiveResponse().status, 200);
}

}  // namespace
}  // namespace stele::store
