#include "store/remote/remote_content.h"

#include <gmock/gmock.h>

#include "codec/registry.h"
#include "store/remote/test_service.h"
#include "store/remote/wire.h"

namespace stele::store {
namespace {

using testing::HasSubstr;

std::string Packed(const std::string& codec, std::string_view content) {
  static const codec::Registry registry = codec::StandardRegistry();
  return *registry.Find(codec)->Compress(content, 1);
}

// A server that answers every question in the same way, and a client that asks for `wanted`.
class RemoteContentTest : public testing::Test {
 protected:
  Result<std::string> Ask(std::string_view wanted, const std::string& coding, std::string body,
                          const std::string& size) {
    net::TestServer server([&](net::Request&, net::ResponseWriter& response) {
      net::ResponseStart start;
      if (!coding.empty()) start.fields.push_back({"Content-Encoding", coding});
      if (!size.empty()) start.fields.push_back({std::string(wire::kContentSizeHeader), size});
      ASSERT_TRUE(response.Reply(start, body));
    });
    const auto client = NewClient();
    const auto remote = NewRemote(*client, server->port());
    return ReadAll(remote->Retrieve({"v", Sha256Signatures().Of(wanted), 0}));
  }
  std::string Refused(std::string_view wanted, const std::string& coding, std::string body,
                      const std::string& size) {
    const Result<std::string> read = Ask(wanted, coding, std::move(body), size);
    if (read) return "not refused";
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    return read.error().text;
  }
};

TEST_F(RemoteContentTest, W7_UndoesTheCompressionAndVerifies) {
  for (const std::string& content : {std::string(), std::string("text"), std::string(50'000, 'a'),
                                     std::string(3'000'000, 'b')}) {
    const std::string size = std::to_string(content.size());
    EXPECT_EQ(*Ask(content, "", content, ""), content);
    for (const std::string codec : {"gzip", "zstd"}) {
      EXPECT_EQ(*Ask(content, codec, Packed(codec, content), size), content) << codec;
    }
  }
}

TEST_F(RemoteContentTest, W7_RefusesWhatIsNotTheContent) {
  for (const std::string& content : {std::string("text"), std::string(3'000'000, 'b')}) {
    const std::string size = std::to_string(content.size());
    const std::string less = std::to_string(content.size() - 1);
    const std::string more = std::to_string(content.size() + 1);
    for (const std::string codec : {"gzip", "zstd"}) {
      SCOPED_TRACE(codec + " " + size);
      const std::string packed = Packed(codec, content);
      EXPECT_THAT(Refused("other", codec, packed, size), HasSubstr("other bytes than were stored"));
      EXPECT_NE(Refused(content, codec, packed, less), "not refused");
      EXPECT_NE(Refused(content, codec, packed, more), "not refused");
      EXPECT_NE(Refused(content, codec, packed + "x", size), "not refused");
      EXPECT_NE(Refused(content, codec, packed.substr(0, packed.size() - 1), size), "not refused");
      EXPECT_NE(Refused(content, codec, "no " + codec, size), "not refused");
    }
    EXPECT_THAT(Refused(content, "br", content, size), HasSubstr("compressed it with br"));
  }
}

// A gigabyte that a server packs into a megabyte, whether it says so or not.
TEST_F(RemoteContentTest, W7_ABombIsStoppedWhereItBegins) {
  const std::string bomb = Packed("zstd", std::string(100'000'000, '\0'));
  for (const std::string size : {"100", "2000000"}) {
    EXPECT_NE(Refused("wanted", "zstd", bomb, size), "not refused");
  }
}

}  // namespace
}  // namespace stele::store
