#include "crawl/reachability.h"

#include <gtest/gtest.h>

namespace stele::crawl {
namespace {

const url::Url kPlain = *url::Parse("http://a.org/x");
const url::Url kOther = *url::Parse("https://a.org:8443/x");

TEST(Reachability, I1_AnOriginThatIsGivenUpLeavesTheOthersOfItsHost) {
  Reachability places;
  places.GiveUp(kOther.origin(), {-2, "refused"});
  ASSERT_NE(places.Why(kOther), nullptr);
  EXPECT_EQ(places.Why(kOther)->error, "refused");
  EXPECT_EQ(places.Why(kPlain), nullptr);
  EXPECT_EQ(places.WhyPlace("a.org"), nullptr);
}

TEST(Reachability, I1_AHostThatIsGivenUpTakesAllOriginsAlongUntilItIsForgiven) {
  Reachability places;
  places.GiveUp("a.org", {-5001, "private"});
  EXPECT_NE(places.Why(kPlain), nullptr);
  EXPECT_NE(places.Why(kOther), nullptr);
  places.Forgive("a.org", -1);
  EXPECT_NE(places.Why(kPlain), nullptr);
  places.Forgive("a.org", -5001);
  EXPECT_EQ(places.Why(kPlain), nullptr);
}

TEST(Reachability, I1_RequestsThatWereUnderWayCountOnceAndAnAnswerEndsTheStreak) {
  Reachability places;
  const std::string origin = kPlain.origin();
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(places.CountRefused(origin, Timestamp{100}, Timestamp{200 + i}), 1) << i;
  }
  EXPECT_EQ(places.CountRefused(origin, Timestamp{5200}, Timestamp{5201}), 2);
  EXPECT_EQ(places.CountLost(origin), 1);
  EXPECT_EQ(places.CountLost(origin), 2);
  places.Answered(kOther);
  EXPECT_EQ(places.CountLost(origin), 3);
  places.Answered(kPlain);
  EXPECT_EQ(places.CountRefused(origin, Timestamp{6000}, Timestamp{6001}), 1);
  EXPECT_EQ(places.CountLost(origin), 1);
}

}  // namespace
}  // namespace stele::crawl
