#include "net/response_collector.h"

#include <gtest/gtest.h>

namespace stele::net {
namespace {

using End = ResponseCollector::End;

struct Outcome {
  FetchResult result;
  std::string bytes;
  std::size_t memory = 0;
  std::size_t taken = 0;  // of the input
  bool reusable = false;
};

Outcome Collect(const FetchRequest& request, std::string_view input, std::size_t piece,
                std::size_t memory_max = 1 << 20, End end = End::kClosed) {
  Outcome outcome;
  ResponseCollector collector(request, outcome.result, memory_max);
  std::string rest;
  while (!input.empty() && !collector.done()) {
    collector.OnBytes(input.substr(0, piece));
    outcome.taken += std::min(piece, input.size());
    input.remove_prefix(std::min(piece, input.size()));
    rest += collector.TakePending();
  }
  if (!collector.done()) collector.OnEnd(end);
  rest += collector.TakePending();
  outcome.reusable = collector.reusable();
  outcome.bytes = collector.TakeMemory();
  outcome.memory = outcome.bytes.size();
  outcome.bytes = outcome.result.interim + outcome.bytes + rest;
  return outcome;
}

TEST(ResponseCollector, PiecesDoNotMatter) {
  const std::string input =
      "HTTP/1.1 103 Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nA: b\r\n\r\nHTTP/1.1 200 surplus";
  const std::size_t end = input.find("HTTP/1.1 200 surplus");
  const Outcome whole = Collect({}, input, input.size());
  EXPECT_EQ(whole.bytes, input.substr(0, end));
  EXPECT_TRUE(whole.result.surplus);
  EXPECT_FALSE(whole.reusable);
  for (std::size_t piece = 1; piece < input.size(); ++piece) {
    const Outcome outcome = Collect({}, input, piece);
    EXPECT_EQ(outcome.bytes, whole.bytes);
    EXPECT_EQ(outcome.result.head_length, whole.result.head_length);
    EXPECT_EQ(outcome.result.interim, "HTTP/1.1 103 Hints\r\nLink: <a>\r\n\r\n");
    EXPECT_EQ(outcome.result.payload_length, 11U);
    EXPECT_EQ(outcome.reusable, !outcome.result.surplus);
    EXPECT_EQ(outcome.result.surplus, outcome.taken > end);
  }
}

TEST(ResponseCollector, MemoryIsBounded) {
  const std::string head = "HTTP/1.1 200 OK\r\n\r\n";
  const std::string input = head + std::string(10'000, 'x');
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, input.size()}) {
    const Outcome outcome = Collect({}, input, piece, 100);
    EXPECT_EQ(outcome.memory, 100U);
    EXPECT_EQ(outcome.bytes, input);
  }
  // A head is always kept whole.
  EXPECT_EQ(Collect({}, input, 5, 3).memory, head.size());
}

TEST(ResponseCollector, MethodsDecideAboutBodies) {
  FetchRequest request;
  request.method = "HEAD";
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  const Outcome outcome = Collect(request, head, 1);
  EXPECT_EQ(outcome.bytes, head);
  EXPECT_EQ(outcome.result.truncation, Truncation::kNone);
  EXPECT_TRUE(outcome.reusable);
}

TEST(ResponseCollector, ARequestThatClosesIsTheLast) {
  FetchRequest request;
  request.fields = {{"connection", "Close"}};
  EXPECT_FALSE(Collect(request, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 99).reusable);
}

TEST(ResponseCollector, AHeadWithoutLengthTakesTheLimitAsItsEnd) {
  FetchRequest request;
  request.limits.body_size_max = 4;
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t piece = 1; piece < 30; ++piece) {
    const Outcome outcome = Collect(request, head + "9\r\nabcdefghi\r\n0\r\n\r\n", piece);
    EXPECT_EQ(outcome.bytes, head + "9\r\na");
    EXPECT_EQ(outcome.result.payload_length, 1U);
    EXPECT_EQ(outcome.result.truncation, Truncation::kLength);
    EXPECT_FALSE(outcome.reusable);
  }
}

TEST(ResponseCollector, ALimitWithinAChunkSizeLosesNoPayload) {
  FetchRequest request;
  request.limits.body_size_max = 4;
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  Outcome outcome = Collect(request, head + "1;extension\r\na\r\n0\r\n\r\n", 100);
  EXPECT_EQ(outcome.bytes, head + "1;ex");
  outcome.result.response = SpooledBytes(outcome.bytes);
  std::string joined;
  EXPECT_EQ(outcome.result.PayloadInMemory(joined)->size(), outcome.result.payload_length);
}

}  // namespace
}  // namespace stele::net
