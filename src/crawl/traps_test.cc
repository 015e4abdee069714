#include "crawl/traps.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
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
  for (const char* far : {"/events/2090/05/", "/cal?month=2090-05", "/cal?year=2090"}) {
    EXPECT_EQ(TrapOf(far), "calendar") << far;
  }
  for (const char* good : {"/events/2026/12/", "/cal?month=2028-01", "/item/2090", "/2090-series",
                           "/p?id=20900512", "/paper/1945/05/08.html", "/item/1234-12"}) {
    EXPECT_EQ(TrapOf(good), "") << good;
  }
}

TEST(Traps, I1_OrdinaryUrlsAreNone) {
  for (const char* good : {"/", "/a/b/c/d/e/f", "/de/de/index.html", "/p?a=1&b=1&c=1&d=1",
                           "/news/2024/05/17/title-of-it", "/a//b///c"}) {
    EXPECT_EQ(TrapOf(good), "") << good;
  }
}

constexpr std::uint64_t kRepeats = 25;

url::Url At(const std::string& path) { return *url::Parse("http://a.org" + path); }

RepeatedContents SameAnswers() { return {PathWithArguments, kRepeats}; }

TEST(Traps, I1_TheSameContentUnderEverNewArgumentsIsFound) {
  RepeatedContents contents = SameAnswers();
  const auto url = [](int i) { return At("/list?p=" + std::to_string(i)); };
  int found = -1;
  for (int i = 0; i < 100 && found < 0; ++i) {
    if (contents.Learn(url(i), "sha1:SAME")) found = i;
  }
  EXPECT_EQ(found, static_cast<int>(kRepeats));
  EXPECT_TRUE(contents.IsTrap(url(1000)));
  EXPECT_FALSE(contents.IsTrap(At("/list"))) << "it has no arguments";
  EXPECT_FALSE(contents.IsTrap(At("/other?p=1")));
  EXPECT_FALSE(contents.Learn(url(1001), "sha1:SAME")) << "is told once";
}

TEST(Traps, I1_TheSameContentUnderEverNewPathsIsFound) {
  RepeatedContents pages(FirstFolder, kRepeats);
  // The depth does not matter, nor the names.
  std::string path = "/x/";
  bool is_found = false;
  for (std::uint64_t i = 0; i <= kRepeats; ++i) {
    EXPECT_FALSE(is_found);
    path += i % 3 == 0 ? "news/" : "about/";
    is_found = pages.Learn(At(path), "sha1:SAME");
  }
  EXPECT_TRUE(is_found);
  EXPECT_TRUE(pages.IsTrap(At("/x/another/one")));
  EXPECT_FALSE(pages.IsTrap(At("/x/?page=2"))) << "arguments have limits of their own";
  EXPECT_FALSE(pages.IsTrap(At("/x")));
  EXPECT_FALSE(pages.IsTrap(At("/y/another/one")));
}

// Where a page has a banner that changes, or says "yes" and "no" by turns.
TEST(Traps, I1_AFewContentsThatTakeTurnsUnderEverNewUrlsAreFound) {
  for (const std::uint64_t few : {2U, 3U, 16U}) {
    RepeatedContents contents = SameAnswers();
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < 1000 && found == 0; ++i) {
      const url::Url url = At("/list?p=" + std::to_string(i));
      if (contents.Learn(url, "sha1:" + std::to_string(i % few))) found = i;
    }
    // Each came once, and then as often as it may on the average.
    EXPECT_EQ(found, few - 1 + kRepeats * few) << few;
    EXPECT_TRUE(contents.IsTrap(At("/list?p=more"))) << few;
  }
}

TEST(Traps, I1_AFewContentsInAnyOrderAreFound) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 dice(seed);
    RepeatedContents pages(FirstFolder, kRepeats);
    bool is_found = false;
    for (int i = 0; i < 300 && !is_found; ++i) {
      is_found = pages.Learn(At("/x/" + std::to_string(i)), std::to_string(dice() % 5));
    }
    EXPECT_TRUE(is_found) << seed;
  }
}

// A list that can be sorted: each of its pages comes again and again, but there are many of them.
TEST(Traps, I1_ManyContentsThatComeAgainAreNoTrap) {
  RepeatedContents contents = SameAnswers();
  for (int i = 0; i < 5000; ++i) {
    const url::Url url = At("/list?n=" + std::to_string(i));
    EXPECT_FALSE(contents.Learn(url, std::to_string(i % 17))) << i;
  }
}

TEST(Traps, I1_AShopWhereMuchIsNotAvailableIsNoTrap) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 dice(seed);
    RepeatedContents contents = SameAnswers();
    for (int i = 0; i < 300; ++i) {
      const url::Url url = At("/product?id=" + std::to_string(i));
      const bool is_there = dice() % 2 == 0;
      const std::string content = is_there ? std::to_string(i) : i % 2 == 0 ? "sold out" : "soon";
      EXPECT_FALSE(contents.Learn(url, content)) << i;
    }
  }
}

// Each post has a URL that shows all posts of its topic.
TEST(Traps, I1_AForumWithAUrlForEachPostIsNoTrap) {
  RepeatedContents contents = SameAnswers();
  for (int topic = 0; topic < 40; ++topic) {
    EXPECT_FALSE(contents.Learn(At("/topic?t=" + std::to_string(topic)), std::to_string(topic)));
  }
  for (int post = 0; post < 40 * 20; ++post) {
    const url::Url url = At("/topic?p=" + std::to_string(post));
    EXPECT_FALSE(contents.Learn(url, std::to_string(post / 20))) << post;
  }
}

