#include "formats/url/public_suffix.h"

#include <gtest/gtest.h>

#include <string>

namespace stele::url {
namespace {

TEST(PublicSuffix, RegisteredDomainIsOneLabelBelowTheSuffix) {
  EXPECT_EQ(RegisteredDomain("example.com"), "example.com");
  EXPECT_EQ(RegisteredDomain("a.b.example.com"), "example.com");
  EXPECT_EQ(RegisteredDomain("news.bbc.co.uk"), "bbc.co.uk");
  EXPECT_EQ(RegisteredDomain("www.city.kawasaki.jp"), "city.kawasaki.jp");
  EXPECT_EQ(RegisteredDomain("user.github.io"), "user.github.io");
  EXPECT_EQ(RegisteredDomain("a.xn--85x722f.xn--55qx5d.cn"), "xn--85x722f.xn--55qx5d.cn");
}

TEST(PublicSuffix, UnknownTopLevelDomainsAreSuffixes) {
  EXPECT_EQ(RegisteredDomain("a.b.nosuchtld"), "b.nosuchtld");
}

TEST(PublicSuffix, HostsWithoutARegisteredDomainStandForThemselves) {
  for (const char* host :
       {"com", "co.uk", "github.io", "localhost", "192.168.0.1", "[2001:db8::1]", ""}) {
    EXPECT_EQ(RegisteredDomain(host), host);
  }
}

TEST(PublicSuffix, ResultIsAViewIntoTheHostAsItWasWritten) {
  const std::string host = "WWW.Example.CO.UK.";
  const std::string_view domain = RegisteredDomain(host);
  EXPECT_EQ(domain, "Example.CO.UK.");
  EXPECT_EQ(domain.data(), host.data() + 4);
}

TEST(PublicSuffix, TellsSuffixesFromDomains) {
  EXPECT_TRUE(IsPublicSuffix("com"));
  EXPECT_TRUE(IsPublicSuffix("CO.uk"));
  EXPECT_TRUE(IsPublicSuffix("github.io"));
  EXPECT_FALSE(IsPublicSuffix("example.com"));
  EXPECT_FALSE(IsPublicSuffix("1.2.3.4"));
  EXPECT_FALSE(IsPublicSuffix(""));
}

}  // namespace
}  // namespace stele::url
