#include "formats/url/host.h"

#include <gtest/gtest.h>

namespace stele::url {
namespace {

std::string Host(std::string_view text, bool special = true) {
  std::string out;
  return AppendHost(out, text, special) ? out : "failure" + out;
}

TEST(Host, DomainsAreLowerCaseAscii) {
  EXPECT_EQ(Host("WWW.Example.COM"), "www.example.com");
  EXPECT_EQ(Host("a_b-.c."), "a_b-.c.");
  EXPECT_EQ(Host("%41%2Ecom"), "a.com");
}

TEST(Host, UnicodeBecomesPunycodeWithoutTransitionalMapping) {
  EXPECT_EQ(Host("B\xC3\xBC"
                 "cher.ch"),
            "xn--bcher-kva.ch");
  EXPECT_EQ(Host("fa%C3%9F.de"), "xn--fa-hia.de");
  EXPECT_EQ(Host("XN--BCHER-KVA.ch"), "xn--bcher-kva.ch");
  EXPECT_EQ(Host("a\xE3\x80\x82"
                 "b"),
            "a.b");
  EXPECT_EQ(Host("\xEF\xBC\x91.2.3.4"), "1.2.3.4");
}

TEST(Host, BrokenPunycodeIsRefused) {
  for (const char* host : {"xn--", "xn--a", "xn--abc-", "a.xn--zn7c.com", "xn--\xC3\xA9"}) {
    EXPECT_EQ(Host(host), "failure") << host;
  }
}

TEST(Host, HyphensAreNotTheParsersBusiness) {
  EXPECT_EQ(Host("-a-.r3---sn-x.com"), "-a-.r3---sn-x.com");
  EXPECT_EQ(Host("ab--\xC3\xA9.com"), "xn--ab---epa.com");
}

TEST(Host, ForbiddenBytesFail) {
  for (char c : std::string_view("\0\t\n\r #/:<>?@[\\]^|%\x01\x7f", 20)) {
    EXPECT_EQ(Host(std::string("a") + c + "b"), "failure") << static_cast<int>(c);
  }
  EXPECT_EQ(Host("a%00b"), "failure");
  EXPECT_EQ(Host("a%2Fb"), "failure");
  EXPECT_EQ(Host("\xC2\xAD"), "failure");  // nothing is left of a soft hyphen
}

TEST(Host, OpaqueHostsKeepCaseAndEscapes) {
  EXPECT_EQ(Host("A%41\xC3\xA9", false), "A%41%C3%A9");
  EXPECT_EQ(Host("a b", false), "failure");
  EXPECT_EQ(Host("1.2", false), "1.2");
  EXPECT_EQ(Host("a\x01%", false), "a%01%");
}

TEST(Host, WhatEndsInANumberIsAnIpv4AddressOrNothing) {
  EXPECT_EQ(Host("0x7f.1"), "127.0.0.1");
  EXPECT_EQ(Host("192.0x00A80001"), "192.168.0.1");
  EXPECT_EQ(Host("4294967295."), "255.255.255.255");
  EXPECT_EQ(Host("4294967296"), "failure");
  EXPECT_EQ(Host("1.2.3.4.5"), "failure");
  EXPECT_EQ(Host("a.1"), "failure");
  EXPECT_EQ(Host("08"), "failure");
  EXPECT_EQ(Host("a.0x"), "failure");
  EXPECT_EQ(Host("0x"), "0.0.0.0");
  EXPECT_EQ(Host("1.2.3.4a"), "1.2.3.4a");
  EXPECT_EQ(Host("99999999999999999999999999"), "failure");
}

TEST(Host, Ipv6IsWrittenInItsShortForm) {
  EXPECT_EQ(Host("[2001:DB8:0:0:1:0:0:1]"), "[2001:db8::1:0:0:1]");
  EXPECT_EQ(Host("[0:0:0:0:0:0:0:0]"), "[::]");
  EXPECT_EQ(Host("[1:2:3:4:5:6:7::]"), "[1:2:3:4:5:6:7:0]");
  EXPECT_EQ(Host("[::ffff:1.2.3.4]"), "[::ffff:102:304]");
  EXPECT_EQ(Host("[1::]", false), "[1::]");
  for (const char* wrong :
       {"[", "[]", "[:]", "[1:]", "[:1]", "[::1::]", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]",
        "[1:2:3:4:5:6:7::8]", "[::1.2.3]", "[::1.2.3.256]", "[::01.2.3.4]", "[::1.2.3.4.]",
        "[1:2:3:4:5:6:7:1.2.3.4]", "[12345::]", "[::1%25eth0]", "[::g]"}) {
    EXPECT_EQ(Host(wrong), "failure") << wrong;
  }
}

TEST(Host, TellsAddressesFromNames) {
  EXPECT_TRUE(IsIpAddress("1.2.3.4"));
  EXPECT_TRUE(IsIpAddress("[::1]"));
  EXPECT_FALSE(IsIpAddress("1.2.3"));
  EXPECT_FALSE(IsIpAddress("4.example.com"));
  EXPECT_FALSE(IsIpAddress("01.2.3.4"));
  EXPECT_FALSE(IsIpAddress(""));
  EXPECT_FALSE(IsIpAddress("["));
}

TEST(Host, LongUnicodeNamesAreRefusedBecausePunycodeIsQuadratic) {
  std::string host;
  while (host.size() <= kMaxIdnaBytes) host += "\xC3\xA9";
  EXPECT_EQ(Host(host), "failure");
  EXPECT_EQ(Host(std::string(5000, 'a')), std::string(5000, 'a'));
}

}  // namespace
}  // namespace stele::url
