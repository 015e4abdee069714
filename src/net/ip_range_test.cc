#include "net/ip_range.h"

#include <gtest/gtest.h>

namespace stele::net {
namespace {

TEST(IpRange, ContainsWhatBeginsAlike) {
  const auto contains = [](const char* range, const char* address) {
    return IpRange::FromText(range)->Contains(*IpAddress::FromText(address));
  };
  EXPECT_TRUE(contains("192.0.2.0/24", "192.0.2.255"));
  EXPECT_FALSE(contains("192.0.2.0/24", "192.0.3.0"));
  EXPECT_TRUE(contains("192.0.2.99/31", "192.0.2.98"));
  EXPECT_FALSE(contains("192.0.2.99/31", "192.0.2.100"));
  EXPECT_TRUE(contains("192.0.2.1", "192.0.2.1"));
  EXPECT_FALSE(contains("192.0.2.1", "192.0.2.2"));
  EXPECT_TRUE(contains("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(contains("0.0.0.0/0", "2001:db8::1"));
  EXPECT_FALSE(contains("::/0", "8.8.8.8"));
  EXPECT_TRUE(contains("2001:db8::/33", "2001:db8:7fff::1"));
  EXPECT_FALSE(contains("2001:db8::/33", "2001:db8:8000::1"));
  // A server that listens on :: sees IPv4 clients so.
  EXPECT_TRUE(contains("192.0.2.0/24", "::ffff:192.0.2.7"));
  EXPECT_TRUE(contains("::ffff:0:0/96", "::ffff:192.0.2.7"));
}

TEST(IpRange, WhatIsNoneIsRefused) {
  for (const char* const text : {"", "/", "/8", "192.0.2.0/33", "192.0.2.0/", "192.0.2.0/-1",
                                 "192.0.2/24", "2001:db8::/129", "192.0.2.0/24/8", "a/8"}) {
    EXPECT_FALSE(IpRange::FromText(text)) << text;
  }
}

}  // namespace
}  // namespace stele::net
