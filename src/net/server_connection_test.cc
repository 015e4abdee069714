#include "net/server_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/connection_driver.h"
#include "net/test_peers.h"

namespace stele::net {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kDate = "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n";

class ServerConnectionTest : public testing::Test {
 protected:
  std::string Run(std::string_view input, std::size_t piece = 1 << 20) {
    FunctionHandler handler(function_);
    ConnectionDriver driver(limits_, handler, workers_);
    return driver.Run(input, piece);
  }

  HttpLimits limits_;
  FunctionHandler::Function function_ = Echo;
  WorkerPool workers_{1};
};

std::string Answer(std::string_view text, std::string_view more = "") {
  std::string bytes = "HTTP/1.1 200 OK\r\n";
  bytes += kDate;
  bytes.append("Content-Type: text/plain\r\nContent-Length: ");
  bytes.append(std::to_string(text.size())).append("\r\n").append(more).append("\r\n");
  return bytes.append(text);
}

TEST_F(ServerConnectionTest, AnswersOneAfterAnotherWhateverThePieces) {
  const std::string input =
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
      "POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
      "PUT /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2;x=y\r\nde\r\n1\r\nf\r\n0\r\nTrailer: t\r\n\r\n"
      "\r\nGET /4 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      "GET /5 HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string expected = Answer("GET /1\n") + Answer("POST /2\nabc") + Answer("PUT /3\ndef") +
                               Answer("GET /4\n", "Connection: close\r\n");
  for (const std::size_t piece : {1, 2, 3, 7, 50, 1 << 20}) EXPECT_EQ(Run(input, piece), expected);
}

TEST_F(ServerConnectionTest, HeadRequestsGetNoBody) {
  EXPECT_EQ(Run("HEAD /1 HTTP/1.1\r\nHost: a\r\n\r\n"),
            "HTTP/1.1 200 OK\r\n" + std::string(kDate) +
                "Content-Type: text/plain\r\nContent-Length: 8\r\n\r\n");
}

TEST_F(ServerConnectionTest, OldClientsGetNoChunksAndAClosedConnection) {
  function_ = [](Request&, ResponseWriter& response) {
    EXPECT_TRUE(response.Start({}));
    EXPECT_TRUE(response.Write("ab"));
    EXPECT_TRUE(response.Write("c"));
  };
  const std::string start = "HTTP/1.1 200 OK\r\n" + std::string(kDate);
  EXPECT_EQ(Run("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
            start + "Connection: close\r\n\r\nabc");
  EXPECT_EQ(Run("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
            start + "Transfer-Encoding: chunked\r\n\r\n00000003\r\nabc\r\n0\r\n\r\n");
  EXPECT_EQ(Run("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), start + "\r\n");
  function_ = Echo;
  EXPECT_EQ(Run("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
            Answer("GET /\n", "Connection: keep-alive\r\n"));
}

TEST_F(ServerConnectionTest, StatusesWithoutBodyHaveNone) {
  function_ = [](Request& request, ResponseWriter& response) {
    ResponseStart start;
    start.status = request.path() == "/204" ? 204 : 304;
    EXPECT_TRUE(response.Reply(start, ""));
  };
  const std::string two =
      Run("GET /204 HTTP/1.1\r\nHost: a\r\n\r\n"
          "GET /304 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(two, "HTTP/1.1 204 No Content\r\n" + std::string(kDate) +
                     "\r\nHTTP/1.1 304 Not Modified\r\n" + std::string(kDate) + "\r\n");
}

TEST_F(ServerConnectionTest, ContinueIsSentWhenTheHandlerAsksForTheBody) {
  const std::string head =
      "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
  const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(Run(head + "abc", head.size()), go_on + Answer("POST /1\nabc"));
  // A client that did not wait needs no invitation.
  EXPECT_EQ(Run(head + "abc"), Answer("POST /1\nabc"));
  // A refused body is not waited for, and what follows is not a request.
  function_ = [](Request&, ResponseWriter& response) {
    EXPECT_TRUE(response.Reply(403, "text/plain", "no"));
  };
  EXPECT_THAT(Run(head + "GET / HTTP/1.1\r\nHost: a\r\n\r\n", head.size()),
              StartsWith("HTTP/1.1 403 Forbidden"));
}

TEST_F(ServerConnectionTest, UnreadBodiesAreSkippedUpToALimit) {
  function_ = [](Request& request, ResponseWriter& response) {
    EXPECT_TRUE(response.Reply(200, "text/plain", request.path()));
  };
  limits_.body_buffer = 10;
  limits_.drain_max = 100;
  const auto two = [](std::size_t size) {
    return "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(size, 'x') + "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  EXPECT_EQ(Run(two(110), 5), Answer("/1") + Answer("/2"));
  EXPECT_EQ(Run(two(5000), 5), Answer("/1"));
}

TEST_F(ServerConnectionTest, BadBytesGetAClearAnswerAndTheEnd) {
  const auto status = [&](std::string_view input) {
    const std::string output = Run(input);
    EXPECT_THAT(output, HasSubstr("Connection: close\r\n")) << input;
    return output.substr(0, 12);
  };
  EXPECT_EQ(status("\x16\x03\x01 hello"), "HTTP/1.1 400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost"), "HTTP/1.1 400");
  EXPECT_EQ(status("GET /" + std::string(70'000, 'a')), "HTTP/1.1 431");
  const std::string chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* body :
       {"x", "2\r\nabc\r\n0\r\n\r\n", "2\nab\r\n0\r\n\r\n", " 2\r\nab\r\n0\r\n\r\n",
        "ffffffffffffffffff\r\n", "-1\r\n", "2\r\nab\r\n0\r\n\n"}) {
    EXPECT_EQ(status(chunked + body), "HTTP/1.1 400") << body;
  }
  EXPECT_EQ(status(chunked + "2\r\nab"), "HTTP/1.1 408");
  limits_.body_size_max = 3;
  EXPECT_EQ(status(chunked + "2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n"), "HTTP/1.1 413");
}

TEST_F(ServerConnectionTest, AHandlerThatGivesNoResponseIsAnsweredFor) {
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  function_ = [](Request&, ResponseWriter&) {};
  EXPECT_THAT(Run(get), StartsWith("HTTP/1.1 500 Internal"));
  function_ = [](Request&, ResponseWriter&) { throw 1; };
  EXPECT_THAT(Run(get), StartsWith("HTTP/1.1 500 Internal"));
}

TEST_F(ServerConnectionTest, WrongCallsOfAHandlerAreErrors) {
  function_ = [](Request&, ResponseWriter& response) {
    ResponseStart start;
    EXPECT_EQ(response.Write("early").error().code, ErrorCode::kInvalid);
    start.fields = {{"X", "a\r\nInjected: b"}};
    EXPECT_EQ(response.Start(start).error().code, ErrorCode::kInvalid);
    start.fields = {{"X y", "a"}};
    EXPECT_EQ(response.Start(start).error().code, ErrorCode::kInvalid);
    start.fields = {{"content-length", "5"}};
    EXPECT_EQ(response.Start(start).error().code, ErrorCode::kInvalid);
    start.fields = {};
    start.status = 100;
    EXPECT_EQ(response.Start(start).error().code, ErrorCode::kInvalid);
    EXPECT_TRUE(response.Reply(200, "text/plain", "good"));
    EXPECT_EQ(response.Reply(200, "text/plain", "again").error().code, ErrorCode::kInvalid);
  };
  EXPECT_EQ(Run("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), Answer("good"));
}

TEST_F(ServerConnectionTest, AnIncompleteResponseCutsTheConnection) {
  for (const int way : {0, 1, 2, 3}) {
    FunctionHandler handler([way](Request&, ResponseWriter& response) {
      ResponseStart start;
      if (way == 0) start.length = 10;
      EXPECT_TRUE(response.Start(start));
      EXPECT_TRUE(response.Write("abc"));
      if (way == 1) response.Abandon();
      if (way == 2) throw 1;
      if (way == 3) response.Abandon();
    });
    ConnectionDriver driver(limits_, handler, workers_);
    const std::string output =
        driver.Run("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 1000);
    EXPECT_TRUE(driver.connection().cut());
    EXPECT_THAT(output, Not(HasSubstr("\r\n0\r\n")));
    EXPECT_EQ(output.find("HTTP/1.1", 1), std::string::npos);
  }
}

class CountingSource final : public io::Source {
 public:
  CountingSource(std::size_t size, bool fail) : left_(size), fail_(fail) {}
  Result<std::size_t> Read(std::span<char> out) override {
    if (left_ == 0 && fail_) return Error{ErrorCode::kIo, "the disk is gone"};
    const std::size_t size = std::min(left_, out.size());
    std::fill_n(out.begin(), size, 'z');
    left_ -= size;
    return size;
  }

 private:
  std::size_t left_;
  bool fail_;
};

TEST_F(ServerConnectionTest, SourcesAreSentPieceByPiece) {
  limits_.output_buffer = 1000;
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  bool fail = false;
  bool known = true;
  function_ = [&](Request&, ResponseWriter& response) {
    ResponseStart start;
    if (known) start.length = 300'000;
    EXPECT_TRUE(response.SendFrom(start, std::make_unique<CountingSource>(300'000, fail)));
  };
  const std::string known_length = Run(get + get, 100);
  EXPECT_EQ(std::count(known_length.begin(), known_length.end(), 'z'), 600'000);
  known = false;
  const std::string chunked = Run(get + get, 100);
  EXPECT_EQ(std::count(chunked.begin(), chunked.end(), 'z'), 600'000);
  EXPECT_TRUE(chunked.ends_with("\r\n0\r\n\r\n"));
  fail = true;
  EXPECT_FALSE(Run(get + get, 100).ends_with("\r\n0\r\n\r\n"));
}

TEST_F(ServerConnectionTest, BodiesLargerThanTheBufferAreStreamed) {
  limits_.body_buffer = 100;
  const std::string body(50'000, 'b');
  EXPECT_EQ(Run("POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n" + body, 333),
            Answer("POST /1\n" + body));
}

TEST_F(ServerConnectionTest, ToldToStopItFinishesTheRequestAndBeginsNoOther) {
  FunctionHandler handler(Echo);
  ConnectionDriver driver(limits_, handler, workers_);
  driver.connection().OnStop();
  EXPECT_EQ(driver.Run("", 100), "");
  ConnectionDriver busy(limits_, handler, workers_);
  const std::string two = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::span<char> room = busy.connection().InputRoom();
  std::copy(two.begin(), two.end(), room.begin());
  busy.connection().OnInput(10);
  busy.connection().OnStop();
  busy.connection().OnInput(two.size() - 10);
  EXPECT_EQ(busy.Run("", 100), Answer("GET /1\n", "Connection: close\r\n"));
}

TEST_F(ServerConnectionTest, TimeoutsAreToldApart) {
  FunctionHandler handler(Echo);
  const auto after = [&](std::string_view input) {
    ConnectionDriver driver(limits_, handler, workers_);
    const std::span<char> room = driver.connection().InputRoom();
    std::copy(input.begin(), input.end(), room.begin());
    if (!input.empty()) driver.connection().OnInput(input.size());
    driver.connection().OnTimeout();
    return driver.Run("", 1000).substr(0, 12);
  };
  EXPECT_EQ(after(""), "");
  EXPECT_EQ(after("GET / HT"), "HTTP/1.1 408");
  EXPECT_EQ(after("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab"), "HTTP/1.1 408");
}

}  // namespace
}  // namespace stele::net
