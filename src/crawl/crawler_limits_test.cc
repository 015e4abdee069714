#include <fmt/format.h>
#include <gtest/gtest.h>

#include "crawl/crawl_test_lab.h"
#include "crawl/crawler.h"

namespace stele::crawl {
namespace {

using testing::FakeWeb;
using testing::Lab;

// Each page links two others. With an hour between pages a crawl of it would not end.
void MakeSlowSite(Lab& lab) {
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.connections = 1;
  lab.settings.politeness.delay = std::chrono::hours(1);
  for (int i = 0; i < 30; ++i) {
    lab.pages[i == 0 ? "http://a.org/" : fmt::format("http://a.org/{}", i)] =
        fmt::format("{} <a href=/{}></a><a href=/{}></a>", i, 2 * i + 1, 2 * i + 2);
  }
}

TEST(CrawlerLimits, I1_TheTimeEndsACrawlAlsoWhereAServerDrips) {
  for (const std::size_t connections : {1, 4}) {
    Lab lab;
    lab.settings.robots = RobotsPolicy::kIgnore;
    lab.settings.connections = connections;
    lab.settings.time_max = std::chrono::hours(1);
    lab.respond = [&](const std::string& url, std::size_t) {
      if (url == "http://a.org/drip") lab.clock.step = 60'000;
      return std::string();
    };
    lab.pages = {{"http://a.org/", "<a href=/drip></a>"},
                 {"http://a.org/drip", "drop <a href=/late></a>"}};
    lab.hanging = {"http://a.org/drip"};
    const Result<CrawlEnd> end = lab.Crawl();
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(end->why, CrawlEnd::Why::kLimit);
    EXPECT_EQ(end->limit, "time");
    EXPECT_EQ(lab.captured, (std::multiset<std::string>{"http://a.org/", "http://a.org/drip"}));
    EXPECT_EQ(end->progress.waiting, 1U);
    const std::string log = *io::ReadFile(lab.disk, "run/crawl.log");
    EXPECT_NE(log.find(" timeTrunc"), std::string::npos) << log;
  }
}

TEST(CrawlerLimits, I1_AsManyPagesComeAsMayWithWhatTheyNeed) {
  Lab lab;
  lab.settings.pages_max = 5;
  std::string page = "<a href=http://a.org/gone></a>";
  for (int i = 0; i < 60; ++i) {
    page += fmt::format("<a href=/{}></a>", i);
    lab.pages[fmt::format("http://a.org/{}", i)] = fmt::format("<img src=http://b.org/{}>", i);
    lab.pages[fmt::format("http://b.org/{}", i)] = "picture";
  }
  lab.pages["http://a.org/"] = page;
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kLimit);
  EXPECT_EQ(end->limit, "pages");
  EXPECT_EQ(end->progress.counts.pages, 5U);
  // Four of these pages have a picture; two files are rules, and one page is not there.
  EXPECT_EQ(lab.captured.size(), 12U);
}

TEST(CrawlerLimits, I1_BytesThatAreUnderWayCount) {
  Lab lab;
  lab.settings.bytes_max = 50'000;
  lab.settings.connections = 64;
  std::string page;
  for (int i = 0; i < 200; ++i) {
    page += fmt::format("<a href=/{}></a>", i);
    lab.pages[fmt::format("http://a.org/{}", i)] =
        std::string(5'000, static_cast<char>('a' + i % 26));
  }
  lab.pages["http://a.org/"] = page;
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->limit, "bytes");
  EXPECT_GE(end->progress.counts.bytes, 50'000U);
  EXPECT_LT(end->progress.counts.bytes, 50'000U + 5'000U) << "one that says how long it is";
  // With more room it goes on, and what was not taken comes.
  lab.settings.bytes_max = 0;
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured.size(), 202U);
  EXPECT_EQ(std::set<std::string>(lab.captured.begin(), lab.captured.end()).size(), 202U);
}

TEST(CrawlerLimits, I1_OneComesAtATimeUntilItIsKnownHowLongTheyAre) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.bytes_max = 5'000;
  lab.settings.seeds.clear();
  for (int i = 0; i < 50; ++i) {
    const std::string seed = fmt::format("http://{}.org/", i);
    lab.settings.seeds.push_back(seed);
    // Nothing says how long it is.
    lab.before[seed] = {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" +
                        std::string(10'000, 'x')};
  }
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->limit, "bytes");
  EXPECT_EQ(lab.captured.size(), 1U);
}

TEST(CrawlerLimits, I1_LimitsThatAreChangedHold) {
  Lab lab;
  MakeSlowSite(lab);
  lab.at_first = [](Crawler& crawler, FakeWeb&) {
    LimitChanges changes;
    changes.delay.emplace(std::chrono::milliseconds(0));
    changes.pages_max = 10;
    EXPECT_TRUE(crawler.ChangeLimits(changes));
  };
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kLimit);
  EXPECT_EQ(end->limit, "pages");
  EXPECT_EQ(end->progress.limits.pages_max, 10U);
  EXPECT_EQ(lab.captured.size(), 10U);
}

TEST(CrawlerLimits, I1_LimitsThatWereChangedOutliveAnInterruption) {
  Lab lab;
  MakeSlowSite(lab);
  lab.at_first = [](Crawler& crawler, FakeWeb&) {
    LimitChanges changes;
    changes.delay.emplace(std::chrono::milliseconds(0));
    changes.pages_max = 5;
    EXPECT_TRUE(crawler.ChangeLimits(changes));
    EXPECT_TRUE(crawler.End());
  };
  ASSERT_EQ(lab.Crawl()->why, CrawlEnd::Why::kStopped);
  lab.at_first = nullptr;
  const Result<CrawlEnd> end = lab.Crawl(3);
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kStopped);
  EXPECT_EQ(end->progress.limits.pages_max, 5U);
  // What a person says now is newer.
  lab.settings.pages_max = 9;
  const Result<CrawlEnd> last = lab.Crawl();
  ASSERT_TRUE(last) << last.error().text;
  EXPECT_EQ(last->why, CrawlEnd::Why::kLimit);
  EXPECT_EQ(last->progress.limits.pages_max, 9U);
  EXPECT_EQ(last->progress.counts.pages, 9U);
}

}  // namespace
}  // namespace stele::crawl
