#include "crawl/traps.h"

#include <gtest/gtest.h>

#include <string>

namespace stele::crawl {
namespace {

std::string_view TrapOf(const std::string& path) {
  return FindTrap(*url::Parse("http://a.org" + path), 2026);
}

TEST(Traps, I1_UrlsThatGrowWithoutEndAreFound) {
  EXPECT_EQ(TrapOf("/a/b/a/c/a/d/a"), "repeating-segments");
  EXPECT_EQ(TrapOf("/x/y/x/y/x/y/1/2"), "repeating-segments");
  EXPECT_EQ(TrapOf("/p?s=1&s=1&s=1&s=1"), "repeating-arguments");
  std::string deep;
  for (int i = 0; i < 30; ++i) deep += "/" + std::to_string(i);
  EXPECT_EQ(TrapOf(deep), "too-deep");
  EXPECT_EQ(TrapOf("/?q=" + std::string(kUrlBytesMax, 'x')), "too-long");
}

TEST(Traps, I1_CalendarsEndSoonAfterThePresent) {
  for (const char* far :
       {"/events/2090/05/", "/cal?month=2090-05", "/cal?year=2090", "/archive/1850-12-01"}) {
    EXPECT_EQ(TrapOf(far), "calendar") << far;
  }
  for (const char* good : {"/events/2026/12/", "/cal?month=2028-01", "/item/2090", "/2090-series",
                           "/p?id=20900512", "/1970/01/01/epoch"}) {
    EXPECT_EQ(TrapOf(good), "") << good;
  }
}

TEST(Traps, I1_OrdinaryUrlsAreNone) {
  for (const char* good : {"/", "/a/b/c/d/e/f", "/de/de/index.html", "/p?a=1&b=1&c=1&d=1",
                           "/news/2024/05/17/title-of-it", "/a//b///c"}) {
    EXPECT_EQ(TrapOf(good), "") << good;
  }
}

TEST(Traps, I1_TheSameContentUnderEverNewArgumentsIsFound) {
  RepeatedContents contents;
  const auto url = [](int i) { return *url::Parse("http://a.org/list?p=" + std::to_string(i)); };
  int found = -1;
  for (int i = 0; i < 100 && found < 0; ++i) {
    if (contents.Learn(url(i), "sha1:SAME")) found = i;
  }
  EXPECT_EQ(found, static_cast<int>(RepeatedContents::kRepeatsMax));
  EXPECT_TRUE(contents.IsTrap(url(1000)));
  EXPECT_FALSE(contents.IsTrap(*url::Parse("http://a.org/list"))) << "it has no arguments";
  EXPECT_FALSE(contents.IsTrap(*url::Parse("http://a.org/other?p=1")));
  EXPECT_FALSE(contents.Learn(url(1001), "sha1:SAME")) << "is told once";
}

TEST(Traps, I1_WhatWasLearnedSurvivesAnInterruption) {
  RepeatedContents before;
  const auto learn = [](RepeatedContents& contents, std::uint32_t i) {
    return contents.Learn(*url::Parse("http://a.org/p?i=" + std::to_string(i)), "same");
  };
  for (std::uint32_t i = 0; i < RepeatedContents::kRepeatsMax; ++i) EXPECT_FALSE(learn(before, i));
  RepeatedContents after;
  for (const auto& [name, value] : before.TakeLearned()) after.Restore(name, value);
  EXPECT_TRUE(before.TakeLearned().empty());
  EXPECT_TRUE(learn(after, 1000));
  RepeatedContents last;
  for (const auto& [name, value] : after.TakeLearned()) last.Restore(name, value);
  EXPECT_TRUE(last.IsTrap(*url::Parse("http://a.org/p?i=7")));
  last.Restore("http://a.org/q", "damaged");
  EXPECT_FALSE(last.IsTrap(*url::Parse("http://a.org/q?i=7")));
}

TEST(Traps, I1_ContentsThatDifferAreNoTrap) {
  RepeatedContents contents;
  for (int i = 0; i < 1000; ++i) {
    const url::Url url = *url::Parse("http://a.org/article?id=" + std::to_string(i));
    EXPECT_FALSE(contents.Learn(url, "sha1:" + std::to_string(i / 20)));
    EXPECT_FALSE(contents.IsTrap(url));
  }
}

}  // namespace
}  // namespace stele::crawl
