#include "net/ip_address.h"

#include <gtest/gtest.h>

namespace stele::net {
namespace {

TEST(IpAddress, TextIsReadAndWrittenInOneForm) {
  for (const std::string text : {"192.0.2.1", "0.0.0.0", "255.255.255.255", "2001:db8::1",
                                 "::", "::1", "fe80::1:0:0:1", "2001:db8:0:1:1:1:1:1"}) {
    const auto address = IpAddress::FromText(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->ToText(), text);
  }
  EXPECT_EQ(IpAddress::FromText("[2001:DB8:0:0:0:0:0:1]")->ToText(), "2001:db8::1");
  for (const char* const text : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01x", "[1.2.3.4]", "[]",
                                 "example.org", "1.2.3.4 ", "fe80::1%eth0", "0x7f.0.0.1"}) {
    EXPECT_FALSE(IpAddress::FromText(text)) << text;
  }
}

TEST(IpAddress, OnlyTheWideInternetIsPublic) {
  for (const char* const text :
       {"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255",
        "172.32.0.0", "192.167.0.1", "198.17.0.1", "198.20.0.1", "223.255.255.255",
        "2606:4700::1111", "2a00::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"}) {
    EXPECT_TRUE(IpAddress::FromText(text)->IsPublic()) << text;
  }
  for (const char* const text : {"0.0.0.0",
                                 "10.0.0.1",
                                 "10.255.255.255",
                                 "100.64.0.1",
                                 "100.127.255.255",
                                 "127.0.0.1",
                                 "127.255.1.1",
                                 "169.254.169.254",
                                 "172.16.0.1",
                                 "172.31.255.255",
                                 "192.0.2.7",
                                 "192.168.1.1",
                                 "198.18.0.1",
                                 "198.19.255.255",
                                 "198.51.100.1",
                                 "203.0.113.9",
                                 "224.0.0.1",
                                 "240.0.0.1",
                                 "255.255.255.255",
                                 "::",
                                 "::1",
                                 "fe80::1",
                                 "fc00::1",
                                 "fd12::1",
                                 "ff02::1",
                                 "2001:db8::1",
                                 "2001::1",
                                 "::ffff:10.0.0.1",
                                 "::ffff:127.0.0.1",
                                 "64:ff9b::a00:1",
                                 "2002:7f00:1::1",
                                 "::7f00:1"}) {
    EXPECT_FALSE(IpAddress::FromText(text)->IsPublic()) << text;
  }
}

}  // namespace
}  // namespace stele::net
