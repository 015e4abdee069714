#include "net/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "net/test_peers.h"
#include "net/test_wire_server.h"

namespace stele::net {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr std::size_t kAll = std::size_t{1} << 30;

std::unique_ptr<HttpClient> OpenClient(const HttpClientOptions& options = {}) {
  auto client = HttpClient::Open(options);
  EXPECT_TRUE(client.ok()) << client.error().text;
  return std::move(*client);
}

ClientRequest To(std::uint16_t port, std::string target = "/") {
  ClientRequest request;
  request.endpoint = {false, "127.0.0.1", port};
  request.target = std::move(target);
  return request;
}

std::string Fetch(HttpClient& client, const ClientRequest& request) {
  const auto response = client.Send(request);
  if (!response) return "error: " + response.error().text;
  const auto body = (*response)->ReadAll(kAll);
  return body ? *body : "error: " + body.error().text;
}

TEST(HttpClient, SendsAllKindsOfBodies) {
  TestServer server;
  const auto client = OpenClient();
  ClientRequest request = To(server->port(), "/a?b");
  EXPECT_EQ(Fetch(*client, request), "GET /a?b\n");
  request.method = "POST";
  EXPECT_EQ(Fetch(*client, request), "POST /a?b\n");
  const std::string large(3'000'000, 'x');
  for (const std::string& body : {std::string("small"), large}) {
    request.body = body;
    EXPECT_EQ(Fetch(*client, request), "POST /a?b\n" + body);
    io::MemorySource chunked(body);
    request.body_source = &chunked;
    EXPECT_EQ(Fetch(*client, request), "POST /a?b\n" + body);
    io::MemorySource known(body);
    request.body_source = &known;
    request.body_length = body.size();
    EXPECT_EQ(Fetch(*client, request), "POST /a?b\n" + body);
    request.body_source = nullptr;
    request.body_length.reset();
  }
  EXPECT_EQ(client->idle_connections(), 1U);
}

TEST(HttpClient, UsesAConnectionAgainOnlyAfterTheWholeBody) {
  TestServer server;
  const auto client = OpenClient();
  {
    const auto response = client->Send(To(server->port()));
    ASSERT_TRUE(response.ok());
    EXPECT_EQ((*response)->status(), 200);
    EXPECT_EQ(client->idle_connections(), 0U);
  }
  EXPECT_EQ(client->idle_connections(), 0U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Fetch(*client, To(server->port())), "GET /\n");
  EXPECT_EQ(client->idle_connections(), 1U);
  ClientRequest head = To(server->port());
  head.method = "HEAD";
  EXPECT_EQ(Fetch(*client, head), "");
  EXPECT_EQ(client->idle_connections(), 1U);
}

TEST(HttpClient, AResponseMayOutliveItsClient) {
  TestServer server;
  auto client = OpenClient();
  auto response = client->Send(To(server->port()));
  ASSERT_TRUE(response.ok());
  client.reset();
  EXPECT_EQ(*(*response)->ReadAll(kAll), "GET /\n");
}

TEST(HttpClient, GivesTheBytesOfTheWire) {
  const std::string answer =
      "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1  200  Fine \r\nX:  y\r\nTransfer-Encoding: chunked"
      "\r\n\r\n3;e=f\r\nabc\r\n0\r\nT: u\r\n\r\n";
  WireServer server(WireAnswer{answer});
  const auto client = OpenClient();
  io::StringSink wire;
  ClientRequest request = To(server.port());
  request.wire = &wire;
  EXPECT_EQ(Fetch(*client, request), "abc");
  EXPECT_EQ(wire.content(), answer);
}

TEST(HttpClient, RepeatsARequestWhenAKeptConnectionTurnsOutDead) {
  for (const bool repeatable : {true, false}) {
    HttpServerOptions options;
    options.limits.idle_timeout = milliseconds(200);
    options.limits.linger_timeout = milliseconds(20);
    TestServer server(Echo, options);
    const auto client = OpenClient();
    ClientRequest request = To(server->port());
    request.method = "POST";
    request.repeatable = repeatable;
    EXPECT_EQ(Fetch(*client, request), "POST /\n");
    while (server->connections() > 0) usleep(1000);
    // Seen before it is used: any request goes to a new connection.
    EXPECT_EQ(Fetch(*client, request), "POST /\n");
  }
  // Not seen before: the server resets when the second request comes.
  for (const bool get : {true, false}) {
    std::atomic<int> count = 0;
    TestServer server([&](Request&, ResponseWriter& response) {
      if (++count == 2) return response.Abandon();
      EXPECT_TRUE(response.Reply(200, "text/plain", std::to_string(count)));
    });
    const auto client = OpenClient();
    ClientRequest request = To(server->port());
    request.method = get ? "GET" : "POST";
    EXPECT_EQ(Fetch(*client, request), "1");
    const std::string second = Fetch(*client, request);
    EXPECT_EQ(second.substr(0, 5), get ? "3" : "error");
    EXPECT_EQ(count, get ? 3 : 2);
  }
}

TEST(HttpClient, DoesNotRepeatOnAFreshConnection) {
  std::atomic<int> count = 0;
  TestServer server([&](Request&, ResponseWriter& response) {
    ++count;
    response.Abandon();
  });
  const auto response = OpenClient()->Send(To(server->port()));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, ErrorCode::kIo);
  EXPECT_EQ(count, 1);
}

