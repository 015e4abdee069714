#include "util/ascii.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stele {
namespace {

TEST(Ascii, CaseIsFoldedOnlyForAsciiLetters) {
  EXPECT_EQ(AsciiLower("Content-TYPE \xC3\x84"), "content-type \xC3\x84");
  EXPECT_TRUE(EqualsIgnoreCase("WARC-Type", "warc-type"));
  EXPECT_FALSE(EqualsIgnoreCase("WARC-Type", "warc-typ"));
  EXPECT_FALSE(EqualsIgnoreCase("[", "{"));
  EXPECT_TRUE(StartsWithIgnoreCase("HTTP/1.1 200", "http/"));
  EXPECT_FALSE(StartsWithIgnoreCase("HT", "http"));
}

TEST(Ascii, TrimTakesEverySpaceFromBothEnds) {
  EXPECT_EQ(TrimSpace("\t a b \r\n\v\f"), "a b");
  EXPECT_EQ(TrimSpace("   "), "");
}

TEST(Ascii, SplitKeepsEmptyParts) {
  EXPECT_THAT(Split("a,,b", ','), testing::ElementsAre("a", "", "b"));
  EXPECT_THAT(Split("", ','), testing::ElementsAre(""));
}

TEST(Ascii, DecimalRefusesWhatIsNotOnlyDigits) {
  EXPECT_EQ(ParseDecimal("18446744073709551615"), 18446744073709551615u);
  for (const char* wrong : {"", "-1", "+1", " 1", "1 ", "0x10", "18446744073709551616"}) {
    EXPECT_EQ(ParseDecimal(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace stele
