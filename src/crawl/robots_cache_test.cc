#include "crawl/robots_cache.h"

#include <gtest/gtest.h>

#include "crawl/crawl_settings.h"
#include "crawl/frontier.h"

namespace stele::crawl {
namespace {

const std::string kOrigin = "https://a.org";
constexpr Timestamp kNow{1'700'000'000'000};
constexpr std::int64_t kDay = 24LL * 3600 * 1000;

Timestamp In(std::int64_t wait) { return Timestamp{kNow.milliseconds + wait}; }

class RobotsCaching : public ::testing::Test {
 protected:
  RobotsCaching() : frontier_(*Frontier::Open(table_, {})) {}
  // Null: they have to be asked for.
  static const robots::Robots* RulesIn(RobotsCache& cache, Timestamp now) {
    const Result<const robots::Robots*> rules = cache.Find(kOrigin, now);
    EXPECT_TRUE(rules);
    return *rules;
  }

  store::MemoryBlockTable table_;
  const std::unique_ptr<Frontier> frontier_;
};

TEST_F(RobotsCaching, I1_RulesHoldForADay) {
  RobotsCache cache(*frontier_, "stele");
  EXPECT_EQ(RulesIn(cache, kNow), nullptr);
  cache.Set(kOrigin, robots::Access::kParse, "User-agent: *\nDisallow: /x\n", kNow);
  ASSERT_NE(RulesIn(cache, In(kDay - 1)), nullptr);
  EXPECT_FALSE(RulesIn(cache, In(kDay - 1))->Allows("/x"));
  EXPECT_EQ(RulesIn(cache, In(kDay)), nullptr);
}

TEST_F(RobotsCaching, I1_RulesAreThoseForOurName) {
  for (const char* name : {"stele", "foobot"}) {
    RobotsCache cache(*frontier_, name);
    cache.Set(kOrigin, robots::Access::kParse, "User-agent: foobot\nDisallow: /\n", kNow);
    EXPECT_EQ(RulesIn(cache, kNow)->Allows("/x"), std::string_view(name) == "stele") << name;
  }
}

TEST_F(RobotsCaching, I1_WhyRulesCouldNotBeHadIsRemembered) {
  RobotsCache cache(*frontier_, "stele");
  EXPECT_EQ(cache.WhyUnknown(kOrigin), "");
  cache.Set(kOrigin, robots::Access::kParse, "User-agent: *\nDisallow: /\n", kNow);
  EXPECT_EQ(cache.WhyUnknown(kOrigin), "");
  cache.Keep(kOrigin, cache.Set(kOrigin, robots::Access::kDisallowAll, "it burns", kNow));
  ASSERT_TRUE(frontier_->Commit());
  RobotsCache after_a_kill(*frontier_, "stele");
  for (RobotsCache* const one : {&cache, &after_a_kill}) {
    EXPECT_FALSE(RulesIn(*one, kNow)->Allows("/x"));
    EXPECT_EQ(one->WhyUnknown(kOrigin), "it burns");
  }
}

TEST_F(RobotsCaching, I1_ExpiredRulesCanBeProlongedAndRulesThatNobodyGaveCannot) {
  constexpr std::int64_t kHour = 3600LL * 1000;
  RobotsCache cache(*frontier_, "stele");
  EXPECT_FALSE(*cache.Prolong(kOrigin, kNow));
  cache.Keep(kOrigin,
             cache.Set(kOrigin, robots::Access::kParse, "User-agent: *\nDisallow: /x\n", kNow));
  ASSERT_TRUE(frontier_->Commit());
  RobotsCache after_a_kill(*frontier_, "stele");
  for (RobotsCache* const one : {&cache, &after_a_kill}) {
    EXPECT_EQ(RulesIn(*one, In(kDay)), nullptr);
    EXPECT_TRUE(*one->Prolong(kOrigin, In(kDay)));
    ASSERT_NE(RulesIn(*one, In(kDay + kHour - 1)), nullptr);
    EXPECT_FALSE(RulesIn(*one, In(kDay + kHour - 1))->Allows("/x"));
    EXPECT_TRUE(RulesIn(*one, In(kDay + kHour - 1))->Allows("/y"));
    EXPECT_EQ(RulesIn(*one, In(kDay + kHour)), nullptr) << "they are asked for again";
  }
  cache.Set(kOrigin, robots::Access::kDisallowAll, "", kNow);
  EXPECT_FALSE(*cache.Prolong(kOrigin, In(kDay)));
}

TEST_F(RobotsCaching, I1_ANameMayHaveDigits) {
  for (const char* agent : {"harvester2015/1.0", "harvester/2015"}) {
    RobotsCache cache(*frontier_, ProductTokenOf(agent));
    cache.Set(kOrigin, robots::Access::kParse, "User-agent: harvester2015\nDisallow: /\n", kNow);
    EXPECT_EQ(RulesIn(cache, kNow)->Allows("/x"), std::string_view(agent) == "harvester/2015");
  }
}

TEST_F(RobotsCaching, I1_RulesThatAreKeptOutliveAnInterruptionForTheSameDay) {
  {
    RobotsCache cache(*frontier_, "stele");
    const std::string note = cache.Set(kOrigin, robots::Access::kDisallowAll, "", kNow);
    RobotsCache before(*frontier_, "stele");
    EXPECT_EQ(RulesIn(before, kNow), nullptr) << "they are not kept yet";
    cache.Keep(kOrigin, note);
    ASSERT_TRUE(frontier_->Commit());
  }
  const std::unique_ptr<Frontier> again = *Frontier::Open(table_, {});
  RobotsCache cache(*again, "stele");
  ASSERT_NE(RulesIn(cache, In(kDay - 1)), nullptr);
  EXPECT_FALSE(RulesIn(cache, In(kDay - 1))->Allows("/"));
  RobotsCache later(*again, "stele");
  EXPECT_EQ(RulesIn(later, In(kDay)), nullptr);
}

}  // namespace
}  // namespace stele::crawl
