#include "net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "net/test_peers.h"

namespace stele::net {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";

std::string Url(TestServer& server, std::string_view scheme = "http") {
  return std::string(scheme) + "://127.0.0.1:" + std::to_string(server->port());
}

TEST(HttpServer, AnswersCurl) {
  TestServer server;
  const std::string curl = "curl -sS --noproxy '*' --max-time 60 ";
  EXPECT_EQ(RunCommand(curl + Url(server) + "/x?y=z").output, "GET /x?y=z\n");
  EXPECT_EQ(RunCommand(curl + "-d hello " + Url(server) + "/").output, "POST /\nhello");
  EXPECT_EQ(RunCommand(curl + "-H 'Transfer-Encoding: chunked' -d hello " + Url(server)).output,
            "POST /\nhello");
  EXPECT_EQ(RunCommand(curl + "-0 " + Url(server)).output, "GET /\n");
  EXPECT_EQ(
      RunCommand(curl + "-H 'Expect: 100-continue' -T - " + Url(server) + "/u </dev/null").output,
      "PUT /u\n");
  EXPECT_THAT(RunCommand(curl + "-I " + Url(server)).output, HasSubstr("Content-Length: 7\r\n"));
  // Two requests over one connection.
  const std::string twice = Url(server) + "/1 " + Url(server) + "/2";
  EXPECT_EQ(RunCommand(curl + "-w '%{num_connects}\\n' " + twice).output, "GET /1\n1\nGET /2\n0\n");
}

TEST(HttpServer, SendsContinueToCurlOnlyForABodyItWants) {
  TestServer server([](Request& request, ResponseWriter& response) {
    if (request.path() == "/no") {
      EXPECT_TRUE(response.Reply(403, "text/plain", "no"));
    } else {
      Echo(request, response);
    }
  });
  const std::string curl =
      "head -c 2000000 /dev/zero | curl -sS -v --noproxy '*' --max-time 60 --expect100-timeout 60 "
      "-T - -o /dev/null 2>&1 ";
  EXPECT_THAT(RunCommand(curl + Url(server) + "/yes").output, HasSubstr("HTTP/1.1 100 Continue"));
  const std::string refused = RunCommand(curl + Url(server) + "/no").output;
  EXPECT_THAT(refused, HasSubstr("HTTP/1.1 403 Forbidden"));
  EXPECT_THAT(refused, Not(HasSubstr("100 Continue")));
}

TEST(HttpServer, ReadsRequestsThatComeByteByByte) {
  TestServer server;
  RawClient client(server->port());
  for (const char c :
       std::string("POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")) {
    ASSERT_TRUE(client.Send(std::string_view(&c, 1)));
  }
  EXPECT_EQ(client.ReceiveResponse().body, "POST /slow\nabc");
}

TEST(HttpServer, AnswersPipelinedBurstsInOrder) {
  TestServer server;
  RawClient client(server->port());
  std::string burst;
  for (int i = 0; i < 2000; ++i) {
    burst += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  }
  ASSERT_TRUE(client.Send(burst));
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(client.ReceiveResponse().body, "GET /" + std::to_string(i) + "\n");
  }
}

TEST(HttpServer, AnswersAClientThatHasClosedItsSendingSide) {
  TestServer server;
  RawClient client(server->port());
  ASSERT_TRUE(client.Send(kGet));
  client.EndSending();
  EXPECT_THAT(client.ReceiveAll(), testing::EndsWith("\r\n\r\nGET /a\n"));
  EXPECT_FALSE(client.reset());
}

