#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "net/test_certificate.h"
#include "net/test_fetch_lab.h"
#include "net/test_peers.h"
#include "net/test_wire_server.h"

namespace stele::net {
namespace {

using testing::HasSubstr;

// Takes one CONNECT, whatever for, and carries bytes between the client and `port`.
class Tunnel {
 public:
  explicit Tunnel(std::uint16_t port) : target_(port), thread_([this] { Serve(); }) {}
  ~Tunnel() {
    listener_.Stop();
    thread_.join();
  }
  std::uint16_t port() const { return listener_.port; }
  const std::string& asked() const { return asked_; }

 private:
  void Serve() {
    const int client = listener_.Accept();
    if (client < 0) return;
    char piece[4096];
    while (asked_.find("\r\n\r\n") == std::string::npos) {
      const ssize_t size = recv(client, piece, sizeof piece, 0);
      if (size <= 0) break;
      asked_.append(piece, static_cast<std::size_t>(size));
    }
    const std::string answer = "HTTP/1.1 200 Connection established\r\n\r\n";
    EXPECT_EQ(send(client, answer.data(), answer.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(answer.size()));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(target_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    std::thread back([&] { Carry(server, client); });
    Carry(client, server);
    back.join();
    close(server);
    close(client);
  }
  static void Carry(int from, int to) {
    char piece[4096];
    for (ssize_t size = 0; (size = recv(from, piece, sizeof piece, 0)) > 0;) {
      if (send(to, piece, static_cast<std::size_t>(size), MSG_NOSIGNAL) != size) break;
    }
    shutdown(to, SHUT_WR);
  }

  const std::uint16_t target_;
  const LoopbackListener listener_;
  std::string asked_;
  std::thread thread_;  // last: it uses all of them
};

class FetcherTlsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { certificate_ = std::make_unique<TestCertificate>("DNS:a.test"); }
  static void TearDownTestSuite() { certificate_ = nullptr; }

  static HttpServerOptions ServerOptions() {
    HttpServerOptions options;
    options.certificate_file = certificate_->certificate();
    options.key_file = certificate_->key();
    return options;
  }
  static FetchRequest To(TestServer& server) {
    FetchRequest request = FetchLab::To(server->port());
    request.endpoint.tls = true;
    return request;
  }

  inline static std::unique_ptr<TestCertificate> certificate_;
};

TEST_F(FetcherTlsTest, CertificatesAreRecordedAndJudged) {
  std::ifstream file(certificate_->certificate());
  std::ostringstream pem;
  pem << file.rdbuf();
  TestServer server(Echo, ServerOptions());
  FetcherOptions options;
  options.ca_file = certificate_->certificate();
  FetchLab trusting(options);
  FetchResult result = trusting.Fetch(To(server));
  EXPECT_EQ(PayloadOf(result), "GET /\n") << result.error;
  ASSERT_NE(result.tls, nullptr);
  EXPECT_EQ(result.tls->version, "TLSv1.3");
  EXPECT_THAT(result.tls->cipher, HasSubstr("TLS_"));
  EXPECT_EQ(result.tls->chain, pem.str());
  EXPECT_EQ(result.tls->distrust, "");
  EXPECT_GE(*result.timings.secured, *result.timings.connected);

  FetchRequest other = To(server);
  other.endpoint.host = "b.test";
  result = trusting.Fetch(other);
  EXPECT_EQ(result.status, 200);
  EXPECT_THAT(result.tls->distrust, HasSubstr("ostname mismatch"));

  FetchLab careful;
  result = careful.Fetch(To(server));
  EXPECT_EQ(result.status, 200);
  EXPECT_THAT(result.tls->distrust, HasSubstr("self"));
}

TEST_F(FetcherTlsTest, ConnectionsAndSessionsAreUsedAgain) {
  TestServer server(Echo, ServerOptions());
  FetchLab lab;
  const FetchResult first = lab.Fetch(To(server));
  EXPECT_EQ(PayloadOf(first), "GET /\n") << first.error;
  EXPECT_FALSE(first.tls->resumed);
  EXPECT_TRUE(lab.Fetch(To(server)).reused);
  EXPECT_EQ(lab->connections_made(), 1U);
  FetchRequest request = To(server);
  request.fields.push_back({"Connection", "close"});
  EXPECT_EQ(lab.Fetch(request).status, 200);
  // A new connection takes up the session: the chain is known though it was not shown again.
  const FetchResult resumed = lab.Fetch(To(server));
  EXPECT_EQ(resumed.status, 200);
  EXPECT_FALSE(resumed.reused);
  EXPECT_EQ(lab->connections_made(), 2U);
  EXPECT_TRUE(resumed.tls->resumed);
  EXPECT_EQ(resumed.tls->chain, first.tls->chain);
}

TEST_F(FetcherTlsTest, PlainServersAreNoTlsServers) {
  WireServer plain(WireAnswer{"HTTP/1.1 400 Bad Request\r\n\r\n"});
  FetchLab lab;
  FetchRequest request = FetchLab::To(plain.port());
  request.endpoint.tls = true;
  // The greeting has no empty line: the server waits, and so do we, or it answers in plain words.
  request.limits.connect_time_max = std::chrono::milliseconds(100);
  const FetchResult result = lab.Fetch(request);
  EXPECT_TRUE(result.failure == FetchFailure::kTimeout || result.failure == FetchFailure::kConnect);
  EXPECT_EQ(result.response.size(), 0U);
}

TEST_F(FetcherTlsTest, TunnelsLeadThroughProxies) {
  TestServer server(Echo, ServerOptions());
  FetcherOptions options;
  options.ca_file = certificate_->certificate();
  Tunnel tunnel(server->port());
  {
    FetchLab lab(options);
    FetchRequest request = FetchLab::To(4433, "/x");
    request.endpoint.tls = true;
    request.private_addresses = false;
    request.proxy = FetchProxy{"proxy.test", tunnel.port(), "Basic c2VjcmV0"};
    FetchResult result = lab.Fetch(request);
    EXPECT_EQ(PayloadOf(result), "GET /x\n") << result.error;
    EXPECT_EQ(result.tls->distrust, "");  // it is a.test's certificate that counts
    EXPECT_EQ(result.request, "GET /x HTTP/1.1\r\nHost: a.test\r\nUser-Agent: test\r\n\r\n");
    EXPECT_FALSE(result.address);
    EXPECT_TRUE(lab.Fetch(request).reused);
  }
  EXPECT_EQ(tunnel.asked(),
            "CONNECT a.test:4433 HTTP/1.1\r\nHost: a.test:4433\r\n"
            "Proxy-Authorization: Basic c2VjcmV0\r\n\r\n");
}

TEST_F(FetcherTlsTest, LargeBodiesComeWhole) {
  std::string content;
  for (int i = 0; content.size() < 2'000'000; ++i) content += std::to_string(i);
  TestServer server(
      [&](Request&, ResponseWriter& response) {
        EXPECT_TRUE(response.Reply(200, "text/plain", content));
      },
      ServerOptions());
  FetcherOptions options;
  options.memory_max = 100'000;
  FetchLab lab(options);
  const FetchResult result = lab.Fetch(To(server));
  EXPECT_TRUE(PayloadOf(result) == content);
  EXPECT_EQ(result.truncation, Truncation::kNone);
}

}  // namespace
}  // namespace stele::net
