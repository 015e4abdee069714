#include "formats/record/payload.h"

#include <gtest/gtest.h>

namespace stele::record {
namespace {

class Collector final : public PayloadSink {
 public:
  void OnPayload(std::string_view piece) override { bytes += piece; }
  std::string bytes;
};

Record HttpResponse() {
  Record record;
  record.type = RecordType::kResponse;
  record.content_type = "application/http; msgtype=response";
  return record;
}

// Feeds a block in pieces that are gone when the next one comes.
std::string Feed(PayloadStream& stream, std::string_view block, std::size_t piece_bytes) {
  const Record record = HttpResponse();
  stream.Begin(record);
  Collector payload;
  while (!block.empty()) {
    std::string piece(block.substr(0, piece_bytes));
    block.remove_prefix(piece.size());
    stream.Feed(piece, &payload);
    std::fill(piece.begin(), piece.end(), '#');
  }
  stream.Finish(&payload);
  return payload.bytes;
}

TEST(PayloadStream, KeepsTheHeadWhileTheBodyStreamsBy) {
  const std::string body(5000, 'b');
  for (const std::size_t padding : {std::size_t{0}, std::size_t{3000}, std::size_t{30000}}) {
    const std::string head = "HTTP/1.1 200 OK\r\nX: " + std::string(padding, 'x') +
                             "\r\nContent-Type: text/html\r\n\r\n";
    for (const std::size_t piece : {1, 7, 100, 2048, 4096, 100000}) {
      PayloadStream stream;
      EXPECT_EQ(Feed(stream, head + body, piece), body) << padding << ' ' << piece;
      ASSERT_NE(stream.response(), nullptr);
      EXPECT_EQ(stream.response()->headers.Find("Content-Type"), "text/html");
      EXPECT_EQ(stream.response()->raw, head);
      EXPECT_EQ(stream.head_length(), head.size());
    }
  }
}

TEST(PayloadStream, ABlockWithoutAHeadIsAllPayload) {
  for (const std::string& block : {std::string("<html>no head"), std::string("HTTP/1.1 but then\n"),
                                   std::string("HT"), std::string(5000, 'b'), std::string()}) {
    PayloadStream whole;
    const std::string expected = Feed(whole, block, 1 << 20);
    for (const std::size_t piece : {1, 2, 3, 2048, 4000}) {
      PayloadStream stream;
      EXPECT_EQ(Feed(stream, block, piece), expected);
      EXPECT_EQ(stream.response() == nullptr, whole.response() == nullptr);
      EXPECT_TRUE(stream.response() != nullptr || expected == block);
    }
  }
}

}  // namespace
}  // namespace stele::record