TEST(HttpClient, TakesAnEarlyAnswerToALargeBody) {
  TestServer server([](Request&, ResponseWriter& response) {
    EXPECT_TRUE(response.Reply(403, "text/plain", "no"));
  });
  const auto client = OpenClient();
  ClientRequest request = To(server->port());
  request.method = "PUT";
  const std::string body(60'000'000, 'x');
  request.body = body;
  EXPECT_EQ(Fetch(*client, request), "no");
}

TEST(HttpClient, ReportsBrokenAnswers) {
  const auto client = OpenClient();
  const auto outcome = [&](const std::string& answer) {
    WireServer server(WireAnswer{answer});
    const auto response = client->Send(To(server.port()));
    if (!response) return std::optional(response.error().code);
    const auto body = (*response)->ReadAll(kAll);
    return body ? std::optional<ErrorCode>() : body.error().code;
  };
  EXPECT_EQ(outcome(""), ErrorCode::kIo);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nX: y"), ErrorCode::kIo);
  EXPECT_EQ(outcome("hello"), ErrorCode::kCorrupt);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n"),
            ErrorCode::kFull);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"), ErrorCode::kIo);
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(outcome(chunked + "5\r\nabc"), ErrorCode::kIo);
  EXPECT_EQ(outcome(chunked + "3\r\nabc\r\nzz"), ErrorCode::kCorrupt);
  EXPECT_EQ(outcome(chunked + "zz"), ErrorCode::kCorrupt);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\n\r\nuntil the end"), std::nullopt);
  EXPECT_EQ(outcome("HTTP/1.1 204 OK\r\nContent-Length: 5\r\n\r\n"), std::nullopt);
}

