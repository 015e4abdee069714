#include "crawl/certificates.h"

#include <gtest/gtest.h>

#include <memory>

namespace stele::crawl {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

// "one" and "two".
constexpr std::string_view kChain =
    "-----BEGIN CERTIFICATE-----\nb25\nl\n-----END CERTIFICATE-----\n"
    "-----BEGIN CERTIFICATE-----\r\ndHdv\r\n-----END CERTIFICATE-----\r\n";
// sha256sum of "one".
constexpr std::string_view kOne =
    "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";

TEST(Certificates, I1_AChainIsWrittenOnceAndThenNamed) {
  Certificates certificates;
  net::TlsFacts tls;
  tls.chain = kChain;
  const std::string name(kOne);
  EXPECT_EQ(certificates.FieldsFor(&tls),
            (Fields{{"tlsCertificate", name}, {"tlsChain", "b25l"}, {"tlsChain", "dHdv"}}));
  EXPECT_EQ(certificates.FieldsFor(&tls), (Fields{{"tlsCertificate", name}}));
  tls.distrust = "certificate has expired";
  EXPECT_EQ(certificates.FieldsFor(&tls),
            (Fields{{"tlsCertificate", name}, {"tlsDistrust", "certificate has expired"}}));
  EXPECT_EQ(certificates.FieldsFor(nullptr), Fields());
}

TEST(Certificates, I1_AChainWithAnotherAuthorityIsAnotherChain) {
  Certificates certificates;
  net::TlsFacts tls;
  tls.chain = kChain;
  certificates.FieldsFor(&tls);
  tls.chain.replace(tls.chain.find("dHdv"), 4, "dGhyZWU=");
  EXPECT_EQ(certificates.FieldsFor(&tls).back(),
            (std::pair<std::string, std::string>("tlsChain", "dGhyZWU=")));
}

TEST(Certificates, I1_WhatIsNoChainIsNone) {
  EXPECT_TRUE(CertificatesOf("").empty());
  EXPECT_TRUE(CertificatesOf("b25l\n").empty());
  Certificates certificates;
  EXPECT_EQ(certificates.FieldsFor(std::make_unique<net::TlsFacts>().get()), Fields());
}

}  // namespace
}  // namespace stele::crawl
