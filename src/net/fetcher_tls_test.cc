#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "net/test_certificate.h"
#include "net/test_fetch_lab.h"
#include "net/test_peers.h"
#include "net/test_wire_server.h"

namespace stele::net {
namespace {

using testing::HasSubstr;

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
