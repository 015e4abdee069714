#include "crawl/moved_rules.h"

#include <gtest/gtest.h>

namespace stele::crawl {
namespace {

const std::string kRules = "https://a.org/robots.txt";

TEST(MovedRules, I1_AreCapturedOnceAndOnlyWhatIsDurableCounts) {
  store::MemoryBlockTable table;
  const url::Url url = *url::Parse(kRules);
  {
    const std::unique_ptr<Frontier> frontier = *Frontier::Open(table, {});
    MovedRules rules(*frontier);
    EXPECT_FALSE(*rules.Has(url));
    EXPECT_TRUE(*rules.Begin(kRules));
    EXPECT_FALSE(*rules.Begin(kRules)) << "two places have it, and one captures it";
    EXPECT_TRUE(rules.IsBeingCaptured(kRules));
    EXPECT_TRUE(*rules.Has(url));
    ASSERT_TRUE(frontier->Commit());
  }
  {
    // A kill came before its capture was durable.
    const std::unique_ptr<Frontier> frontier = *Frontier::Open(table, {});
    MovedRules rules(*frontier);
    EXPECT_FALSE(*rules.Has(url));
    EXPECT_TRUE(*rules.Begin(kRules));
    rules.Finish(url);
    EXPECT_FALSE(rules.IsBeingCaptured(kRules));
    ASSERT_TRUE(frontier->Commit());
  }
  const std::unique_ptr<Frontier> frontier = *Frontier::Open(table, {});
  MovedRules rules(*frontier);
  EXPECT_TRUE(*rules.Has(url));
  EXPECT_FALSE(*rules.Begin(kRules));
}

}  // namespace
}  // namespace stele::crawl