TEST(HttpClient, WaitsNoLongerThanItsTimeouts) {
  HttpClientOptions options;
  options.read_timeout = milliseconds(50);
  for (const char* answer :
       {"", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"}) {
    WireServer server(WireAnswer{answer, WireAnswer::End::kHang});
    const auto client = OpenClient(options);
    const auto response = client->Send(To(server.port()));
    const auto body = response ? (*response)->ReadAll(kAll) : response.error();
    ASSERT_FALSE(body.ok());
    EXPECT_EQ(body.error().code, ErrorCode::kBusy);
    EXPECT_THAT(body.error().text, HasSubstr("http://127.0.0.1:"));
  }
  // The total counts although every single wait is short.
  TestServer server([](Request&, ResponseWriter& response) {
    EXPECT_TRUE(response.Start({}));
    while (response.Write("x") && response.Flush()) usleep(5000);
  });
  ClientRequest request = To(server->port());
  request.total_timeout = milliseconds(500);
  const auto response = OpenClient()->Send(request);
  ASSERT_TRUE(response.ok());
  EXPECT_EQ((*response)->ReadAll(kAll).error().code, ErrorCode::kBusy);
}

TEST(HttpClient, LimitsConnectionsPerHost) {
  TestServer server;
  HttpClientOptions options;
  options.connections_per_host_max = 1;
  options.connect_timeout = milliseconds(50);
  const auto client = OpenClient(options);
  auto first = client->Send(To(server->port()));
  ASSERT_TRUE(first.ok());
  const auto second = client->Send(To(server->port()));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  first->reset();
  EXPECT_EQ(Fetch(*client, To(server->port())), "GET /\n");
}

TEST(HttpClient, ClosesConnectionsThatNobodyAskedForInTime) {
  TestServer first, second;
  HttpClientOptions options;
  options.idle_time_max = milliseconds(0);
  const auto client = OpenClient(options);
  EXPECT_EQ(Fetch(*client, To(first->port())), "GET /\n");
  usleep(2000);
  EXPECT_EQ(Fetch(*client, To(second->port())), "GET /\n");
  EXPECT_EQ(client->idle_connections(), 1U);
  while (first->connections() > 0) usleep(1000);
}

TEST(HttpClient, RefusesRequestsThatCouldBeTwo) {
  const auto client = OpenClient();
  const auto code = [&](const ClientRequest& request) {
    return client->Send(request).error().code;
  };
  ClientRequest request = To(1, "/a b");
  EXPECT_EQ(code(request), ErrorCode::kInvalid);
  request = To(1, "/\r\nX: y");
  EXPECT_EQ(code(request), ErrorCode::kInvalid);
  request = To(1);
  request.method = "GET /";
  EXPECT_EQ(code(request), ErrorCode::kInvalid);
  request = To(1);
  request.fields = {{"X", "y\nz"}};
  EXPECT_EQ(code(request), ErrorCode::kInvalid);
  request.fields = {{"content-length", "1"}};
  EXPECT_EQ(code(request), ErrorCode::kInvalid);
}

TEST(HttpClient, NamesTheServerThatIsNotThere) {
  std::uint16_t port = 0;
  {
    TestServer server;
    port = server->port();
  }
  const auto response = OpenClient()->Send(To(port));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, ErrorCode::kIo);
  EXPECT_THAT(response.error().text, HasSubstr("http://127.0.0.1:" + std::to_string(port)));
}

TEST(HttpClient, ReadsFromPythonsServer) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("net_client_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string content(1'000'000, 'p');
  std::ofstream(folder / "file.bin") << content;
  // Prints its port by itself when it was told to take any.
  FILE* const output =
      popen(("cd " + folder.string() +
             " && exec python3 -u -m http.server --bind 127.0.0.1 0 2>/dev/null & echo $!; wait")
                .c_str(),
            "r");
  ASSERT_NE(output, nullptr);
  char line[256] = {};
  ASSERT_NE(fgets(line, sizeof line, output), nullptr);
  const pid_t process = std::atoi(line);
  ASSERT_NE(fgets(line, sizeof line, output), nullptr);
  const std::string greeting = line;
  const std::uint16_t port =
      static_cast<std::uint16_t>(std::atoi(greeting.c_str() + greeting.find("port ") + 5));
  const auto client = OpenClient();
  EXPECT_EQ(Fetch(*client, To(port, "/file.bin")), content);
  EXPECT_THAT(Fetch(*client, To(port)), HasSubstr("file.bin"));
  const auto missing = client->Send(To(port, "/missing"));
  ASSERT_TRUE(missing.ok());
  EXPECT_EQ((*missing)->status(), 404);
  kill(process, SIGTERM);
  pclose(output);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stele::net