TEST(Traps, I1_PlacesAreFoldersAndNamesOfArguments) {
  EXPECT_EQ(FirstFolder(At("/")), "http://a.org/");
  EXPECT_EQ(FirstFolder(At("/page7")), "http://a.org/");
  EXPECT_EQ(FirstFolder(At("/news/2026/x.html")), "http://a.org/news/");
  EXPECT_EQ(FirstFolder(At("/s8f3/x")), "http://a.org/#/");
  EXPECT_EQ(FirstFolder(At("/news/?p=1")), "");
  EXPECT_EQ(PathWithNames(At("/list?q=1&p=2&q=3")), "http://a.org/list?p&q");
  EXPECT_EQ(PathWithNames(At("/list?f[0]=a&f[1]=b&page=12")), "http://a.org/list?f[#]&page");
  EXPECT_EQ(PathWithNames(At("/list?x")), "http://a.org/list?x");
  EXPECT_EQ(PathWithNames(At("/list")), "");
}

// A site answers "there is no such page" with status 200.
TEST(Traps, I1_ManySamePagesAmongMoreOthersAreNoTrap) {
  RepeatedContents pages(FirstFolder, kRepeats);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(pages.Learn(At("/wiki/" + std::to_string(i)), std::to_string(i)));
  }
  for (int i = 0; i < 999; ++i) {
    EXPECT_FALSE(pages.Learn(At("/wiki/gone" + std::to_string(i)), "error"));
  }
  EXPECT_FALSE(pages.IsTrap(At("/wiki/more")));
  // That many good ones are known also after an interruption, but for some of them.
  RepeatedContents after(FirstFolder, kRepeats);
  for (const auto& [name, value] : pages.TakeLearned()) after.Restore(name, value);
  EXPECT_FALSE(after.IsTrap(At("/wiki/more")));
}

TEST(Traps, I1_WithoutALimitNothingRepeats) {
  RepeatedContents pages(FirstFolder, 0);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(pages.Learn(At("/x/" + std::to_string(i)), "same"));
  }
  EXPECT_FALSE(pages.IsTrap(At("/x/y")));
}

TEST(Traps, I1_WhatWasLearnedSurvivesAnInterruption) {
  RepeatedContents before = SameAnswers();
  const auto learn = [](RepeatedContents& contents, std::uint64_t i) {
    return contents.Learn(At("/p?i=" + std::to_string(i)), "same");
  };
  for (std::uint64_t i = 0; i < kRepeats; ++i) EXPECT_FALSE(learn(before, i));
  RepeatedContents after = SameAnswers();
  for (const auto& [name, value] : before.TakeLearned()) after.Restore(name, value);
  EXPECT_TRUE(before.TakeLearned().empty());
  EXPECT_TRUE(learn(after, 1000));
  RepeatedContents last = SameAnswers();
  for (const auto& [name, value] : after.TakeLearned()) last.Restore(name, value);
  EXPECT_TRUE(last.IsTrap(At("/p?i=7")));
  last.Restore("http://a.org/q", "damaged");
  EXPECT_FALSE(last.IsTrap(At("/q?i=7")));
}

TEST(Traps, I1_AFewContentsAreKnownAfterAnInterruption) {
  auto contents = std::make_unique<RepeatedContents>(PathWithArguments, kRepeats);
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < 200 && found == 0; ++i) {
    const url::Url url = At("/p?i=" + std::to_string(i));
    if (contents->Learn(url, std::to_string(i % 3))) found = i;
    const auto learned = contents->TakeLearned();
    // The first contents of a place alone are not worth a note.
    if (i < 3) continue;
    contents = std::make_unique<RepeatedContents>(PathWithArguments, kRepeats);
    for (const auto& [name, value] : learned) contents->Restore(name, value);
  }
  EXPECT_EQ(found, 2 + kRepeats * 3);
}

TEST(Traps, I1_DamagedNotesAreLeftOut) {
  RepeatedContents before = SameAnswers();
  for (int i = 0; i < 500; ++i)
    before.Learn(At("/p?i=" + std::to_string(i)), std::to_string(i % 2));
  const auto learned = before.TakeLearned();
  ASSERT_EQ(learned.size(), 1U);
  for (std::size_t size = 0; size < learned[0].second.size(); ++size) {
    RepeatedContents after = SameAnswers();
    after.Restore(learned[0].first, std::string_view(learned[0].second).substr(0, size));
    EXPECT_FALSE(after.IsTrap(At("/p?i=more"))) << size;
  }
}

TEST(Traps, I1_ContentsThatDifferAreNoTrap) {
  RepeatedContents contents = SameAnswers();
  for (int i = 0; i < 1000; ++i) {
    const url::Url url = At("/article?id=" + std::to_string(i));
    EXPECT_FALSE(contents.Learn(url, "sha1:" + std::to_string(i / 20)));
    EXPECT_FALSE(contents.IsTrap(url));
  }
}

// Of hosts without number only the last are remembered, and traps longer than others.
TEST(Traps, I1_MemoryIsBoundedAndTrapsAreForgottenLast) {
  RepeatedContents pages(FirstFolder, kRepeats);
  for (std::uint64_t i = 0; i <= kRepeats; ++i) {
    pages.Learn(At("/x/" + std::to_string(i)), "same");
  }
  for (int i = 0; i < 150'000; ++i) {
    pages.Learn(*url::Parse("http://h" + std::to_string(i) + ".org/"), "page");
  }
  EXPECT_TRUE(pages.IsTrap(At("/x/more")));
}

}  // namespace
}  // namespace stele::crawl
