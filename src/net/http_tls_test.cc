#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_client.h"
#include "net/test_certificate.h"
#include "net/test_peers.h"

namespace stele::net {
namespace {

using testing::HasSubstr;

// A server with a certificate of its own making, for 127.0.0.1 only.
class HttpTlsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { certificate_ = std::make_unique<TestCertificate>("IP:127.0.0.1"); }
  static void TearDownTestSuite() { certificate_ = nullptr; }

  static HttpServerOptions ServerOptions() {
    HttpServerOptions options;
    options.certificate_file = certificate_->certificate();
    options.key_file = certificate_->key();
    return options;
  }
  static HttpClientOptions Trusting() {
    HttpClientOptions options;
    options.ca_file = certificate_->certificate();
    return options;
  }
  static ClientRequest To(TestServer& server, std::string host = "127.0.0.1") {
    ClientRequest request;
    request.endpoint = {true, std::move(host), server->port()};
    return request;
  }
  static std::string Outcome(const HttpClientOptions& options, const ClientRequest& request) {
    const auto client = HttpClient::Open(options);
    if (!client) return client.error().text;
    const auto response = (*client)->Send(request);
    return response ? *(*response)->ReadAll(1 << 30) : response.error().text;
  }

  inline static std::unique_ptr<TestCertificate> certificate_;
};

TEST_F(HttpTlsTest, CurlAndOurClientAreAnswered) {
  TestServer server(
      [](Request& request, ResponseWriter& response) {
        EXPECT_TRUE(request.secure());
        Echo(request, response);
      },
      ServerOptions());
  const std::string url = "https://127.0.0.1:" + std::to_string(server->port()) + "/";
  const std::string curl = "curl -sS --noproxy '*' --max-time 60 --cacert ";
  EXPECT_EQ(RunCommand(curl + certificate_->certificate() + " -d abc " + url).output,
            "POST /\nabc");
  EXPECT_EQ(Outcome(Trusting(), To(server)), "GET /\n");
  ClientRequest large = To(server);
  const std::string body(5'000'000, 'x');
  large.method = "PUT";
  large.body = body;
  EXPECT_EQ(Outcome(Trusting(), large), "PUT /\n" + body);
}

TEST_F(HttpTlsTest, ConnectionsAreUsedAgain) {
  TestServer server(Echo, ServerOptions());
  const auto client = HttpClient::Open(Trusting());
  ASSERT_TRUE(client.ok());
  for (int i = 0; i < 5; ++i) {
    const auto response = (*client)->Send(To(server));
    ASSERT_TRUE(response.ok()) << response.error().text;
    EXPECT_EQ(*(*response)->ReadAll(100), "GET /\n");
    EXPECT_EQ((*client)->idle_connections(), 1U);
  }
  EXPECT_EQ(server->connections(), 1U);
}

TEST_F(HttpTlsTest, UntrustedServersAreRefused) {
  TestServer server(Echo, ServerOptions());
  EXPECT_THAT(Outcome({}, To(server)), HasSubstr("not trusted"));
  EXPECT_THAT(Outcome(Trusting(), To(server, "localhost")), HasSubstr("not trusted"));
  HttpClientOptions careless;
  careless.verify = false;
  EXPECT_EQ(Outcome(careless, To(server)), "GET /\n");
  HttpClientOptions missing;
  missing.ca_file = certificate_->missing();
  EXPECT_THAT(Outcome(missing, To(server)), HasSubstr("none.pem"));
}

TEST_F(HttpTlsTest, PlainAndSecureDoNotMix) {
  TestServer secure(Echo, ServerOptions());
  RawClient plain(secure->port());
  plain.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(plain.ReceiveAll(), testing::Not(HasSubstr("HTTP/1.1")));
  TestServer open;
  EXPECT_THAT(Outcome(Trusting(), To(open)), HasSubstr("handshake"));
}

TEST_F(HttpTlsTest, SilentClientsAndHandshakesEnd) {
  HttpServerOptions options = ServerOptions();
  options.limits.head_timeout = std::chrono::milliseconds(50);
  TestServer server(Echo, options);
  RawClient silent(server->port());
  EXPECT_EQ(silent.ReceiveAll(), "");
}

TEST_F(HttpTlsTest, StopFinishesWhatIsUnderWay) {
  const std::string content(2'000'000, 'x');
  HttpServerOptions options = ServerOptions();
  options.limits.linger_timeout = std::chrono::milliseconds(50);
  TestServer server(
      [&](Request&, ResponseWriter& response) {
        EXPECT_TRUE(response.Reply(200, "text/plain", content));
      },
      options);
  const auto client = HttpClient::Open(Trusting());
  ASSERT_TRUE(client.ok());
  const auto response = (*client)->Send(To(server));
  ASSERT_TRUE(response.ok());
  std::thread stopping([&] { server->Stop(std::chrono::milliseconds(60'000)); });
  EXPECT_EQ(*(*response)->ReadAll(1 << 30), content);
  stopping.join();
}

}  // namespace
}  // namespace stele::net
