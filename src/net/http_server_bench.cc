// Requests per second: of the connection's own work without sockets, and over loopback with many
// clients at once, which send together and then wait for all responses.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "net/connection_driver.h"
#include "net/http_client.h"
#include "net/http_server.h"

namespace stele::net {
namespace {

constexpr std::string_view kBody = "Hello, world!";
// As wrk sends it.
constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";

class Hello final : public Handler {
 public:
  void Handle(Request&, ResponseWriter& response) override {
    (void)response.Reply(200, "text/plain", kBody);
  }
};

std::unique_ptr<HttpServer> OpenServer(Handler& handler, const io::Clock& clock) {
  HttpServerOptions options;
  options.workers = 4;
  auto server = HttpServer::Open(options, handler, clock);
  Check(server.ok());
  return std::move(*server);
}

int ConnectTo(std::uint16_t port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Check(connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return descriptor;
}

// Nobody is there.
class NoHost final : public ExchangeHost {
 public:
  void Wake(bool) override {}
  bool Stopping() const override { return false; }
};

void BM_JudgeAndCopyHead(benchmark::State& state) {
  const HttpLimits limits;
  const auto host = std::make_shared<NoHost>();
  const io::SystemClock clock;
  for (auto _ : state) {
    http::RequestParser parser;
    Check(parser.Parse(kRequest, false) == http::HeadOutcome::kComplete);
    AcceptedRequest accepted;
    Check(!JudgeHead(parser.head(), kRequest, 0, accepted));
    Exchange exchange({limits, clock, "peer", false, host}, parser.head(), accepted);
    Hello hello;
    exchange.RunHandler(hello);
    std::string out;
    benchmark::DoNotOptimize(exchange.Poll(out));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_JudgeAndCopyHead);

// Argument: clients.
void BM_KeepAliveClients(benchmark::State& state) {
  Hello hello;
  const io::SystemClock clock;
  const auto server = OpenServer(hello, clock);
  std::vector<int> clients;
  for (int i = 0; i < state.range(0); ++i) clients.push_back(ConnectTo(server->port()));
  char answer[1024];
  for (auto _ : state) {
    for (const int client : clients) {
      Check(send(client, kRequest.data(), kRequest.size(), MSG_NOSIGNAL) > 0);
    }
    for (const int client : clients) {
      const ssize_t size = recv(client, answer, sizeof answer, 0);
      Check(size > 0 && std::string_view(answer, size).ends_with(kBody));
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  for (const int client : clients) close(client);
}
BENCHMARK(BM_KeepAliveClients)->Arg(1)->Arg(64)->UseRealTime();

void BM_OurClient(benchmark::State& state) {
  Hello hello;
  const io::SystemClock clock;
  const auto server = OpenServer(hello, clock);
  const auto client = HttpClient::Open({});
  Check(client.ok());
  ClientRequest request;
  request.endpoint = {false, "127.0.0.1", server->port()};
  for (auto _ : state) {
    const auto response = (*client)->Send(request);
    Check(response.ok());
    Check((*response)->ReadAll(100)->size() == kBody.size());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_OurClient)->UseRealTime();

}  // namespace
}  // namespace stele::net
