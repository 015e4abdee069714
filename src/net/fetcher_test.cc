// Every way in which a server misbehaves: the bytes in the result are those that were sent.
#include "net/fetcher.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/fault_file_system.h"
#include "net/test_fetch_lab.h"
#include "net/test_wire_server.h"

namespace stele::net {
namespace {

using http::Defect;
using std::chrono::milliseconds;
using testing::HasSubstr;
using namespace std::string_literals;
using End = WireAnswer::End;

struct EdgeCase {
  std::string name;
  std::string sent;
  End end = End::kClose;
  int status = 200;
  std::string payload = {};
  Truncation truncation = Truncation::kNone;
  FetchFailure failure = FetchFailure::kNone;
  std::string kept = {};  // of `sent`, where it is not all
  bool reusable = false;
};

const EdgeCase kEdgeCases[] = {
    {.name = "plain",
     .sent = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
     .end = End::kKeep,
     .payload = "abc",
     .reusable = true},
    {.name = "until_close", .sent = "HTTP/1.1 200 OK\r\n\r\nabc", .payload = "abc"},
    {.name = "until_close_reset",
     .sent = "HTTP/1.1 200 OK\r\n\r\nabc",
     .end = End::kReset,
     .payload = "abc",
     .truncation = Truncation::kDisconnect},
    {.name = "short_body",
     .sent = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
     .payload = "abc",
     .truncation = Truncation::kDisconnect},
    {.name = "short_body_reset",
     .sent = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
     .end = End::kReset,
     .payload = "abc",
     .truncation = Truncation::kDisconnect},
    {.name = "short_body_hang",
     .sent = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
     .end = End::kHang,
     .payload = "abc",
     .truncation = Truncation::kTime},
    {.name = "surplus",
     .sent = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef",
     .end = End::kKeep,
     .payload = "abc",
     .kept = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"},
    {.name = "empty_body",
     .sent = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
     .end = End::kKeep,
     .reusable = true},
    {.name = "chunked",
     .sent = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
             "3;ext=\"1\"\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n",
     .end = End::kKeep,
     .payload = "abcde",
     .reusable = true},
    {.name = "chunked_no_final_chunk",
     .sent = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
     .payload = "abc",
     .truncation = Truncation::kDisconnect},
    {.name = "chunked_no_final_line",
     .sent = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
     .payload = "abc"},
    {.name = "chunked_no_final_line_hang",
     .sent = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
     .end = End::kHang,
     .payload = "abc"},
    {.name = "chunk_cut",
     .sent = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n30\r\nabc",
     .payload = "abc",
     .truncation = Truncation::kDisconnect},
    {.name = "chunk_size_bad",
     .sent = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\nde\r\n",
     .payload = "abczz\r\nde\r\n",
     .truncation = Truncation::kDisconnect},
    {.name = "chunk_size_huge",
     .sent = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
             "3\r\nabc\r\nfffffffffffffffffffff\r\nde",
     .payload = "abcfffffffffffffffffffff\r\nde",
     .truncation = Truncation::kDisconnect},
    {.name = "says_chunked_is_not",
     .sent = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n<html>hello</html>",
     .payload = "<html>hello</html>"},
    {.name = "length_and_chunked",
     .sent = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n"
             "3\r\nabc\r\n0\r\n\r\n",
     .end = End::kKeep,
     .payload = "abc"},
    {.name = "lengths_differ",
     .sent = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde",
     .payload = "abcde"},
    {.name = "length_repeated",
     .sent = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
     .end = End::kKeep,
     .payload = "abc"},
    {.name = "length_negative",
     .sent = "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc",
     .payload = "abc"},
    {.name = "no_reason",
     .sent = "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n",
     .end = End::kKeep,
     .status = 404,
     .reusable = true},
    {.name = "eight_bit_reason",
     .sent = "HTTP/1.1 404 Art\xc3\xad"
             "culo no encontrado\r\nLocation: /\xe9\r\n\r\nx",
     .status = 404,
     .payload = "x"},
    {.name = "bare_line_feeds",
     .sent = "HTTP/1.1 200 OK\nContent-Length: 3\n\nabc",
     .end = End::kKeep,
     .payload = "abc",
     .reusable = true},
    {.name = "folded_and_spaced",
     .sent = "HTTP/1.1 200 OK\r\nX-Odd : a\r\nX-Fold: b\r\n c\r\nno colon\r\n\r\nabc",
     .payload = "abc"},
    {.name = "control_characters",
     .sent = "HTTP/1.1 200 OK\r\nX: a\0b\x01\r\nContent-Length: 3\r\n\r\na\0c"s,
     .end = End::kKeep,
     .payload = "a\0c"s,
     .reusable = true},
    {.name = "huge_head",
     .sent = "HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'y') + "\r\n\r\nabc",
     .payload = "abc"},
    {.name = "leading_lines",
     .sent = "\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
     .end = End::kKeep,
     .payload = "x",
     .reusable = true},
    {.name = "http_1_0",
     .sent = "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc",
     .payload = "abc"},
    {.name = "http_1_0_keep_alive",
     .sent = "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 3\r\n\r\nabc",
     .end = End::kKeep,
     .payload = "abc",
     .reusable = true},
    {.name = "connection_close",
     .sent = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc",
     .payload = "abc"},
    {.name = "icy", .sent = "ICY 200 OK\r\nicy-name: radio\r\n\r\nmp3", .payload = "mp3"},
    {.name = "http_0_9",
     .sent = "<html>ancient</html>",
     .status = 0,
     .payload = "<html>ancient</html>",
     .failure = FetchFailure::kNotHttp},
    {.name = "ssh",
     .sent = "SSH-2.0-OpenSSH_9.2\r\n",
     .end = End::kHang,
     .status = 0,
     .payload = "SSH-2.0-OpenSSH_9.2\r\n",
     .truncation = Truncation::kTime,
     .failure = FetchFailure::kNotHttp},
    {.name = "continue",
     .sent = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
             "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
     .end = End::kKeep,
     .payload = "abc",
     .reusable = true},
    {.name = "only_continue",
     .sent = "HTTP/1.1 100 Continue\r\n\r\n",
     .status = 0,
     .failure = FetchFailure::kLost},
    {.name = "no_content",
     .sent = "HTTP/1.1 204 No Content\r\n\r\n",
     .end = End::kKeep,
     .status = 204,
     .reusable = true},
    {.name = "not_modified",
     .sent = "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\nETag: \"x\"\r\n\r\n",
     .end = End::kKeep,
     .status = 304,
     .reusable = true},
    {.name = "upgrade",
     .sent = "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nraw",
     .end = End::kHang,
     .status = 101,
     .kept = "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"},
    {.name = "nothing", .sent = "", .status = 0, .failure = FetchFailure::kLost},
    {.name = "nothing_reset",
     .sent = "",
     .end = End::kReset,
     .status = 0,
     .failure = FetchFailure::kLost},
    {.name = "nothing_hang",
     .sent = "",
     .end = End::kHang,
     .status = 0,
     .failure = FetchFailure::kTimeout},
    {.name = "head_cut",
     .sent = "HTTP/1.1 200 OK\r\nContent-",
     .status = 0,
     .failure = FetchFailure::kLost},
    {.name = "head_hang",
     .sent = "HTTP/1.1 200 OK\r\n",
     .end = End::kHang,
     .status = 0,
     .failure = FetchFailure::kTimeout},
};

class FetcherEdgeCases : public testing::TestWithParam<EdgeCase> {};

TEST_P(FetcherEdgeCases, I1_TheBytesAreThoseThatWereSent) {
  const EdgeCase& edge = GetParam();
  for (const std::size_t piece : {0, 1}) {
    if (piece == 1 && edge.sent.size() > 10'000) continue;
    WireServer server(WireAnswer{edge.sent, edge.end, piece});
    FetchLab lab;
    FetchRequest request = FetchLab::To(server.port());
    const bool hangs = edge.end == End::kHang;
    if (hangs) request.limits.idle_time_max = milliseconds(100);
    const FetchResult result = lab.Fetch(request);
    const std::string& kept = edge.kept.empty() ? edge.sent : edge.kept;
    EXPECT_EQ(result.interim + AllOf(result.response), kept);
    EXPECT_EQ(result.status, edge.status);
    EXPECT_EQ(result.failure, edge.failure) << result.error;
    EXPECT_EQ(result.truncation, edge.truncation);
    EXPECT_EQ(result.request, "GET / HTTP/1.1\r\nHost: a.test\r\nUser-Agent: test\r\n\r\n");
    EXPECT_EQ(server.requests(), std::vector<std::string>{result.request});
    // Surplus that comes late is noticed when the connection is to be used again.
    if (piece == 0 || edge.kept.empty()) {
      EXPECT_EQ(lab->idle_connections(), edge.reusable ? 1U : 0U);
    }
    EXPECT_EQ(result.error.empty(), edge.failure == FetchFailure::kNone);
    if (result.head_length == 0 && edge.failure != FetchFailure::kNotHttp) continue;
    EXPECT_EQ(PayloadOf(result), edge.payload);
    EXPECT_EQ(result.payload_length, edge.payload.size());
    std::string joined;
    EXPECT_EQ(result.PayloadInMemory(joined), edge.payload);
  }
}

INSTANTIATE_TEST_SUITE_P(Fetcher, FetcherEdgeCases, testing::ValuesIn(kEdgeCases),
                         [](const auto& one) { return one.param.name; });

TEST(Fetcher, TheResultTellsWhereAndWhen) {
  WireServer server(WireAnswer{
      "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", End::kKeep});
  FetchLab lab;
  const FetchResult first = lab.Fetch(FetchLab::To(server.port()));
  EXPECT_EQ(first.address->ToText(), "127.0.0.1");
  EXPECT_EQ(first.addresses, std::vector{*IpAddress::FromText("127.0.0.1")});
  EXPECT_EQ(first.interim, "HTTP/1.1 103 Hints\r\n\r\n");
  EXPECT_EQ(first.head, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(AllOf(first.response), first.head + "abc");
  EXPECT_EQ(first.head_length, first.head.size());
  EXPECT_EQ(first.body_length(), 3U);
  EXPECT_GT(first.begun, Timestamp{1'600'000'000'000});
  EXPECT_LE(*first.timings.resolved, *first.timings.connected);
  EXPECT_LE(*first.timings.connected, *first.timings.sent);
  EXPECT_LE(*first.timings.sent, *first.timings.first_byte);
  EXPECT_LE(*first.timings.first_byte, first.timings.done);
  EXPECT_FALSE(first.timings.secured);
  EXPECT_FALSE(first.reused);
  EXPECT_EQ(first.tls, nullptr);

  const FetchResult second = lab.Fetch(FetchLab::To(server.port()));
  EXPECT_TRUE(second.reused);
  EXPECT_EQ(second.address->ToText(), "127.0.0.1");
  EXPECT_EQ(second.addresses, first.addresses);
  EXPECT_FALSE(second.timings.resolved);
  EXPECT_FALSE(second.timings.connected);
  EXPECT_EQ(server.connections(), 1);
}

TEST(Fetcher, LimitsCutExactly) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  WireServer server(WireAnswer{head + "abcde", End::kKeep});
  FetchLab lab;
  for (const std::uint64_t limit : {0, 1, 4, 5, 6}) {
    FetchRequest request = FetchLab::To(server.port());
    request.limits.body_size_max = limit;
    const FetchResult result = lab.Fetch(request);
    EXPECT_EQ(AllOf(result.response), head + std::string("abcde").substr(0, limit));
    EXPECT_EQ(result.truncation, limit < 5 ? Truncation::kLength : Truncation::kNone);
  }
}

TEST(Fetcher, LongHeadsAreRefusedButKept) {
  WireServer server(WireAnswer{"HTTP/1.1 200 OK\r\nX: " + std::string(5000, 'x'), End::kHang});
  FetchLab lab;
  FetchRequest request = FetchLab::To(server.port());
  request.limits.head_size_max = 1000;
  const FetchResult result = lab.Fetch(request);
  EXPECT_EQ(result.failure, FetchFailure::kHeadTooLong);
  EXPECT_GE(result.response.size(), 1000U);
}

TEST(Fetcher, DrippingServersEndWithTheTime) {
  WireServer server(WireAnswer{"HTTP/1.1 200 OK\r\n\r\n", End::kDrip});
  WireServer headless(WireAnswer{"HTTP/1.1 200 OK\r\nX: ", End::kDrip});
  FetchLab lab;
  FetchRequest request = FetchLab::To(server.port());
  request.limits.total_time_max = milliseconds(200);
  const FetchResult result = lab.Fetch(request);
  EXPECT_EQ(result.failure, FetchFailure::kNone);
  EXPECT_EQ(result.truncation, Truncation::kTime);
  EXPECT_EQ(PayloadOf(result), std::string(result.payload_length, 'x'));
  request.endpoint.port = headless.port();
  EXPECT_EQ(lab.Fetch(request).failure, FetchFailure::kTimeout);
}

TEST(Fetcher, I1_WhatIsCutShortIsKeptAsFarAsItCame) {
  WireServer dripping(WireAnswer{"HTTP/1.1 200 OK\r\n\r\n", End::kDrip});
  WireServer headless(WireAnswer{"HTTP/1.1 200 OK\r\nX: ", End::kDrip});
  WireServer quick(WireAnswer{"HTTP/1.1 200 OK\r\n\r\nquick", End::kClose});
  FetchLab lab;
  FetchRequest request = FetchLab::To(dripping.port());
  std::promise<void> has_head;
  request.on_head = [&](const http::ResponseHead&) {
    has_head.set_value();
    return HeadVerdict::kGoOn;
  };
  std::future<FetchResult> first = lab.Begin(request);
  std::future<FetchResult> second = lab.Begin(FetchLab::To(headless.port()));
  has_head.get_future().wait();
  lab->CutShort();
  const FetchResult result = first.get();
  EXPECT_EQ(result.failure, FetchFailure::kNone);
  EXPECT_EQ(result.truncation, Truncation::kTime);
  EXPECT_EQ(PayloadOf(result), std::string(result.payload_length, 'x'));
  EXPECT_EQ(second.get().failure, FetchFailure::kCancelled);
  EXPECT_EQ(PayloadOf(lab.Fetch(FetchLab::To(quick.port()))), "quick");
}

TEST(Fetcher, SlowRatesGetEverything) {
  const std::string body(40'000, 'x');
  WireServer server(
      WireAnswer{"HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n" + body, End::kKeep});
  FetchLab lab;
  FetchRequest request = FetchLab::To(server.port());
  request.limits.rate_max = 200'000;
  const FetchResult result = lab.Fetch(request);
  EXPECT_EQ(PayloadOf(result), body);
  EXPECT_GE(result.timings.done, milliseconds(90));
}

TEST(Fetcher, D4_TheHeadMayEndIt) {
  WireServer server(WireAnswer{
      "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 1000000\r\n\r\nbegin", End::kHang});
  FetchLab lab;
  FetchRequest request = FetchLab::To(server.port());
  int seen = 0;
  request.on_head = [&](const http::ResponseHead& head) {
    ++seen;
    EXPECT_EQ(head.headers.Find("etag"), "\"1\"");
    return HeadVerdict::kAbort;
  };
  const FetchResult result = lab.Fetch(request);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(result.truncation, Truncation::kAborted);
  EXPECT_EQ(result.status, 200);
  EXPECT_EQ(AllOf(result.response), result.head);
  EXPECT_EQ(lab->idle_connections(), 0U);
}

TEST(Fetcher, DeadKeptConnectionsAreReplacedOnce) {
  // Answers the first request of each connection, closes at the second.
  WireServer server([](const std::string&, int number) {
    if (number % 2 == 1) return WireAnswer{"", End::kClose};
    return WireAnswer{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", End::kKeep};
  });
  FetchLab lab;
  EXPECT_EQ(lab.Fetch(FetchLab::To(server.port(), "/1")).status, 200);
  const FetchResult again = lab.Fetch(FetchLab::To(server.port(), "/2"));
  EXPECT_EQ(again.status, 200);
  EXPECT_FALSE(again.reused);
  EXPECT_EQ(server.connections(), 2);
  EXPECT_EQ(server.requests().size(), 3U);
  // A form is not sent twice.
  FetchRequest post = FetchLab::To(server.port(), "/3");
  post.method = "POST";
  EXPECT_EQ(lab.Fetch(post).failure, FetchFailure::kLost);
  EXPECT_EQ(server.requests().size(), 4U);
}

TEST(Fetcher, LargeResponsesGoToAFile) {
  const std::string body = [] {
    std::string bytes;
    for (int i = 0; bytes.size() < 3'000'000; ++i) bytes += std::to_string(i) + "\n";
    return bytes;
  }();
  std::string chunks;
  for (std::size_t at = 0; at < body.size(); at += 9999) {
    const std::string piece = body.substr(at, 9999);
    char size[32];
    snprintf(size, sizeof size, "%zx\r\n", piece.size());
    chunks += size + piece + "\r\n";
  }
  const std::string sent =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n";
  WireServer server(WireAnswer{sent, End::kKeep});
  FetcherOptions options;
  options.memory_max = 10'000;
  FetchLab lab(options);
  const FetchResult result = lab.Fetch(FetchLab::To(server.port()));
  EXPECT_FALSE(result.response.InMemory());
  EXPECT_EQ(result.response.front().size(), 10'000U);
  EXPECT_TRUE(AllOf(result.response) == sent);
  EXPECT_TRUE(PayloadOf(result) == body);
  EXPECT_EQ(result.payload_length, body.size());
  std::string joined;
  EXPECT_FALSE(result.PayloadInMemory(joined));
  EXPECT_EQ(lab->idle_connections(), 1U);
}

TEST(Fetcher, ADiskThatRefusesIsALocalFailure) {
  const std::string sent = "HTTP/1.1 200 OK\r\n\r\n" + std::string(300'000, 'x');
  WireServer server(WireAnswer{sent});
  io::PosixFileSystem disk;
  FetcherOptions options;
  options.memory_max = 10'000;
  for (int fail_at = 1;; ++fail_at) {
    io::FaultFileSystem fs(disk, fail_at);
    FetchLab lab(options, &fs);
    const FetchResult result = lab.Fetch(FetchLab::To(server.port()));
    if (result.failure == FetchFailure::kNone) {
      EXPECT_EQ(result.response.size(), sent.size());
      EXPECT_GT(fail_at, 3);
      break;
    }
    EXPECT_EQ(result.failure, FetchFailure::kLocal);
    EXPECT_EQ(HeritrixStatus(result.failure), -5);
  }
}

TEST(Fetcher, OnlyPublicAddressesUnlessTold) {
  WireServer server(WireAnswer{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", End::kKeep});
  FetchLab lab;
  FetchRequest request = FetchLab::To(server.port());
  EXPECT_EQ(lab.Fetch(request).status, 200);
  EXPECT_EQ(lab->idle_connections(), 1U);
  request.private_addresses = false;  // not even on the connection that is there
  for (const char* const host : {"a.test", "127.0.0.1", "localhost", "::1", "10.0.0.1"}) {
    request.endpoint.host = host;
    const FetchResult result = lab.Fetch(request);
    EXPECT_EQ(result.failure, FetchFailure::kPrivate) << host;
    EXPECT_THAT(result.error, HasSubstr("not public"));
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(Fetcher, FailuresHaveHeritrixsNumbers) {
  const LoopbackListener refusing;
  refusing.Stop();
  const std::uint16_t closed = refusing.port;
  FetchLab lab;
  const FetchResult refused = lab.Fetch(FetchLab::To(closed));
  EXPECT_EQ(refused.failure, FetchFailure::kConnect);
  EXPECT_EQ(HeritrixStatus(refused.failure), -2);
  EXPECT_THAT(refused.error, HasSubstr("http://a.test"));

  FetchRequest nowhere = FetchLab::To(80);
  nowhere.endpoint.host = "nowhere.invalid";
  const FetchResult unknown = lab.Fetch(nowhere);
  EXPECT_EQ(HeritrixStatus(unknown.failure), -1);
  EXPECT_TRUE(MayPass(unknown.failure));

  for (const char* const target : {"", "/a b", "/\r\nX: y", "/\x7f"}) {
    const FetchResult result = lab.Fetch(FetchLab::To(closed, target));
    EXPECT_EQ(HeritrixStatus(result.failure), -7) << target;
    EXPECT_FALSE(MayPass(result.failure));
  }
  FetchRequest injected = FetchLab::To(closed);
  injected.fields.push_back({"X", "a\r\nY: b"});
  EXPECT_EQ(lab.Fetch(injected).failure, FetchFailure::kUnfetchable);
}

TEST(Fetcher, EveryAddressIsTried) {
  WireServer server(WireAnswer{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", End::kKeep});
  FetchLab lab;
  FetchRequest request = FetchLab::To(server.port());
  request.endpoint.host = "two.test";
  const FetchResult result = lab.Fetch(request);
  EXPECT_EQ(result.status, 200) << result.error;
  EXPECT_EQ(result.address->ToText(), "127.0.0.1");
  EXPECT_EQ(result.addresses.size(), 2U);
  EXPECT_EQ(result.error, "");
}

TEST(Fetcher, ProxiesAreAskedForWholeUrls) {
  WireServer proxy(WireAnswer{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", End::kKeep});
  FetchLab lab;
  FetchRequest request = FetchLab::To(8080, "/x?y");
  request.endpoint.host = "far.example";
  request.private_addresses = false;
  request.proxy = FetchProxy{"proxy.test", proxy.port(), "Basic c2VjcmV0"};
  const FetchResult result = lab.Fetch(request);
  EXPECT_EQ(PayloadOf(result), "ok");
  EXPECT_FALSE(result.address);
  EXPECT_THAT(proxy.requests().at(0),
              testing::StartsWith("GET http://far.example:8080/x?y HTTP/1.1\r\n"
                                  "Proxy-Authorization: Basic c2VjcmV0\r\n"));
  EXPECT_THAT(result.request, testing::Not(HasSubstr("c2VjcmV0")));
  EXPECT_TRUE(lab.Fetch(request).reused);
}

TEST(Fetcher, I1_ProxiesAreNotAskedForWhatIsPrivateByItsName) {
  WireServer proxy(WireAnswer{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", End::kKeep});
  FetchLab lab;
  FetchRequest request = FetchLab::To(8080);
  request.proxy = FetchProxy{"proxy.test", proxy.port(), ""};
  for (const char* host : {"127.0.0.1", "10.0.0.1", "::1", "localhost", "a.localhost."}) {
    request.endpoint.host = host;
    request.private_addresses = false;
    EXPECT_EQ(lab.Fetch(request).failure, FetchFailure::kPrivate) << host;
    EXPECT_TRUE(proxy.requests().empty());
  }
  request.private_addresses = true;
  EXPECT_EQ(PayloadOf(lab.Fetch(request)), "ok");
}

TEST(Fetcher, ProxiesThatRefuseATunnelAreFailures) {
  WireServer proxy(WireAnswer{"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", End::kKeep});
  FetchLab lab;
  FetchRequest request = FetchLab::To(443);
  request.endpoint.tls = true;
  request.proxy = FetchProxy{"proxy.test", proxy.port(), ""};
  const FetchResult result = lab.Fetch(request);
  EXPECT_EQ(result.failure, FetchFailure::kConnect);
  EXPECT_THAT(result.error, HasSubstr("403"));
  EXPECT_EQ(proxy.requests().at(0), "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n");
}

TEST(Fetcher, I1_ProxiesThatCannotBeReachedAreNamed) {
  FetchLab lab;
  FetchRequest request = FetchLab::To(8080);
  request.proxy = FetchProxy{"nowhere.test", 3128, ""};
  const FetchResult nowhere = lab.Fetch(request);
  EXPECT_EQ(nowhere.failure, FetchFailure::kNoAddress);
  EXPECT_THAT(nowhere.error, HasSubstr("the proxy nowhere.test:3128: "));
  const LoopbackListener refusing;
  refusing.Stop();
  request.proxy = FetchProxy{"proxy.test", refusing.port, ""};
  const FetchResult silent = lab.Fetch(request);
  EXPECT_EQ(silent.failure, FetchFailure::kConnect);
  EXPECT_THAT(silent.error,
              HasSubstr(fmt::format("the proxy proxy.test:{}: cannot connect: ", refusing.port)));
}

TEST(Fetcher, HundredsAtATimeEachGetTheirOwn) {
  WireServer server([](const std::string& request, int) {
    const std::string path = request.substr(4, request.find(' ', 4) - 4);
    return WireAnswer{
        "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(path.size()) + "\r\n\r\n" + path,
        End::kKeep};
  });
  FetchLab lab;
  std::vector<std::future<FetchResult>> results;
  for (int i = 0; i < 300; ++i) {
    results.push_back(lab.Begin(FetchLab::To(server.port(), "/" + std::to_string(i))));
  }
  for (int i = 0; i < 300; ++i) {
    const FetchResult result = results[static_cast<std::size_t>(i)].get();
    EXPECT_EQ(PayloadOf(result), "/" + std::to_string(i)) << result.error;
  }
  EXPECT_LE(lab->idle_connections(), 8U);
}

TEST(Fetcher, StopEndsWhatIsUnderWay) {
  WireServer server(WireAnswer{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", End::kHang});
  FetchLab lab;
  std::vector<std::future<FetchResult>> results;
  for (int i = 0; i < 20; ++i) results.push_back(lab.Begin(FetchLab::To(server.port())));
  lab->Stop();
  EXPECT_EQ(lab->under_way(), 0U);
  for (auto& one : results) EXPECT_EQ(one.get().failure, FetchFailure::kCancelled);
  EXPECT_EQ(lab.Fetch(FetchLab::To(server.port())).failure, FetchFailure::kCancelled);
}

TEST(Fetcher, TheNextIsAskedFromWithinTheFirst) {
  WireServer server(WireAnswer{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", End::kKeep});
  FetchLab lab;
  std::promise<int> last;
  std::function<void(int)> next = [&](int left) {
    lab->Fetch(FetchLab::To(server.port()), [&, left](FetchResult result) {
      EXPECT_TRUE(lab.loop().OnLoopThread());
      if (left == 0 || result.status != 200) return last.set_value(left);
      next(left - 1);
    });
  };
  next(50);
  EXPECT_EQ(last.get_future().get(), 0);
  EXPECT_EQ(server.connections(), 1);
}

}  // namespace
}  // namespace stele::net
