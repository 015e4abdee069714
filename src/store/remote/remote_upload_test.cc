// Contents that are too large to be kept in memory, on their way to a server: what crosses the
// network, and what becomes of those that are not what they say.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>

#include "codec/registry.h"
#include "store/container_test_lab.h"
#include "store/packed_content.h"
#include "store/remote/test_service.h"
#include "store/remote/wire.h"

namespace stele::store {
namespace {

using testing::IsEmpty;

// Bytes that shrink, and many of them.
std::string TextOf(std::size_t size) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < size; ++i) text += fmt::format("line {}\n", i * i * i);
  text.resize(size);
  return text;
}

// A request whose body is counted as it comes from the wire.
class CountedRequest final : public net::Request, public io::Source {
 public:
  CountedRequest(net::Request& request, std::atomic<std::uint64_t>& bytes)
      : request_(request), bytes_(bytes) {}
  const http::RequestHead& head() const override { return request_.head(); }
  std::string_view path() const override { return request_.path(); }
  std::string_view query() const override { return request_.query(); }
  std::string_view peer() const override { return request_.peer(); }
  bool secure() const override { return request_.secure(); }
  io::Source& body() override { return *this; }
  std::optional<std::uint64_t> body_length() const override { return request_.body_length(); }
  Result<std::size_t> Read(std::span<char> out) override {
    Result<std::size_t> read = request_.body().Read(out);
    if (read) bytes_ += *read;
    return read;
  }

 private:
  net::Request& request_;
  std::atomic<std::uint64_t>& bytes_;
};

class RemoteUpload : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    lab_.shape.name = "v";
    Result<std::unique_ptr<Member>> opened =
        GetParam() ? OpenMember(lab_.disk, lab_.Make())
                   : OpenMember(lab_.disk, NewVolume(lab_.disk, {.name = "v"}, {}));
    ASSERT_TRUE(opened) << opened.error().text;
    member_ = *std::move(opened);
    service_ = std::make_unique<VolumeService>(std::vector<MemberVolume*>{member_.get()},
                                               VolumeService::Options());
    server_ = std::make_unique<net::TestServer>(
        [this](net::Request& request, net::ResponseWriter& response) {
          CountedRequest counted(request, bytes_);
          service_->Handle(counted, response);
        });
    client_ = NewClient();
    remote_ = NewRemote(*client_, (**server_).port());
  }
  void TearDown() override {
    EXPECT_THAT(Findings(*member_), IsEmpty());
    EXPECT_THAT(*lab_.disk.List("v/temporary"), IsEmpty());
  }

  // Sends bytes as the content of a request, whatever they are.
  int Send(const StoreRequest& request, const std::string& coding, std::string_view body) {
    net::ClientRequest sent;
    sent.endpoint = {false, "127.0.0.1", (**server_).port()};
    sent.method = "POST";
    sent.target = "/v1/volumes/v/contents?" + wire::FormatQuery(wire::QueryOf(request));
    sent.fields.push_back({"Content-Encoding", coding});
    io::MemorySource source(body);
    sent.body_source = &source;
    const auto response = client_->Send(sent);
    return response ? (*response)->status() : 0;
  }
  StoreRequest NewRequest(std::string_view content) {
    return Sha256Request(content, std::to_string(++operations_));
  }

  ContainerLab lab_;
  std::unique_ptr<Member> member_;
  std::unique_ptr<VolumeService> service_;
  std::atomic<std::uint64_t> bytes_ = 0;  // of bodies
  std::unique_ptr<net::TestServer> server_;
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<RemoteVolume> remote_;
  int operations_ = 0;
};

TEST_P(RemoteUpload, W7_LargeContentsCrossTheNetworkCompressed) {
  const std::string text = TextOf(3'000'000);
  for (const std::string codec : {"", "gzip:6", "zstd:3"}) {
    if (codec == "zstd:3" && GetParam()) continue;  // not in containers
    const std::string content = codec + text;
    StoreRequest request = NewRequest(content);
    request.codec = codec;
    bytes_ = 0;
    io::MemorySource source(content);
    const Result<Stored> stored = remote_->Store(request, source);
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_GT(bytes_, 0u);
    EXPECT_LT(bytes_, content.size() / 2) << codec;
    EXPECT_EQ(Get(*remote_, stored->key), content);
    EXPECT_LT(remote_->Stat(stored->key)->stored_size, content.size() / 2);
    // A duplicate is not sent at all.
    bytes_ = 0;
    EXPECT_EQ(remote_->Reference(NewRequest(content))->key, stored->key);
    EXPECT_EQ(bytes_, 0u);
  }
}

