#include "dedup/equivalent_url.h"

#include <gtest/gtest.h>

#include "dedup/media_filter.h"

namespace stele::dedup {
namespace {

TEST(EquivalentUrl, D1_StripTakesWwwQueryAndLastSlashAway) {
  const auto strip = [](std::string_view url) {
    return NormalisedUrl(EquivalentRule::kStrip, url);
  };
  EXPECT_EQ(strip("http://www.bok.hi.is/?lang=ice"), "http://bok.hi.is");
  EXPECT_EQ(strip("http://www2.bok.hi.is/a/"), "http://bok.hi.is/a");
  EXPECT_EQ(strip("http://bok.hi.is/a?x#y"), "http://bok.hi.is/a");
  EXPECT_EQ(strip("http://wwwhite.is/www.a"), "http://wwwhite.is/a");
  EXPECT_EQ(strip("http://a.is//"), "http://a.is/");
}

TEST(EquivalentUrl, D1_SurtIsTheSortKeyOfArchives) {
  EXPECT_EQ(NormalisedUrl(EquivalentRule::kSurt, "https://www.Example.com/b?y=2&x=1"),
            "com,example)/b?x=1&y=2");
}

TEST(EquivalentUrl, D1_RulesHaveNames) {
  for (const EquivalentRule rule :
       {EquivalentRule::kNone, EquivalentRule::kStrip, EquivalentRule::kSurt}) {
    EXPECT_EQ(EquivalentRuleByName(EquivalentRuleName(rule)), rule);
  }
  EXPECT_EQ(EquivalentRuleByName(""), std::nullopt);
}

TEST(MediaFilter, D2_TypesAreLeftOutOrLetIn) {
  EXPECT_TRUE(MediaFilter().Takes("text/html"));
  const auto without_text = MediaFilter::Create("^text/.*", MediaFilter::Mode::kBlacklist);
  ASSERT_TRUE(without_text);
  EXPECT_FALSE(without_text->Takes("text/html"));
  EXPECT_FALSE(without_text->Takes("TEXT/Plain"));
  EXPECT_TRUE(without_text->Takes("image/png"));
  EXPECT_TRUE(without_text->Takes("application/text/x"));
  const auto pictures = MediaFilter::Create("image/.*", MediaFilter::Mode::kWhitelist);
  ASSERT_TRUE(pictures);
  EXPECT_TRUE(pictures->Takes("image/png"));
  EXPECT_FALSE(pictures->Takes("text/html"));
  EXPECT_EQ(pictures->Text(), "only image/.*");
}

TEST(MediaFilter, D2_AnExpressionIsForAWholeType) {
  const auto filter = MediaFilter::Create("text", MediaFilter::Mode::kBlacklist);
  EXPECT_TRUE(filter->Takes("text/html"));
  EXPECT_TRUE(filter->Takes("application/text"));
  EXPECT_FALSE(filter->Takes("text"));
}

TEST(MediaFilter, D2_OfATypeWithoutEndItsBeginCounts) {
  const auto filter = MediaFilter::Create("text/.*", MediaFilter::Mode::kBlacklist);
  EXPECT_FALSE(filter->Takes("text/" + std::string(1 << 20, 'a')));
  EXPECT_TRUE(filter->Takes(std::string(1 << 20, 'a')));
}

TEST(MediaFilter, D2_WhatIsNoExpressionIsRefused) {
  const auto refused = MediaFilter::Create("text/(", MediaFilter::Mode::kBlacklist);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace stele::dedup
