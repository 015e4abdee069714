#include "crawl/host_share.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace stele::crawl {
namespace {

TEST(HostShare, I2_EachHostHasOneOwnerWhicheverNodeAsks) {
  std::map<std::uint32_t, int> hosts;
  for (int i = 0; i < 4'000; ++i) {
    const std::string host = fmt::format("host{}.example", i);
    const std::uint32_t owner = HostShare{1, 4}.OwnerOf(host);
    ++hosts[owner];
    for (std::uint32_t node = 1; node <= 4; ++node) {
      EXPECT_EQ((HostShare{node, 4}.Owns(host)), node == owner) << host;
      EXPECT_EQ((HostShare{node, 4}.OwnerOf("www." + host)), owner) << host;
    }
  }
  ASSERT_EQ(hosts.size(), 4U);
  for (const auto& [node, count] : hosts) EXPECT_NEAR(count, 1'000, 150) << node;
}

TEST(HostShare, I2_ANodeMoreTakesHostsAndNoOtherGetsAny) {
  int moved = 0;
  for (int i = 0; i < 4'000; ++i) {
    const std::string host = fmt::format("host{}.example", i);
    const std::uint32_t before = HostShare{1, 3}.OwnerOf(host);
    const std::uint32_t after = HostShare{1, 4}.OwnerOf(host);
    if (before == after) continue;
    EXPECT_EQ(after, 4U) << host;
    ++moved;
  }
  EXPECT_NEAR(moved, 1'000, 150);
}

TEST(HostShare, I2_SharesAreWrittenAsTheyAreRead) {
  EXPECT_EQ(HostShare::Parse("2/4")->Text(), "2/4");
  EXPECT_TRUE(HostShare::Parse("1/1")->is_all());
  EXPECT_TRUE(HostShare().Owns("any.example"));
  for (const char* wrong : {"", "2", "0/4", "5/4", "a/4", "1/", "/4", "1/1001", "1/4/4", "-1/4"}) {
    EXPECT_FALSE(HostShare::Parse(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace stele::crawl
