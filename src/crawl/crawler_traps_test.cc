// Sites that make pages without end, and sites that only look so.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "crawl/crawl_report.h"
#include "crawl/crawl_test_lab.h"

namespace stele::crawl {
namespace {

using testing::Lab;

CrawlReport ReportOf(Lab& lab) {
  const Result<CrawlReport> report = ReadCrawlReport(lab.disk, "run");
  EXPECT_TRUE(report) << report.error().text;
  return report ? *report : CrawlReport();
}

bool IsBelow(const std::string& url, std::string_view folder) {
  return url.starts_with("http://a.org" + std::string(folder));
}

std::ptrdiff_t CountBelow(const Lab& lab, std::string_view folder) {
  return std::count_if(lab.captured.begin(), lab.captured.end(),
                       [&](const std::string& url) { return IsBelow(url, folder); });
}

// Whatever is asked for below /x/ is one page, whose links lead ever deeper.
std::string SamePage(const std::string& url) {
  if (!IsBelow(url, "/x/")) return "";
  std::string page = "<p>one page";
  for (int i = 0; i < 8; ++i) page += fmt::format("<a href=part{}/></a>", i);
  return page;
}

TEST(CrawlerTraps, I1_OnePageUnderEverNewPathsEndsAndIsReported) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "<a href=/x/></a><a href=/good/1></a>"}};
  for (int i = 1; i <= 300; ++i) {
    lab.pages[fmt::format("http://a.org/good/{}", i)] =
        fmt::format("{}<a href=/good/{}></a><a href=/good/{}></a>", i, 2 * i, 2 * i + 1);
  }
  lab.make = SamePage;
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
  EXPECT_GT(CountBelow(lab, "/x/"), 100);
  EXPECT_LT(CountBelow(lab, "/x/"), 100 + 50) << "what waited is left alone, too";
  for (int i = 1; i <= 300; ++i) {
    EXPECT_EQ(lab.captured.count(fmt::format("http://a.org/good/{}", i)), 1U) << i;
  }
  const CrawlReport report = ReportOf(lab);
  const auto trap = report.traps.find({"identical-pages", "http://a.org/x/"});
  ASSERT_NE(trap, report.traps.end());
  EXPECT_GT(trap->second.urls, 100U);
  EXPECT_GE(report.trapped_urls, trap->second.urls);
  EXPECT_NE(RemedyForTrap("identical-pages").find("--max-same-pages"), std::string_view::npos);
  EXPECT_NE(ReportJson(report).find("\"place\": \"http://a.org/x/\""), std::string::npos);
}

TEST(CrawlerTraps, I1_OnePageUnderManyPathsIsNoTrapWhereItLeadsNowhereElse) {
  // Pages to come, the empty frames of an application, and pictures that are all one.
  for (const char* body :
       {"<p>soon", "<div id=root></div><script src=/app.js></script><a href=/>home</a>"}) {
    Lab lab;
    lab.settings.robots = RobotsPolicy::kIgnore;
    std::string page;
    for (int i = 0; i < 300; ++i) {
      page += fmt::format("<a href=/x/{}></a><img src=/pixel/{}>", i, i);
      lab.pages[fmt::format("http://a.org/x/{}", i)] = body;
      lab.pages[fmt::format("http://a.org/pixel/{}", i)] = "<a href=/>pixel</a>";
    }
    lab.pages["http://a.org/"] = page;
    lab.pages["http://a.org/app.js"] = "1";
    ASSERT_TRUE(lab.Crawl());
    EXPECT_EQ(CountBelow(lab, "/x/"), 300) << body;
    EXPECT_EQ(CountBelow(lab, "/pixel/"), 300) << body;
    EXPECT_TRUE(ReportOf(lab).traps.empty()) << body;
  }
}

// The page that a site has for what it does not have comes with status 200 and links.
TEST(CrawlerTraps, I1_ASiteWithOneErrorPageForManyUrlsIsCrawledWhole) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  std::string page;
  for (int i = 0; i < 400; ++i) page += fmt::format("<a href=/wiki/{}></a>", i);
  lab.pages["http://a.org/"] = page;
  lab.make = [](const std::string& url) {
    const std::size_t at = url.rfind('/') + 1;
    const int number = IsBelow(url, "/wiki/") ? std::stoi(url.substr(at)) : 0;
    return number < 200 || number > 350 ? fmt::format("page {}<a href=/></a>", number)
                                        : std::string("no such page<a href=/></a>");
  };
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(CountBelow(lab, "/wiki/"), 400);
  EXPECT_TRUE(ReportOf(lab).traps.empty());
}

TEST(CrawlerTraps, I1_WithoutALimitOnePageIsFetchedAsOftenAsItIsFound) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.same_pages_max = 0;
  lab.settings.depth_max = 4;
  lab.pages = {{"http://a.org/", "<a href=/x/></a>"}};
  lab.make = SamePage;
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(CountBelow(lab, "/x/"), 1 + 8 + 64 + 512);
}

TEST(CrawlerTraps, I1_OnePageUnderEverNewPathsIsFoundAcrossInterruptions) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.connections = 1;
  lab.pages = {{"http://a.org/", "<a href=/x/></a>"}};
  lab.make = SamePage;
  for (int i = 0; i < 4; ++i) {
    const Result<CrawlEnd> end = lab.Crawl(25);
    ASSERT_TRUE(end) << end.error().text;
    ASSERT_EQ(end->why, CrawlEnd::Why::kStopped);
  }
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
  EXPECT_LT(CountBelow(lab, "/x/"), 100 + 20);
}