TEST_P(RemoteUpload, W7_WhatIsStoredAsItIsCrossesTheNetworkAsItIs) {
  const std::string content = NoiseOf(2'000'000, 1);
  StoreRequest request = NewRequest(content);
  request.media_type = "image/jpeg";
  io::MemorySource source(content);
  const Result<Stored> stored = remote_->Store(request, source);
  ASSERT_TRUE(stored) << stored.error().text;
  EXPECT_EQ(bytes_, content.size());
  EXPECT_EQ(Get(*remote_, stored->key), content);
  // What does not shrink although it could has hardly more bytes on the way.
  const std::string other = NoiseOf(2'000'000, 2);
  bytes_ = 0;
  io::MemorySource noise(other);
  const Result<Stored> as_text = remote_->Store(NewRequest(other), noise);
  ASSERT_TRUE(as_text) << as_text.error().text;
  EXPECT_LT(bytes_, other.size() + other.size() / 100);
  EXPECT_EQ(Get(*remote_, as_text->key), other);
}

TEST_P(RemoteUpload, W7_DamagedContentsAreRestoredCompressed) {
  const std::string content = TextOf(2'000'000);
  StoreRequest request = NewRequest(content);
  io::MemorySource source(content);
  const Result<Stored> stored = remote_->Store(request, source);
  ASSERT_TRUE(stored);
  bytes_ = 0;
  io::MemorySource again(content);
  const Status restored = remote_->Restore(stored->key, content.size(), again);
  ASSERT_TRUE(restored) << restored.error().text;
  EXPECT_LT(bytes_, content.size() / 2);
  EXPECT_EQ(Get(*remote_, stored->key), content);
  io::MemorySource other(std::string_view(content).substr(1));
  EXPECT_FALSE(remote_->Restore(stored->key, content.size() - 1, other));
}

TEST_P(RemoteUpload, W7_LiesAreRefused) {
  const codec::Registry codecs = codec::StandardRegistry();
  const std::string content = TextOf(1'500'000);
  const std::string bomb(60'000'000, '\0');
  for (const std::string coding : {"gzip", "zstd"}) {
    const std::string good = *codecs.Find(coding)->Compress(content, 1);
    // Longer, shorter and other contents than was said; streams that are cut off, go on, or are
    // nothing.
    for (const std::string& body :
         {*codecs.Find(coding)->Compress(bomb, 1), *codecs.Find(coding)->Compress(content + "x", 1),
          *codecs.Find(coding)->Compress(content.substr(1), 1),
          *codecs.Find(coding)->Compress("x" + content.substr(1), 1),
          good.substr(0, good.size() - 1), good.substr(0, good.size() / 2), good + "x", good + good,
          content, std::string()}) {
      EXPECT_EQ(Send(NewRequest(content), coding, body), 400) << coding << ' ' << body.size();
    }
    StoreRequest less = NewRequest(content);
    less.size -= 1;
    EXPECT_EQ(Send(less, coding, good), 400);
  }
  codec::BlockDeflater deflater(1);
  std::string ours = PackGzip(content, deflater);
  EXPECT_EQ(Send(NewRequest(content.substr(0, content.size() - 1)), "gzip", ours), 400);
  ours[ours.size() / 2] = static_cast<char>(~ours[ours.size() / 2]);
  EXPECT_EQ(Send(NewRequest(content), "gzip", ours), 400);
  EXPECT_EQ(Send(NewRequest(content), "br", ours), 400);
  EXPECT_EQ(member_->Stats()->blocks, 0u);
}

// A content whose source fails, and one that is not as long as was said.
TEST_P(RemoteUpload, W8_AStreamThatBreaksLeavesNothing) {
  class Breaking final : public io::Source {
   public:
    explicit Breaking(std::string_view content) : content_(content) {}
    Result<std::size_t> Read(std::span<char> out) override {
      const Result<std::size_t> read = content_.Read(out);
      if (read && *read == 0) return Error{ErrorCode::kIo, "the disk is gone"};
      return read;
    }

   private:
    io::MemorySource content_;
  };
  const std::string content = TextOf(3'000'000);
  Breaking breaking(std::string_view(content).substr(0, 2'000'000));
  const Result<Stored> broken = remote_->Store(NewRequest(content), breaking);
  EXPECT_EQ(broken.error().text, "the disk is gone");
  io::MemorySource shorter(std::string_view(content).substr(1));
  EXPECT_EQ(remote_->Store(NewRequest(content), shorter).error().code, ErrorCode::kInvalid);
  server_.reset();  // after the handlers
  EXPECT_EQ(member_->Stats()->blocks, 0u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RemoteUpload, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Container" : "Tree"; });

}  // namespace
}  // namespace stele::store
