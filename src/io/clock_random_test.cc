#include <gtest/gtest.h>

#include "io/clock.h"
#include "io/random.h"

namespace stele::io {
namespace {

TEST(Clock, TheManualOneStandsStillAndTheSystemsIsInThisMillennium) {
  ManualClock manual(Timestamp{5});
  EXPECT_EQ(manual.Now(), manual.Now());
  manual.Set(Timestamp{6});
  EXPECT_EQ(manual.Now().milliseconds, 6);
  EXPECT_EQ(FormatIso(SystemClock().Now()).front(), '2');
}

TEST(Random, AUuidHasItsVersionAndVariantAndIsNew) {
  SystemRandom random;
  const std::string a = NewUuid(random);
  ASSERT_EQ(a.size(), 36u);
  EXPECT_EQ(a[14], '4');
  EXPECT_NE(std::string("89ab").find(a[19]), std::string::npos);
  EXPECT_NE(NewUuid(random), a);
  SeededRandom one(1), again(1);
  EXPECT_EQ(NewUuid(one), NewUuid(again));
}

}  // namespace
}  // namespace stele::io