// Each page has links to others with one argument changed, and says something else.
std::string FacetPage(const std::string& url) {
  const std::size_t at = url.find("/shop?");
  if (at == std::string::npos) return "";
  const std::string query = url.substr(url.find('?') + 1);
  return fmt::format("page {0}<a href=\"/shop?{0}1\"></a><a href=\"/shop?{0}2\"></a>", query);
}

TEST(CrawlerTraps, I1_EverNewArgumentsEndAtALimitAndAreReported) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.query_urls_max = 200;
  lab.pages = {{"http://a.org/", "<a href='/shop?color=red&size=1'></a><a href='/shop?p=1'></a>"}};
  lab.make = FacetPage;
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
  EXPECT_EQ(CountBelow(lab, "/shop?color="), 200);
  EXPECT_EQ(CountBelow(lab, "/shop?p="), 200);
  const CrawlReport report = ReportOf(lab);
  ASSERT_EQ(report.traps.size(), 2U);
  for (const char* place : {"http://a.org/shop?color&size", "http://a.org/shop?p"}) {
    const auto found = report.traps.find({"endless-parameters", place});
    ASSERT_NE(found, report.traps.end()) << place;
    EXPECT_GT(found->second.urls, 0U);
  }
  EXPECT_NE(RemedyForTrap("endless-parameters").find("--max-query-urls"), std::string_view::npos);
}

TEST(CrawlerTraps, I1_EverNewArgumentsAreCountedAcrossInterruptions) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.query_urls_max = 100;
  lab.settings.connections = 1;
  lab.pages = {{"http://a.org/", "<a href='/shop?p=1'></a>"}};
  lab.make = FacetPage;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(lab.Crawl(20));
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(CountBelow(lab, "/shop?p="), 100);
}

// Three pages below /x/ by turns, and two behind /y?; both lead on without end.
std::string PagesByTurns(const std::string& url) {
  if (!IsBelow(url, "/x/") && !IsBelow(url, "/y?")) return "";
  const std::size_t turn = url.size() % (IsBelow(url, "/x/") ? 3 : 2);
  const char* links = IsBelow(url, "/x/") ? "<a href=a/></a><a href=ab/></a><a href=abc/></a>" : "";
  return fmt::format("page {}{}", turn, links);
}

TEST(CrawlerTraps, I1_AFewPagesThatTakeTurnsUnderEverNewUrlsEndAndAreReported) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.connections = 1;
  lab.settings.same_pages_max = 20;
  std::string page = "<a href=/x/></a>";
  // Every second one is longer.
  for (int i = 0; i < 200; ++i) page += fmt::format("<a href='/y?{}={}'></a>", i, i % 2 ? "" : "1");
  for (int i = 0; i < 200; ++i) {
    page += fmt::format("<a href=/good/{}></a>", i);
    lab.pages[fmt::format("http://a.org/good/{}", i)] = fmt::format("{}<a href=/></a>", i);
  }
  lab.pages["http://a.org/"] = page;
  lab.make = PagesByTurns;
  // The log of the last part has the traps: they are found there.
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(lab.Crawl(10));
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
  EXPECT_EQ(CountBelow(lab, "/good/"), 200);
  EXPECT_GT(CountBelow(lab, "/x/"), 3 * 20);
  EXPECT_LT(CountBelow(lab, "/x/"), 3 * 20 + 20) << "the first of each, and what is asked again";
  EXPECT_GT(CountBelow(lab, "/y?"), 2 * 25);
  EXPECT_LT(CountBelow(lab, "/y?"), 2 * 25 + 20);
  const CrawlReport report = ReportOf(lab);
  EXPECT_EQ(report.traps.count({"identical-pages", "http://a.org/x/"}), 1U);
  EXPECT_EQ(report.traps.count({"identical-content", "http://a.org/y"}), 1U);
  EXPECT_NE(RemedyForTrap("identical-content").find("--max-same-answers"), std::string_view::npos);
}

// Each page has links with one argument more; none has many values.
std::string OptionsPage(const std::string& url) {
  if (!IsBelow(url, "/shop?")) return "";
  const std::string chosen = url.substr(url.find('?') + 1);
  std::string page = "page " + chosen;
  for (char name = 'a'; name <= 'l'; ++name) {
    if (chosen.find(name) != std::string::npos) continue;
    page += fmt::format("<a href=\"/shop?{}&{}=1\"></a>", chosen, name);
  }
  return page;
}

TEST(CrawlerTraps, I1_OptionalArgumentsDoNotMultiplyTheLimitAndAreReported) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.connections = 1;
  lab.settings.query_urls_max = 100;
  lab.pages = {{"http://a.org/", "<a href='/shop?a=1'></a><a href='/shop?b=1'></a>"}};
  lab.make = OptionsPage;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(lab.Crawl(30));
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(CountBelow(lab, "/shop?"), 400);
  const CrawlReport report = ReportOf(lab);
  const auto found = report.traps.find({"endless-combinations", "http://a.org/shop"});
  ASSERT_NE(found, report.traps.end());
  EXPECT_GT(found->second.urls, 100U);
  EXPECT_NE(RemedyForTrap("endless-combinations").find("--max-query-urls"), std::string_view::npos);
}

TEST(CrawlerTraps, I1_AListOfManyPagesIsCrawledWhole) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  constexpr int kPages = 1'000;
  std::string page;
  for (int i = 0; i < kPages; ++i) page += fmt::format("<a href='/list?page={}'></a>", i);
  lab.pages["http://a.org/"] = page;
  lab.make = [](const std::string& url) { return "<a href=/></a>" + url; };
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(CountBelow(lab, "/list?page="), kPages);
  EXPECT_TRUE(ReportOf(lab).traps.empty());
}

}  // namespace
}  // namespace stele::crawl
