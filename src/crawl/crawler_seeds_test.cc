// Seeds that were given without a scheme.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "crawl/crawl_report.h"
#include "crawl/crawl_test_lab.h"

namespace stele::crawl {
namespace {

using testing::FakeWeb;
using testing::Lab;

const std::multiset<std::string> kByHttps = {"https://a.org/", "https://a.org/1",
                                             "https://a.org/robots.txt"};

// A site that speaks https only.
void Build(Lab& lab, net::FetchFailure failure = net::FetchFailure::kConnect) {
  lab.settings.seeds = {"a.org/"};
  lab.pages = {{"https://a.org/", "<a href=/1></a>"}, {"https://a.org/1", "1"}};
  for (const char* path : {"", "robots.txt", "x"}) {
    lab.failures[std::string("http://a.org/") + path] = failure;
  }
}

CrawlReport ReportOf(Lab& lab) {
  Result<CrawlReport> report = ReadCrawlReport(lab.disk, "run");
  EXPECT_TRUE(report) << report.error().text;
  return report ? *std::move(report) : CrawlReport();
}

TEST(CrawlerSeeds, I1_ASeedThatAnswersByHttpsOnlyIsCaptured) {
  for (const net::FetchFailure failure : {net::FetchFailure::kConnect, net::FetchFailure::kTimeout,
                                          net::FetchFailure::kLost, net::FetchFailure::kNotHttp}) {
    for (const RobotsPolicy robots : {RobotsPolicy::kObey, RobotsPolicy::kIgnore}) {
      Lab lab;
      Build(lab, failure);
      lab.settings.robots = robots;
      // It is the one page, and nothing is left.
      lab.settings.pages_max = 2;
      const Result<CrawlEnd> end = lab.Crawl();
      ASSERT_TRUE(end) << end.error().text;
      EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
      EXPECT_EQ(end->progress.counts.failures, 0U);
      EXPECT_EQ(lab.captured.count("https://a.org/1"), 1U);
      EXPECT_EQ(lab.asked["http://a.org/"] + lab.asked["http://a.org/robots.txt"], 1);
      const CrawlReport report = ReportOf(lab);
      ASSERT_EQ(report.seeds.size(), 1U);
      EXPECT_EQ(report.seeds[0].url, "http://a.org/");
      EXPECT_EQ(report.seeds[0].redirect, "https://a.org/");
      EXPECT_TRUE(report.seeds[0].is_good());
      EXPECT_FALSE(report.seeds[0].by_https.empty());
      EXPECT_EQ(report.failed_count, 0U);
      EXPECT_TRUE(report.given_up.empty());
    }
  }
}

TEST(CrawlerSeeds, I1_AConnectionThatDoesNotComeCostsNoPause) {
  Lab lab;
  Build(lab, net::FetchFailure::kTimeout);
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.politeness.delay.reset();
  lab.settings.politeness.delay_min = std::chrono::milliseconds(0);
  lab.settings.politeness.delay_max = std::chrono::hours(1);
  lab.settings.time_max = std::chrono::seconds(5);
  lab.failure_takes = std::chrono::seconds(600);
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->limit, "");
  EXPECT_EQ(lab.captured.count("https://a.org/1"), 1U);
}

TEST(CrawlerSeeds, I1_ASeedThatNamesHttpIsAskedForByNothingElse) {
  Lab lab;
  Build(lab);
  lab.settings.seeds = {"http://a.org/"};
  ASSERT_TRUE(lab.Crawl());
  EXPECT_TRUE(lab.captured.empty());
  EXPECT_EQ(lab.asked.count("https://a.org/robots.txt"), 0U);
}

TEST(CrawlerSeeds, I1_WhereHttpFailsOnceAndHttpsIsNotThereHttpIsAskedAgain) {
  for (const RobotsPolicy robots : {RobotsPolicy::kObey, RobotsPolicy::kIgnore}) {
    Lab lab;
    lab.settings.seeds = {"a.org"};
    lab.settings.robots = robots;
    lab.pages = {{"http://a.org/", "<a href=/1></a>"}, {"http://a.org/1", "1"}};
    const bool obeys = robots == RobotsPolicy::kObey;
    lab.before = {{obeys ? "http://a.org/robots.txt" : "http://a.org/", {"lost"}}};
    lab.failures = {{"https://a.org/", net::FetchFailure::kConnect},
                    {"https://a.org/robots.txt", net::FetchFailure::kConnect}};
    const Result<CrawlEnd> end = lab.Crawl();
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
    EXPECT_EQ(lab.captured.count("http://a.org/1"), 1U);
    EXPECT_LE(lab.asked["https://a.org/"] + lab.asked["https://a.org/robots.txt"], 2);
    const CrawlReport report = ReportOf(lab);
    ASSERT_EQ(report.seeds.size(), 1U);
    EXPECT_TRUE(report.seeds[0].is_good());
    EXPECT_EQ(report.seeds[0].by_https, "");
    EXPECT_EQ(report.seeds[0].redirect, "");
  }
}

TEST(CrawlerSeeds, I1_ASeedThatAnswersByNeitherIsOneThatFailed) {
  for (const RobotsPolicy robots : {RobotsPolicy::kObey, RobotsPolicy::kIgnore}) {
    Lab lab;
    Build(lab);
    lab.settings.robots = robots;
    lab.failures["https://a.org/"] = lab.failures["https://a.org/robots.txt"] =
        net::FetchFailure::kTimeout;
    const Result<CrawlEnd> end = lab.Crawl();
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
    EXPECT_GE(lab.asked["http://a.org/"] + lab.asked["http://a.org/robots.txt"], 3);
    const CrawlReport report = ReportOf(lab);
    ASSERT_EQ(report.seeds.size(), 1U);
    EXPECT_FALSE(report.seeds[0].is_good());
    EXPECT_EQ(report.seeds[0].by_https, "");
    EXPECT_NE(report.seeds[0].problem.find("; "), std::string::npos) << "both problems";
  }
}

TEST(CrawlerSeeds, I1_AnInterruptedCrawlOfASeedByHttpsGoesOn) {
  for (int stop_after = 1; stop_after < 6; ++stop_after) {
    for (const bool is_killed : {false, true}) {
      Lab lab;
      Build(lab);
      lab.keeps_logs = true;
      ASSERT_TRUE(lab.Crawl(stop_after));
      EXPECT_TRUE(!is_killed || lab.table.Clear());
      const Result<CrawlEnd> end = lab.Crawl();
      ASSERT_TRUE(end) << end.error().text;
      EXPECT_EQ(end->why, CrawlEnd::Why::kDone) << stop_after;
      EXPECT_EQ(lab.captured, kByHttps) << stop_after;
      const CrawlReport report = ReportOf(lab);
      ASSERT_EQ(report.seeds.size(), 1U) << stop_after;
      EXPECT_TRUE(report.seeds[0].is_good()) << stop_after;
    }
  }
}

TEST(CrawlerSeeds, I1_ASeedThatIsAddedWithoutASchemeIsAskedForByHttps) {
  Lab lab;
  Build(lab);
  lab.settings.seeds = {"http://b.org/"};
  lab.pages["http://b.org/"] = "b";
  lab.at_first = [&](Crawler& crawler, FakeWeb&) {
    lab.other = std::thread([&] {
      const Result<AddedUrls> added = crawler.AddUrls({{"a.org"}, true});
      EXPECT_TRUE(added && added->added == 1);
    });
  };
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured.count("https://a.org/1"), 1U);
}

}  // namespace
}  // namespace stele::crawl
