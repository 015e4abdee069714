#include "net/lost_addresses.h"

#include <gmock/gmock.h>

namespace stele::net {
namespace {

using ::testing::ElementsAre;

TEST(LostAddresses, I1_AreTriedLastUntilTheyAnswerOrTimeHasPassed) {
  const IpAddress a = *IpAddress::FromText("192.0.2.1");
  const IpAddress b = *IpAddress::FromText("192.0.2.2");
  const IpAddress c = *IpAddress::FromText("2001:db8::1");
  const LostAddresses::Moment now{};
  LostAddresses lost;
  const auto order = [&](std::uint16_t port, LostAddresses::Moment at) {
    std::vector<IpAddress> addresses = {a, b, c};
    lost.PutLast(addresses, port, at);
    return addresses;
  };
  EXPECT_THAT(order(80, now), ElementsAre(a, b, c));
  lost.Add(a, 80, now);
  EXPECT_THAT(order(80, now), ElementsAre(b, c, a));
  EXPECT_THAT(order(443, now), ElementsAre(a, b, c));
  EXPECT_THAT(order(80, now + LostAddresses::kTimeMax * 2), ElementsAre(a, b, c));
  lost.Add(b, 80, now);
  EXPECT_THAT(order(80, now), ElementsAre(c, a, b));
  lost.Remove(a, 80);
  EXPECT_THAT(order(80, now), ElementsAre(a, c, b));
}

TEST(LostAddresses, I1_AreForgottenWhenTheyAreMany) {
  const IpAddress first = *IpAddress::FromText("192.0.2.1");
  LostAddresses lost;
  LostAddresses::Moment now{};
  lost.Add(first, 1, now);
  for (std::size_t i = 0; i < LostAddresses::kCountMax; ++i) {
    now += std::chrono::milliseconds(1);
    lost.Add(first, static_cast<std::uint16_t>(i + 2), now);
  }
  const IpAddress other = *IpAddress::FromText("192.0.2.2");
  for (const std::uint16_t port : {1, 2}) {
    std::vector<IpAddress> addresses = {first, other};
    lost.PutLast(addresses, port, now);
    EXPECT_EQ(addresses.front(), port == 1 ? first : other) << port;
  }
}

}  // namespace
}  // namespace stele::net
