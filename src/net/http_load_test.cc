// Many clients, large bodies, and the end of a server under load.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "net/http_client.h"
#include "net/test_memory.h"
#include "net/test_peers.h"
#include "util/test_stride.h"

namespace stele::net {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLarge = (std::size_t{100} << 20) / kTestStride;

TEST(HttpLoad, LargeBodiesNeedLittleMemory) {
  HttpServerOptions options;
  options.limits.body_size_max = kLarge;
  TestServer server(
      [](Request& request, ResponseWriter& response) {
        if (request.head().method == "PUT") {
          const std::size_t good = CountPattern(request.body());
          EXPECT_TRUE(response.Reply(200, "text/plain", std::to_string(good)));
        } else if (request.path() == "/source") {
          EXPECT_TRUE(response.SendFrom({}, std::make_unique<PatternSource>(kLarge)));
        } else {
          ResponseStart start;
          start.length = kLarge;
          EXPECT_TRUE(response.Start(start));
          PatternSource source(kLarge);
          std::string piece(100'000, '\0');
          for (std::size_t size = 0; (size = *source.Read(piece)) > 0;) {
            EXPECT_TRUE(response.Write(std::string_view(piece).substr(0, size)));
          }
        }
      },
      options);
  const auto client = HttpClient::Open({});
  ASSERT_TRUE(client.ok());
  ClientRequest request;
  request.endpoint = {false, "127.0.0.1", server->port()};
  ForgetPeak();
  const std::size_t before = PeakMemory();
  for (const bool chunked : {true, false}) {
    PatternSource source(kLarge);
    request.method = "PUT";
    request.body_source = &source;
    if (!chunked) request.body_length = kLarge;
    const auto response = (*client)->Send(request);
    ASSERT_TRUE(response.ok()) << response.error().text;
    EXPECT_EQ(*(*response)->ReadAll(100), std::to_string(kLarge));
  }
  for (const char* target : {"/source", "/written"}) {
    request = {};
    request.endpoint = {false, "127.0.0.1", server->port()};
    request.target = target;
    const auto response = (*client)->Send(request);
    ASSERT_TRUE(response.ok()) << response.error().text;
    EXPECT_EQ(CountPattern(**response), kLarge);
  }
  if (kMemoryIsOurs) {
    EXPECT_LT(PeakMemory() - before, std::size_t{8} << 20);
  }
}

TEST(HttpLoad, FiveHundredKeepAliveClientsAreServedByFewThreads) {
  HttpServerOptions options;
  options.loops = 2;
  options.workers = 4;
  TestServer server(Echo, options);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 500; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    ASSERT_TRUE(clients.back()->connected());
  }
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const std::string target = "/" + std::to_string(round) + "/" + std::to_string(i);
      ASSERT_TRUE(clients[i]->Send("POST " + target +
                                   " HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"));
    }
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const std::string target = "/" + std::to_string(round) + "/" + std::to_string(i);
      ASSERT_EQ(clients[i]->ReceiveResponse().body, "POST " + target + "\nbody");
    }
  }
  EXPECT_EQ(server->connections(), 500U);
}

TEST(HttpLoad, OneClientServesManyThreads) {
  TestServer server;
  HttpClientOptions options;
  options.connections_per_host_max = 8;
  const auto client = HttpClient::Open(options);
  ASSERT_TRUE(client.ok());
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 32; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        ClientRequest request;
        request.endpoint = {false, "127.0.0.1", server->port()};
        request.target = "/" + std::to_string(t) + "/" + std::to_string(i);
        const auto response = (*client)->Send(request);
        if (!response) continue;
        const auto body = (*response)->ReadAll(1000);
        if (body && *body == "GET " + request.target + "\n") ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 32 * 50);
  EXPECT_LE((*client)->idle_connections(), 8U);
}

TEST(HttpLoad, AStopUnderLoadLosesNoResponseThatWasBegun) {
  HttpServerOptions options;
  options.loops = 2;
  options.limits.linger_timeout = milliseconds(200);
  std::atomic<int> handled = 0;
  std::atomic<int> received = 0;
  std::atomic<int> torn = 0;
  const std::string content(300'000, 'x');
  TestServer server(
      [&](Request&, ResponseWriter& response) {
        if (response.Reply(200, "text/plain", content)) ++handled;
      },
      options);
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      RawClient client(server->port());
      while (client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")) {
        const RawClient::Response response = client.ReceiveResponse();
        if (response.status == 200 && response.body == content) ++received;
        if (response.status == 0 && !response.head.empty()) ++torn;
        if (response.status == 0) return;
      }
    });
  }
  while (received < 200) usleep(1000);
  server->Stop(milliseconds(60'000));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(received, handled);
}

}  // namespace
}  // namespace stele::net
