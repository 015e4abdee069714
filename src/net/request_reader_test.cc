#include "net/request_reader.h"

#include <gtest/gtest.h>

#include "net/transfer_budget.h"

namespace stele::net {
namespace {

// The status it is refused with, or 0.
int Judge(const std::string& bytes, AcceptedRequest* out = nullptr) {
  http::RequestParser parser;
  if (parser.Parse(bytes, true) != http::HeadOutcome::kComplete) return -1;
  AcceptedRequest accepted;
  const auto refusal = JudgeHead(parser.head(), bytes, 1000, accepted);
  if (out != nullptr) *out = accepted;
  return refusal ? refusal->status : 0;
}

TEST(RequestReader, AcceptsPlainRequests) {
  EXPECT_EQ(Judge("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(Judge("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(Judge("GET / HTTP/1.0\r\n\r\n"), 0);
  EXPECT_EQ(Judge("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(Judge("GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\nX: \xff\r\n\r\n"), 0);
  EXPECT_EQ(Judge("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"), 0);
  EXPECT_EQ(Judge("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"), 0);
}

TEST(RequestReader, RefusesWhatTwoReadersCouldUnderstandDifferently) {
  const char* const kLines[] = {
      "Content-Length: 1\r\nContent-Length: 2",
      "Content-Length: 1\r\nContent-Length: 1",
      "Content-Length: 1, 1",
      "Content-Length: +1",
      "Content-Length: 0x1",
      "Content-Length: ",
      "Content-Length: 99999999999999999999",
      "Content-Length: 1\r\nTransfer-Encoding: chunked",
      "Content-Length : 1",
      "Transfer-Encoding : chunked",
      "X: a\r\n folded",
      "no colon",
      ": no name",
      "X\x01: a",
      "X: a\x01",
      "X: a\rY: b",
      "X: a\r",
      "X: a\nY: b",
      "Host: b",
  };
  for (const char* line : kLines) {
    EXPECT_EQ(Judge(std::string("POST / HTTP/1.1\r\nHost: a\r\n") + line + "\r\n\r\n"), 400)
        << line;
  }
  for (const char* first :
       {"GET  / HTTP/1.1", "GET / HTTP/1.1 ", "GET /a b HTTP/1.1", "GET\t/ HTTP/1.1", "GET /",
        "GET / http/1.1", "GET / HTTP/1.10", "GET / HTTP/1", "GET a HTTP/1.1", "GET * HTTP/1.1",
        "GET http:// HTTP/1.1", " GET / HTTP/1.1", "GET HTTP/1.1"}) {
    EXPECT_EQ(Judge(std::string(first) + "\r\nHost: a\r\n\r\n"), 400) << first;
  }
  EXPECT_EQ(Judge("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(Judge("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

TEST(RequestReader, SaysWhatItCannotDo) {
  EXPECT_EQ(Judge("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(Judge("GET / HTTP/0.9\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(Judge("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"), 413);
  for (const char* coding :
       {"gzip", "gzip, chunked", "identity", "chunked, chunked", "", "xchunked"}) {
    EXPECT_EQ(Judge(std::string("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ") + coding +
                    "\r\n\r\n"),
              501)
        << coding;
  }
  EXPECT_EQ(Judge("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: more\r\n\r\n"), 417);
}

TEST(RequestReader, SplitsTheTarget) {
  const auto split = [](const std::string& target) {
    const std::string bytes = "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
    http::RequestParser parser;
    EXPECT_EQ(parser.Parse(bytes, true), http::HeadOutcome::kComplete);
    AcceptedRequest accepted;
    EXPECT_FALSE(JudgeHead(parser.head(), bytes, 0, accepted));
    return std::string(accepted.path) + "|" + std::string(accepted.query);
  };
  EXPECT_EQ(split("/a/b?c=d?e"), "/a/b|c=d?e");
  EXPECT_EQ(split("/web/2014/http://a/?b"), "/web/2014/http://a/|b");
  EXPECT_EQ(split("http://host/a?b"), "/a|b");
  EXPECT_EQ(split("http://host"), "/|");
  EXPECT_EQ(split("https://host?b"), "/|b");
  EXPECT_EQ(split("/?"), "/|");
}

TEST(RequestReader, KnowsWhetherTheConnectionGoesOn) {
  const auto keep = [](const std::string& version, const std::string& line) {
    AcceptedRequest accepted;
    EXPECT_EQ(Judge("GET / " + version + "\r\nHost: a\r\n" + line + "\r\n", &accepted), 0);
    return accepted.keep_alive;
  };
  EXPECT_TRUE(keep("HTTP/1.1", ""));
  EXPECT_TRUE(keep("HTTP/1.2", ""));
  EXPECT_FALSE(keep("HTTP/1.1", "Connection: x, Close\r\n"));
  EXPECT_FALSE(keep("HTTP/1.0", ""));
  EXPECT_TRUE(keep("HTTP/1.0", "Connection: Keep-Alive\r\n"));
}

TEST(TransferBudget, IsUsedUpByWaitingAndEarnedByBytes) {
  using std::chrono::milliseconds;
  TransferBudget budget(milliseconds(1000), 100);
  budget.Account(milliseconds(600), 0);
  EXPECT_EQ(budget.left(), milliseconds(400));
  budget.Account(milliseconds(100), 10);
  EXPECT_EQ(budget.left(), milliseconds(400));
  budget.Account(milliseconds(0), 1'000'000'000'000'000'000);
  EXPECT_EQ(budget.left(), milliseconds(1000));
  budget.Account(milliseconds(5000), 100);
  EXPECT_LT(budget.left(), milliseconds(0));
}

}  // namespace
}  // namespace stele::net