TEST(HttpServer, RefusesGarbageWithAClearText) {
  TestServer server;
  const std::pair<std::string, std::string> kCases[] = {
      {std::string("\x16\x03\x01\0\xff", 5), "HTTP/1.1 400 "},
      {std::string(1000, '\0'), "HTTP/1.1 400 "},
      {"GET / HTTP/3.0\r\n\r\n", "HTTP/1.1 505 "},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(100'000, 'x'), "HTTP/1.1 431 "},
      {"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999\r\n\r\nabc", "HTTP/1.1 413 "},
  };
  for (const auto& [bytes, status] : kCases) {
    RawClient client(server->port());
    client.Send(bytes);
    const std::string answer = client.ReceiveAll();
    EXPECT_THAT(answer, StartsWith(status));
    EXPECT_THAT(answer, HasSubstr("text/plain"));
    EXPECT_FALSE(client.reset());
  }
  RawClient good(server->port());
  good.Send(kGet);
  EXPECT_EQ(good.ReceiveResponse().status, 200);
}

TEST(HttpServer, EndsClientsThatAreTooSlow) {
  HttpServerOptions options;
  options.limits.idle_timeout = milliseconds(500);  // time enough to send something
  options.limits.head_timeout = milliseconds(50);
  options.limits.transfer_timeout = milliseconds(50);
  options.limits.linger_timeout = milliseconds(50);
  TestServer server(Echo, options);
  RawClient silent(server->port());
  RawClient head(server->port());
  RawClient body(server->port());
  RawClient later(server->port());
  head.Send("GET / HTTP/1.1\r\nHo");
  body.Send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  later.Send(kGet);
  EXPECT_EQ(silent.ReceiveAll(), "");
  EXPECT_THAT(head.ReceiveAll(), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(body.ReceiveAll(), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(later.ReceiveAll(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, EndsClientsThatStayIdleAfterAResponse) {
  HttpServerOptions options;
  options.limits.idle_timeout = milliseconds(200);
  TestServer server(Echo, options);
  RawClient client(server->port());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n"));
    EXPECT_EQ(client.ReceiveResponse().body, "GET /a\n");
  }
  EXPECT_EQ(client.ReceiveAll(), "");
  EXPECT_FALSE(client.reset());
}

TEST(HttpServer, EndsClientsThatSendAHeadWithoutEverEndingIt) {
  HttpServerOptions options;
  options.limits.head_timeout = milliseconds(100);
  options.limits.linger_timeout = milliseconds(100);
  TestServer server(Echo, options);
  RawClient client(server->port());
  client.Send("GET / HTTP/1.1\r\n");
  // A field now and then is no reason to wait longer.
  while (client.Send("X: y\r\n")) usleep(5'000);
  SUCCEED();
}

TEST(HttpServer, CutsClientsThatDoNotReadAndGoesOnWithOthers) {
  HttpServerOptions options;
  options.workers = 2;
  options.limits.transfer_timeout = milliseconds(100);
  options.limits.output_buffer = 10'000;
  std::promise<Status> end;
  TestServer server(
      [&](Request& request, ResponseWriter& response) {
        if (request.path() != "/big") return Echo(request, response);
        EXPECT_TRUE(response.Start({}));
        const std::string piece(10'000, 'x');
        Status status;
        while (status.ok()) status = response.Write(piece);
        end.set_value(status);
      },
      options);
  RawClient deaf(server->port(), 4096);
  deaf.Send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
  RawClient other(server->port());
  other.Send(kGet);
  EXPECT_EQ(other.ReceiveResponse().status, 200);
  EXPECT_EQ(end.get_future().get().error().code, ErrorCode::kIo);
}

TEST(HttpServer, SlowReadersOfSourcesHoldNoWorker) {
  HttpServerOptions options;
  options.workers = 1;
  options.limits.output_buffer = 10'000;
  const std::string content(1'000'000, 'c');
  TestServer server(
      [&](Request& request, ResponseWriter& response) {
        if (request.path() != "/big") return Echo(request, response);
        ResponseStart start;
        start.length = content.size();
        EXPECT_TRUE(response.SendFrom(start, std::make_unique<io::MemorySource>(content)));
      },
      options);
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(std::make_unique<RawClient>(server->port(), 4096));
    ASSERT_TRUE(slow.back()->Send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n"));
  }
  RawClient quick(server->port());
  for (int i = 0; i < 10; ++i) {
    quick.Send(kGet);
    ASSERT_EQ(quick.ReceiveResponse().status, 200);
  }
  for (const auto& client : slow) EXPECT_EQ(client->ReceiveResponse().body, content);
}

TEST(HttpServer, RefusesConnectionsBeyondTheLimit) {
  HttpServerOptions options;
  options.connections_max = 2;
  TestServer server(Echo, options);
  auto first = std::make_unique<RawClient>(server->port());
  RawClient second(server->port());
  first->Send(kGet);
  second.Send(kGet);
  EXPECT_EQ(first->ReceiveResponse().status, 200);
  EXPECT_EQ(second.ReceiveResponse().status, 200);
  EXPECT_EQ(server->connections(), 2U);
  RawClient third(server->port());
  EXPECT_THAT(third.ReceiveAll(), StartsWith("HTTP/1.1 503 "));
  first.reset();
  for (int status = 0; status != 200;) {
    RawClient again(server->port());
    again.Send(kGet);
    status = again.ReceiveResponse().status;
  }
}

TEST(HttpServer, TellsTheHandlerWhoAsks) {
  TestServer server([](Request& request, ResponseWriter& response) {
    EXPECT_FALSE(request.secure());
    EXPECT_EQ(request.body_length(), std::uint64_t{0});
    EXPECT_TRUE(response.Reply(200, "text/plain", request.peer()));
  });
  RawClient client(server->port());
  client.Send(kGet);
  EXPECT_THAT(client.ReceiveResponse().body, StartsWith("127.0.0.1:"));
}

TEST(HttpServer, SaysWhyItCannotOpen) {
  FunctionHandler handler(Echo);
  const io::SystemClock clock;
  const auto code = [&](const HttpServerOptions& options) {
    const auto server = HttpServer::Open(options, handler, clock);
    return server ? std::optional<ErrorCode>() : server.error().code;
  };
  TestServer taken;
  HttpServerOptions options;
  options.port = taken->port();
  EXPECT_EQ(code(options), ErrorCode::kBusy);
  options = {};
  options.address = "localhost";
  EXPECT_EQ(code(options), ErrorCode::kInvalid);
  options = {};
  options.certificate_file = "missing.pem";
  EXPECT_EQ(code(options), ErrorCode::kInvalid);
  options.key_file = "missing.key";
  EXPECT_EQ(code(options), ErrorCode::kInvalid);
  options = {};
  options.address = "::1";
  EXPECT_NE(code(options), ErrorCode::kInvalid);
}

TEST(HttpServer, StopLetsTheRequestUnderWayFinish) {
  std::promise<void> begun, may_end;
  HttpServerOptions options;
  options.limits.linger_timeout = milliseconds(50);
  TestServer server(
      [&](Request&, ResponseWriter& response) {
        begun.set_value();
        may_end.get_future().wait();
        EXPECT_TRUE(response.Reply(200, "text/plain", "done"));
      },
      options);
  RawClient idle(server->port());
  RawClient busy(server->port());
  busy.Send(kGet);
  begun.get_future().wait();
  auto stopped = std::async(std::launch::async, [&] { server->Stop(milliseconds(60'000)); });
  EXPECT_EQ(idle.ReceiveAll(), "");  // closed, because the server stops
  may_end.set_value();
  const RawClient::Response response = busy.ReceiveResponse();
  EXPECT_EQ(response.body, "done");
  EXPECT_THAT(response.head, HasSubstr("Connection: close"));
  stopped.get();
  EXPECT_FALSE(RawClient(server->port()).connected());
}

TEST(HttpServer, StopWithoutGraceCutsWhatIsUnderWay) {
  std::promise<void> begun;
  std::promise<ErrorCode> read;
  TestServer server([&](Request& request, ResponseWriter&) {
    begun.set_value();
    std::string piece(100'000, '\0');
    for (;;) {
      const Result<std::size_t> size = request.body().Read(piece);
      if (size) continue;
      read.set_value(size.error().code);
      return;
    }
  });
  RawClient client(server->port());
  client.Send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" +
              std::string(200'000, 'x'));
  begun.get_future().wait();
  server->Stop(milliseconds(0));
  EXPECT_EQ(read.get_future().get(), ErrorCode::kIo);
  EXPECT_EQ(client.ReceiveResponse().status, 0);
}

}  // namespace
}  // namespace stele::net
