#include "crawl/crawler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "crawl/crawl_report.h"
#include "crawl/crawl_test_lab.h"
#include "net/resolver.h"

namespace stele::crawl {
namespace {

using testing::FakeWeb;
using testing::Lab;

TEST(Crawler, I1_FollowsLinksOfTheHostAndEmbedsFromAnywhere) {
  Lab lab;
  lab.pages = {{"http://a.org/", "<a href=/1></a><a href=http://b.org/></a>"},
               {"http://a.org/1", "<img src=http://c.org/x.png><a href=/></a>"},
               {"http://c.org/x.png", "png"}};
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
  EXPECT_EQ(end->progress.counts.pages, 2U);
  EXPECT_EQ(lab.captured, (std::multiset<std::string>{
                              "http://a.org/", "http://a.org/1", "http://a.org/robots.txt",
                              "http://c.org/robots.txt", "http://c.org/x.png"}));
}

TEST(Crawler, I1_StoppedAnywhereItGoesOnWithoutLossOrDoubleCaptures) {
  // Of twelve URLs at most four are under way then, so that some are left.
  for (int stop_after = 1; stop_after <= 7; ++stop_after) {
    Lab lab;
    for (int i = 0; i < 10; ++i) {
      lab.pages[i == 0 ? "http://a.org/" : fmt::format("http://a.org/{}", i)] =
          fmt::format("{} <a href=/{}></a><a href=/{}></a>", i, (i + 1) % 10, (i * 3 + 1) % 10);
    }
    lab.pages["http://a.org/0"] = "0";
    Result<CrawlEnd> end = lab.Crawl(stop_after);
    ASSERT_TRUE(end) << end.error().text;
    // Late stops find nothing left to stop.
    if (lab.captured.size() < 12) {
      EXPECT_EQ(end->why, CrawlEnd::Why::kStopped) << stop_after;
    }
    end = lab.Crawl();
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
    EXPECT_EQ(lab.captured.size(), 12U) << stop_after;
    EXPECT_EQ(std::set<std::string>(lab.captured.begin(), lab.captured.end()).size(), 12U);
    for (const auto& [url, times] : lab.asked) EXPECT_EQ(times, 1) << url;
  }
}

TEST(Crawler, I1_AFullDiskEndsItAndWithRoomItGoesOnWithoutLossOrDoubleCaptures) {
  for (int full_after = 1; full_after <= 8; ++full_after) {
    Lab lab;
    lab.settings.connections = 1;
    for (int i = 0; i < 10; ++i) {
      lab.pages[i == 0 ? "http://a.org/" : fmt::format("http://a.org/{}", i)] =
          fmt::format("{} <a href=/{}></a><a href=/{}></a>", i, (i + 1) % 10, (i * 3 + 1) % 10);
    }
    lab.pages["http://a.org/0"] = "0";
    lab.full_after = full_after;
    const Result<CrawlEnd> failed = lab.Crawl();
    ASSERT_FALSE(failed) << full_after;
    EXPECT_EQ(failed.error().code, ErrorCode::kFull) << failed.error().text;
    const std::multiset<std::string> before = lab.captured;
    EXPECT_LT(before.size(), 12U);
    lab.full_after = 0;
    lab.disk.SetFreeBytes(std::uint64_t{1} << 40);
    const Result<CrawlEnd> end = lab.Crawl();
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
    EXPECT_EQ(lab.captured.size(), 12U) << full_after;
    EXPECT_TRUE(
        std::includes(lab.captured.begin(), lab.captured.end(), before.begin(), before.end()));
    EXPECT_EQ(std::set<std::string>(lab.captured.begin(), lab.captured.end()).size(), 12U);
  }
}

TEST(Crawler, I1_WhatWasCapturedAndNotFinishedIsNotCapturedAgain) {
  Lab lab;
  lab.pages = {{"http://a.org/", "<a href=/1></a>"}, {"http://a.org/1", "one"}};
  ASSERT_TRUE(lab.Crawl(2));
  // The frontier forgets everything, as one that was killed before its first commit.
  ASSERT_TRUE(lab.table.Clear());
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(lab.captured, (std::multiset<std::string>{"http://a.org/", "http://a.org/1",
                                                      "http://a.org/robots.txt"}));
}

TEST(Crawler, I1_WhatWasCapturedAndNotFinishedIsNoDuplicateOfItself) {
  for (const bool before_links : {false, true}) {
    Lab lab;
    lab.settings.duplicates.before_links = before_links;
    lab.pages = {{"http://a.org/", "<a href=/1></a>"}, {"http://a.org/1", "one <a href=/2></a>"}};
    lab.pages["http://a.org/2"] = "two";
    ASSERT_TRUE(lab.Crawl(3));
    ASSERT_TRUE(lab.table.Clear());
    // What comes now is something else: the archive keeps, and the log says, what came then.
    lab.pages["http://a.org/1"] = "another one";
    const Result<CrawlEnd> end = lab.Crawl();
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(lab.captured.size(), 4U) << before_links;
    EXPECT_EQ(end->progress.counts.duplicates, 0U);
    int lines = 0;
    EXPECT_TRUE(ReadLogLines(lab.disk, "run/crawl.log", [&](std::string_view text) {
      const auto line = crawl_log::ParseLine(text);
      ASSERT_TRUE(line);
      ++lines;
      EXPECT_EQ(line->annotations.find("duplicate"), std::string::npos) << text;
      EXPECT_EQ(line->FetchBegin()->milliseconds, lab.begun[line->uri].milliseconds) << text;
      EXPECT_EQ(line->size == "19", line->uri.ends_with("/1")) << text;
    }));
    EXPECT_EQ(lines, 4);
  }
}

// The first page is of the next month and finished; what it led to was captured later, with a time
// in the old month, and is not.
TEST(Crawler, I1_AChangeOfMonthRepeatsNothing) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.connections = 1;
  lab.pages = {{"http://a.org/", "<a href=/1></a>"}, {"http://a.org/1", "one"}};
  const Timestamp now = lab.clock.Now();
  constexpr std::int64_t kMonth = 31LL * 86'400'000;
  lab.times = {{"http://a.org/", Timestamp{now.milliseconds + 2 * kMonth}},
               {"http://a.org/1", Timestamp{now.milliseconds + kMonth}}};
  ASSERT_TRUE(lab.Crawl());
  ASSERT_EQ(lab.captured.size(), 2U);
  // As if it had been killed before it finished the second.
  ASSERT_TRUE(lab.table.Clear());
  LastFinished last;
  catalog::CaptureId first;
  first.batch = catalog::BatchOf(lab.times.at("http://a.org/"));
  first.serial = 10;
  last.Add(first);
  ASSERT_TRUE(lab.table.Write({{"nlast", last.Encode()}}));
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(lab.captured.count("http://a.org/1"), 1U);
}

// Interrupted again before it came to what the first part had captured.
TEST(Crawler, I1_WhatWasCapturedIsRememberedAcrossSeveralInterruptions) {
  Lab lab;
  lab.settings.connections = 1;
  lab.pages = {{"http://a.org/", "<a href=/1></a><a href=/2></a><a href=/3></a>"},
               {"http://a.org/1", "one"},
               {"http://a.org/2", "two"},
               {"http://a.org/3", "three"}};
  ASSERT_TRUE(lab.Crawl(4));
  ASSERT_TRUE(lab.table.Clear());
  for (int stop_after : {2, 1, 1, 0}) ASSERT_TRUE(lab.Crawl(stop_after));
  EXPECT_EQ(lab.captured,
            (std::multiset<std::string>{"http://a.org/", "http://a.org/1", "http://a.org/2",
                                        "http://a.org/3", "http://a.org/robots.txt"}));
}

TEST(Crawler, I1_NoServerLeadsToPrivateAddressesButOneThatHasOne) {
  for (const char* address : {"10.0.0.1", "8.8.8.8"}) {
    Lab lab;
    lab.address = address;
    lab.redirects = {{"http://a.org/", "http://b.org/"}, {"http://b.org/", "http://c.org/"}};
    lab.pages = {{"http://c.org/", "<a href=/1></a><img src=http://d.org/x.png>"}};
    // What is remembered, too.
    ASSERT_TRUE(lab.Crawl(5));
    const Result<CrawlEnd> end = lab.Crawl();
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(lab.asked["http://c.org/1"], 1) << "it is a seed in any case";
    lab.asked.clear();
    EXPECT_EQ(lab.trusted.contains("c.org"), lab.address == "10.0.0.1") << lab.address;
    EXPECT_FALSE(lab.trusted.contains("d.org"));
  }
}

TEST(Crawler, I1_HostsAtOneAddressTakeTurns) {
  Lab lab;
  lab.address = "192.0.2.1";
  lab.settings.politeness.delay = std::chrono::milliseconds(40);
  lab.settings.seeds.clear();
  constexpr int kHosts = 12;
  for (int i = 0; i < kHosts; ++i) {
    const std::string host = fmt::format("http://{}.org/", i);
    lab.settings.seeds.push_back(host);
    lab.pages[host] = "<a href=/1></a>";
  }
  const Timestamp begun = lab.clock.Now();
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured.size(), 3U * kHosts);
  // A quarter of a pause apart.
  EXPECT_GE(lab.clock.Now().milliseconds - begun.milliseconds, (2 * kHosts - 1) * 10);
}

TEST(Crawler, I1_FailuresAreTriedAgainAndThenGivenUp) {
  Lab lab;
  lab.pages = {{"http://a.org/",
                "<a href=/slow></a><img src=http://gone.org/x><img "
                "src=http://gone.org/y>"}};
  lab.failures = {{"http://a.org/slow", net::FetchFailure::kTimeout},
                  {"http://gone.org/robots.txt", net::FetchFailure::kNoAddress}};
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
  EXPECT_EQ(lab.asked["http://a.org/slow"], 3);
  EXPECT_GE(lab.asked["http://gone.org/robots.txt"], 1);
  EXPECT_FALSE(lab.asked.contains("http://gone.org/x"));
  EXPECT_EQ(end->progress.counts.failures, 3U);
}

// A server that is started again, or a line that is down for a while.
TEST(Crawler, I1_AnOriginThatAnsweredBeforeHasTimeToComeBack) {
  Lab lab;
  lab.pages = {{"http://a.org/", "<a href=/x></a>"}, {"http://a.org/x", "<a href=/y></a>"}};
  lab.failures = {{"http://a.org/y", net::FetchFailure::kConnect}};
  lab.before["http://a.org/x"] = std::vector<std::string>(6);
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
  EXPECT_TRUE(lab.captured.contains("http://a.org/x"));
  EXPECT_EQ(lab.asked["http://a.org/x"], 7);
  // But not for ever.
  EXPECT_EQ(lab.asked["http://a.org/y"], 10);
  EXPECT_EQ(end->progress.counts.failures, 1U);
}

TEST(Crawler, I1_AnOriginThatDoesNotAnswerIsGivenUpAndNotItsHost) {
  for (const char* asked_for : {"/robots.txt", "/x"}) {
    Lab lab;
    if (asked_for[1] == 'x') lab.settings.robots = RobotsPolicy::kIgnore;
    std::string page = "<a href=https://a.org/x></a><img src=https://a.org/y.png>";
    for (int i = 0; i < 20; ++i) {
      page += fmt::format("<a href=/{}></a>", i);
      lab.pages[fmt::format("http://a.org/{}", i)] = fmt::format("page {}", i);
    }
    lab.pages["http://a.org/"] = page;
    for (const char* path : {"/robots.txt", "/x", "/y.png"}) {
      lab.failures[fmt::format("https://a.org{}", path)] = net::FetchFailure::kConnect;
    }
    const Result<CrawlEnd> end = lab.Crawl();
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(lab.captured.size(), asked_for[1] == 'x' ? 21U : 22U);
    EXPECT_EQ(end->progress.counts.failures, 2U);
    int refused = 0;
    for (const auto& [url, failure] : lab.failures) refused += lab.asked[url];
    EXPECT_GE(refused, 3);
    EXPECT_LE(refused, 6) << "two that were under way count once";
    int given_up = 0;
    EXPECT_TRUE(ReadLogLines(lab.disk, "run/crawl.log", [&](std::string_view line) {
      if (line.find(kGivenUpAnnotation) == std::string_view::npos) return;
      ++given_up;
      EXPECT_NE(line.find("https://a.org/"), std::string_view::npos) << line;
    }));
    EXPECT_GE(given_up, 2);
  }
}

TEST(Crawler, I1_RulesThatWereMovedToWhereNobodyAnswersForbidAll) {
  for (const char* target :
       {"https://a.org/robots.txt", "http://b.org/robots.txt", "http://a.org/rules"}) {
    Lab lab;
    lab.redirects = {{"http://a.org/robots.txt", target}};
    lab.pages = {{"http://a.org/", "a"}};
    const bool is_here = std::string_view(target).starts_with("http://a.org/");
    lab.failures = {{target, is_here ? net::FetchFailure::kLost : net::FetchFailure::kConnect}};
    const Result<CrawlEnd> end = lab.Crawl();
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
    EXPECT_EQ(lab.asked[target], 3) << target;
    EXPECT_FALSE(lab.asked.contains("http://a.org/")) << target;
  }
}

TEST(Crawler, I1_ExpiredRulesHoldWhereNewOnesCannotBeHad) {
  const std::string robots = "http://a.org/robots.txt";
  constexpr std::int64_t kTwoDays = 48LL * 3600 * 1000;
  const std::string broken = "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n";
  for (const bool answers : {true, false}) {
    Lab lab;
    lab.pages = {{"http://a.org/", "<a href=/1></a><a href=/secret></a>"}, {"http://a.org/1", "1"}};
    lab.before = {{robots, {9, broken}}};
    if (!answers) lab.failures = {{robots, net::FetchFailure::kTimeout}};
    {
      const std::unique_ptr<Frontier> frontier = *Frontier::Open(lab.table, {});
      RobotsCache cache(*frontier, "stele");
      const Timestamp then{lab.clock.Now().milliseconds - kTwoDays};
      cache.Keep("http://a.org", cache.Set("http://a.org", robots::Access::kParse,
                                           "User-agent: *\nDisallow: /secret", then));
      ASSERT_TRUE(frontier->Commit());
    }
    const Result<CrawlEnd> end = lab.Crawl();
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(lab.asked[robots], 1) << "later again";
    EXPECT_TRUE(lab.captured.contains("http://a.org/1")) << answers;
    EXPECT_FALSE(lab.asked.contains("http://a.org/secret"));
  }
}

TEST(Crawler, I1_APageThatTheRulesWereMovedToIsCapturedOnceWithItsLinks) {
  for (const char* home : {"http://a.org/home", "http://a.org/", "https://a.org/robots.txt"}) {
    Lab lab;
    lab.redirects = {{"http://a.org/robots.txt", home}};
    lab.pages = {{"http://a.org/", "<a href=/home></a><a href=https://a.org/s></a>"},
                 {"http://a.org/home", "<a href=/deep></a><img src=http://b.org/x.png>"},
                 {"http://a.org/deep", "deep"},
                 {"https://a.org/s", "s"},
                 {"http://b.org/x.png", "x"}};
    ASSERT_TRUE(lab.Crawl());
    EXPECT_EQ(lab.captured,
              (std::multiset<std::string>{"http://a.org/", "http://a.org/deep", "http://a.org/home",
                                          "http://a.org/robots.txt", "http://b.org/robots.txt",
                                          "http://b.org/x.png", "https://a.org/robots.txt",
                                          "https://a.org/s"}))
        << home;
  }
}

TEST(Crawler, I1_APageThatASitemapIsRedirectedToIsReadAsAPage) {
  Lab lab;
  lab.pages = {{"http://a.org/robots.txt", "Sitemap: /sitemap.xml"},
               {"http://a.org/", "a"},
               {"http://a.org/home", "<a href=/deep></a>"},
               {"http://a.org/deep", "deep"}};
  lab.redirects = {{"http://a.org/sitemap.xml", "/home"}};
  ASSERT_TRUE(lab.Crawl());
  EXPECT_TRUE(lab.captured.contains("http://a.org/deep"));
}

TEST(Crawler, I1_SitemapsOutsideTheScopeAreReadForWhatIsInIt) {
  const std::string map = "<urlset><url><loc>{}</loc></url><url><loc>{}</loc></url></urlset>";
  Lab lab;
  lab.settings.seeds = {"http://a.org/blog/"};
  lab.settings.reach = Reach::kPrefix;
  lab.pages = {{"http://a.org/robots.txt", "Sitemap: /sitemap.xml\nSitemap: http://maps.org/a.xml"},
               {"http://a.org/blog/", "<img src=http://cdn.org/x.png>"},
               {"http://a.org/sitemap.xml",
                fmt::format(fmt::runtime(map), "http://a.org/blog/1", "http://a.org/2")},
               {"http://maps.org/a.xml",
                fmt::format(fmt::runtime(map), "http://a.org/blog/3", "http://maps.org/4")},
               {"http://a.org/blog/1", "1"},
               {"http://a.org/blog/3", "3"},
               {"http://cdn.org/robots.txt", "Sitemap: /cdn.xml"},
               {"http://cdn.org/x.png", "x"},
               {"http://maps.org/robots.txt", "Sitemap: /all.xml"}};
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured,
            (std::multiset<std::string>{
                "http://a.org/blog/", "http://a.org/blog/1", "http://a.org/blog/3",
                "http://a.org/robots.txt", "http://a.org/sitemap.xml", "http://cdn.org/robots.txt",
                "http://cdn.org/x.png", "http://maps.org/a.xml", "http://maps.org/robots.txt"}));
}

TEST(Crawler, I1_ARobotsFileThatIsLinkedIsCapturedOnce) {
  Lab lab;
  lab.settings.reach = Reach::kAny;
  lab.pages = {{"http://a.org/", "<a href=http://b.org/robots.txt></a><a href=http://b.org/x></a>"},
               {"http://b.org/robots.txt", "User-agent: *"},
               {"http://b.org/x", "x"}};
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured,
            (std::multiset<std::string>{"http://a.org/", "http://a.org/robots.txt",
                                        "http://b.org/robots.txt", "http://b.org/x"}));
}

TEST(Crawler, I1_EachRobotsTagOfAPageCounts) {
  const auto follows = [](const std::string& tags) {
    Lab lab;
    lab.pages = {{"http://a.org/1", "1"}};
    lab.before = {{"http://a.org/",
                   {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + tags +
                    "Content-Length: 15\r\n\r\n<a href=/1></a>"}}};
    EXPECT_TRUE(lab.Crawl());
    const bool followed = lab.captured.contains("http://a.org/1");
    const std::string left_alone = *io::ReadFile(lab.disk, "run/scope.log");
    EXPECT_EQ(left_alone.find(" http://a.org/1 L http://a.org/ nofollow") != std::string::npos,
              !followed)
        << left_alone;
    return followed;
  };
  EXPECT_TRUE(follows(""));
  EXPECT_TRUE(follows("X-Robots-Tag: noarchive\r\nX-Robots-Tag: noindex\r\n"));
  EXPECT_FALSE(follows("X-Robots-Tag: noarchive\r\nX-Robots-Tag: nofollow\r\n"));
  EXPECT_FALSE(follows("X-Robots-Tag: otherbot: noindex\r\nX-Robots-Tag: nofollow\r\n"));
  EXPECT_TRUE(follows("X-Robots-Tag: noindex\r\nX-Robots-Tag: otherbot: nofollow\r\n"));
  EXPECT_FALSE(follows("X-Robots-Tag: otherbot: all\r\nX-Robots-Tag: stele: nofollow\r\n"));
}

TEST(Crawler, I1_NothingThatAPersonGaveIsInTheFrontier) {
  Lab lab;
  ASSERT_TRUE(lab.credentials.AddLogins("a.org basic me:hunter2\n", "logins"));
  lab.credentials.AddCookies("a.org\tFALSE\t/\tFALSE\t0\tsession\tswordfish\n", lab.clock.Now());
  lab.before = {{"http://a.org/",
                 {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: visit=seventh\r\n\r\n"
                  "<a href=/1></a><a href=/2></a><a href=/3></a>"}}};
  for (const char* page : {"1", "2", "3"}) lab.pages[fmt::format("http://a.org/{}", page)] = page;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(lab.Crawl(2));
  // What the server gave is there, as it must outlive an interruption.
  EXPECT_NE(lab.table.written.find("seventh"), std::string::npos);
  for (const char* secret : {"hunter2", "bWU6aHVudGVyMg", "swordfish"}) {
    EXPECT_EQ(lab.table.written.find(secret), std::string::npos) << secret;
  }
}

TEST(Crawler, I1_StringsOfAScriptAreGuessedRelativeToItsPageAndToTheScript) {
  Lab lab;
  lab.pages = {{"http://a.org/", "<script src=/static/app.js></script>"},
               {"http://a.org/img/1.png", "of the page"},
               {"http://a.org/static/img/2.png", "of the script"}};
  lab.before = {{"http://a.org/static/app.js",
                 {"HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\n\r\n"
                  "a = 'img/1.png'; b = 'img/2.png'"}}};
  EXPECT_TRUE(lab.Crawl());
  EXPECT_TRUE(lab.captured.contains("http://a.org/img/1.png"));
  EXPECT_TRUE(lab.captured.contains("http://a.org/static/img/2.png"));
}

// Servers without cookies begin a session so; all links of the site have its id then.
TEST(Crawler, I1_ARedirectToThePageItselfWithASessionIdIsFollowedOnce) {
  const std::string session = "http://a.org/(S(lit3py55t21z5v55vlm25s55))";
  const std::string other = "http://a.org/(S(00000000000000000000000b))";
  for (const bool begins_anew : {false, true}) {
    Lab lab;
    lab.settings.robots = RobotsPolicy::kIgnore;
    lab.pages = {{session + "/", "<a href=1.aspx></a><a href=/1.aspx></a><a href=/2.aspx></a>"},
                 {session + "/1.aspx", "1"},
                 {session + "/2.aspx", "2"}};
    lab.redirects = {{"http://a.org/", session + "/"},
                     {"http://a.org/2.aspx", session + "/2.aspx"}};
    if (begins_anew) lab.redirects[session + "/2.aspx"] = other + "/2.aspx";
    ASSERT_TRUE(lab.Crawl());
    EXPECT_EQ(lab.captured,
              (std::multiset<std::string>{"http://a.org/", session + "/", session + "/1.aspx",
                                          "http://a.org/2.aspx", session + "/2.aspx"}));
    const std::string log = *io::ReadFile(lab.disk, "run/crawl.log");
    EXPECT_EQ(log.find(kRedirectLost), std::string::npos) << log;
  }
}

TEST(Crawler, I1_WhereContentIsLocatedIsALink) {
  Lab lab;
  lab.pages = {{"http://a.org/", "<a href=/doc></a>"}, {"http://a.org/doc.en.html", "english"}};
  lab.before = {{"http://a.org/doc",
                 {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                  "Content-Location: doc.en.html\r\n\r\nenglish"}}};
  EXPECT_TRUE(lab.Crawl());
  EXPECT_TRUE(lab.captured.contains("http://a.org/doc.en.html"));
}

TEST(Crawler, I1_WhereASeedIsRedirectedToIsASeedAlsoIfItWasCapturedBefore) {
  for (const bool was_captured : {true, false}) {
    Lab lab;
    lab.settings.robots = RobotsPolicy::kIgnore;
    lab.settings.seeds = {"http://a.org/", "http://b.org/"};
    lab.redirects = {{"http://b.org/", "http://c.org/"}};
    // The host asks for patience while the other seed is captured with its frame.
    const std::string busy = "HTTP/1.1 429 Busy\r\nRetry-After: 1\r\n\r\n";
    if (was_captured) lab.before = {{"http://b.org/", {busy}}};
    lab.pages = {{"http://a.org/", "<iframe src=http://c.org/></iframe>"},
                 {"http://c.org/", "<a href=/2></a>"},
                 {"http://c.org/2", "2"}};
    ASSERT_TRUE(lab.Crawl());
    EXPECT_EQ(lab.captured, (std::multiset<std::string>{"http://a.org/", "http://b.org/",
                                                        "http://c.org/", "http://c.org/2"}));
    EXPECT_LE(lab.asked["http://c.org/"], 2);
  }
}

// It has been captured by then, and is no duplicate of itself.
TEST(Crawler, D2_LinksOfDuplicatesAreLeftAloneButNotThoseOfWhereASeedIsRedirectedTo) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.duplicates.match = Match::kAny;
  lab.settings.duplicates.before_links = true;
  lab.settings.seeds = {"http://a.org/", "http://b.org/"};
  lab.redirects = {{"http://b.org/", "http://c.org/"}};
  lab.before = {{"http://b.org/", {"HTTP/1.1 429 Busy\r\nRetry-After: 1\r\n\r\n"}}};
  // What the archive has is looked at once more when the second of equal ones comes.
  lab.pages = {{"http://a.org/", "<iframe src=http://c.org/></iframe><a href=/1></a>"},
               {"http://a.org/1", "<a href=/2></a>"},
               {"http://a.org/2", "<a href=/2></a>"},
               {"http://c.org/", "<a href=/2></a><p>"},
               {"http://c.org/2", "2"}};
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured,
            (std::multiset<std::string>{"http://a.org/", "http://a.org/1", "http://a.org/2",
                                        "http://b.org/", "http://c.org/", "http://c.org/2"}));
}

TEST(Crawler, I1_WhereASeedIsRedirectedToIsASeedAlsoWhileItIsBeingKept) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.seeds = {"http://a.org/", "http://b.org/"};
  lab.redirects = {{"http://b.org/", "http://c.org/"}};
  // The frame has come long before, and is written long after.
  lab.before = {{"http://b.org/", {"HTTP/1.1 429 Busy\r\nRetry-After: 1\r\n\r\n"}}};
  lab.writing.gather = std::chrono::milliseconds(2500);
  lab.pages = {{"http://a.org/", "<iframe src=http://c.org/></iframe>"},
               {"http://c.org/", "<a href=/2></a>"},
               {"http://c.org/2", "2"}};
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured, (std::multiset<std::string>{"http://a.org/", "http://b.org/",
                                                      "http://c.org/", "http://c.org/2"}));
}

TEST(Crawler, I1_OddStatusLinesAreKept) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.tries_max = 1;
  lab.pages = {{"http://a.org/", "<a href=/1></a><a href=/2></a><a href=/3></a>"}};
  lab.before = {{"http://a.org/1", {"HTTP/1.1\t200\r\nServer: x\r\n\r\none"}},
                {"http://a.org/2", {"HTTP/1.1\r\n\r\n"}},
                {"http://a.org/3", {"ICY 200 OK\r\n\r\nthree"}}};
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(lab.captured.size(), 4U);
}

TEST(Crawler, I1_WhatCannotBeWrittenCostsNothingElse) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "<a href=/1></a><a href=/2></a>"}, {"http://a.org/2", "2"}};
  // A head may be so long, and a row may not.
  const std::string type((std::size_t{1} << 20) - 100, 'x');
  lab.before = {{"http://a.org/1", {"HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\n\r\n1"}}};
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(lab.captured, (std::multiset<std::string>{"http://a.org/", "http://a.org/2"}));
  EXPECT_EQ(end->progress.counts.failures, 1U);
  const std::string log = *io::ReadFile(lab.disk, "run/crawl.log");
  EXPECT_NE(log.find(" -5 "), std::string::npos) << log;
}

TEST(Crawler, I1_AHostThatAlwaysAsksForPatienceIsGivenUp) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  constexpr int kPictures = 30;
  const std::vector<std::string> busy(20, "HTTP/1.1 503 Busy\r\n\r\n");
  std::string page;
  for (int i = 0; i < kPictures; ++i) {
    const std::string url = fmt::format("http://c.org/{}.png", i);
    page += fmt::format("<img src={}>", url);
    lab.before[url] = busy;
  }
  lab.pages = {{"http://a.org/", page}};
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  int asked = 0;
  for (const auto& [url, times] : lab.asked) asked += url.starts_with("http://c.org/") ? times : 0;
  EXPECT_LT(asked, kPictures);
  const std::string log = *io::ReadFile(lab.disk, "run/crawl.log");
  EXPECT_NE(log.find("asked for patience"), std::string::npos) << log;
  EXPECT_NE(log.find(kGivenUpAnnotation), std::string::npos) << log;
}

// A page that links so many others.
std::string LinksTo(int pages) {
  std::string page;
  for (int i = 0; i < pages; ++i) page += fmt::format("<a href=/{}></a>", i);
  return page;
}

constexpr std::string_view kBusy = "HTTP/1.1 429 Busy\r\nRetry-After: 0\r\n\r\n";

TEST(Crawler, I1_AnOverloadCostsNothingWhateverRetryAfterSays) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  constexpr int kPages = 12;
  lab.pages = {{"http://a.org/", LinksTo(kPages)}};
  lab.make = [](const std::string&) { return "fine"; };
  std::optional<Timestamp> until;
  lab.respond = [&](const std::string& url, std::size_t) {
    if (url == "http://a.org/") return std::string();
    if (!until) until = Timestamp{lab.clock.Now().milliseconds + 60};
    return lab.clock.Now() < *until ? std::string(kBusy) : std::string();
  };
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(lab.captured.size(), kPages + 1U);
  EXPECT_EQ(end->progress.counts.pages, kPages + 1U);
}

TEST(Crawler, I1_WhatIsTooMuchAtATimeIsNoPage) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.connections = 8;
  constexpr int kPages = 24;
  lab.pages = {{"http://a.org/", LinksTo(kPages)}};
  lab.make = [](const std::string&) { return "fine"; };
  lab.respond = [&](const std::string&, std::size_t others) {
    // Others may come meanwhile.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::string(others > 0 ? kBusy : "");
  };
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->progress.counts.pages, kPages + 1U);
}

TEST(Crawler, I1_HalfALineOfRulesThatAreTooLongForbidsNothing) {
  Lab lab;
  std::string rules = "User-agent: *\n";
  const std::string last = "Disallow: /";
  rules += '#' + std::string(robots::kSizeMax - rules.size() - last.size() - 2, '-') + '\n';
  rules += last;
  ASSERT_EQ(rules.size(), robots::kSizeMax);
  lab.pages = {{"http://a.org/robots.txt", rules + "only/this\n"}, {"http://a.org/", "page"}};
  ASSERT_TRUE(lab.Crawl());
  EXPECT_TRUE(lab.captured.contains("http://a.org/"));
}

TEST(Crawler, I1_ATryAfterAPauseAsksForAnAddressAnew) {
  EXPECT_LT(net::ResolverOptions().failure_ttl, PolitenessOptions().back_off_min);
}

TEST(Crawler, I1_WhatWasCutOffIsKeptAndAskedForOnceMore) {
  Lab lab;
  lab.pages = {{"http://a.org/", "<a href=/1></a><a href=/2></a>"},
               {"http://a.org/1", "1"},
               {"http://a.org/2", "2"}};
  lab.cut = {{"http://a.org/1", 1}, {"http://a.org/2", 9}};
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(lab.asked["http://a.org/1"], 2);
  EXPECT_EQ(lab.asked["http://a.org/2"], 2);
  EXPECT_EQ(lab.captured.count("http://a.org/1"), 2U);
  EXPECT_EQ(lab.captured.count("http://a.org/2"), 1U) << "no more came";
  EXPECT_EQ(end->progress.counts.pages, 3U);
  const std::string log = *io::ReadFile(lab.disk, "run/crawl.log");
  EXPECT_NE(log.find(" disconnectTrunc"), std::string::npos) << log;
  EXPECT_EQ(log.find("2t,disconnectTrunc"), std::string::npos) << "no more came: " << log;
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 5) << "as many lines as captures";
  EXPECT_EQ(end->progress.counts.files, 5U);
}

TEST(Crawler, I1_WhatWasCutOffLaterIsKeptTwice) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "more than before"}};
  lab.before = {{"http://a.org/", {"HTTP/1.1 200 OK\r\n\r\nmore"}}};
  lab.cut = {{"http://a.org/", 2}};
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured.count("http://a.org/"), 2U);
}

TEST(Crawler, I1_WhatWasCutOffStaysWhereNothingElseComes) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "<a href=/1></a>"}, {"http://a.org/1", "1"}};
  lab.cut = {{"http://a.org/", 1}};
  lab.at_first = [](Crawler&, FakeWeb& web) { web.FailLater("http://a.org/"); };
  ASSERT_TRUE(lab.Crawl());
  EXPECT_GE(lab.asked["http://a.org/"], 2);
  EXPECT_EQ(lab.captured, (std::multiset<std::string>{"http://a.org/", "http://a.org/1"}));
}

TEST(Crawler, I1_WhatWasCutOffBeforeAnInterruptionIsKeptOnceAndWhole) {
  for (const bool is_killed : {false, true}) {
    for (const int cuts : {0, 9}) {
      Lab lab;
      lab.settings.robots = RobotsPolicy::kIgnore;
      lab.pages = {{"http://a.org/", "a"}};
      lab.cut = {{"http://a.org/", 1}};
      ASSERT_TRUE(lab.Crawl(1));
      ASSERT_EQ(lab.captured.size(), 1U);
      // Before its first commit.
      if (is_killed) {
        ASSERT_TRUE(lab.table.Clear());
      }
      lab.cut = {{"http://a.org/", cuts}};
      ASSERT_TRUE(lab.Crawl());
      EXPECT_EQ(lab.captured.size(), cuts == 0 ? 2U : 1U) << is_killed;
    }
  }
}

TEST(Crawler, I1_AHostThatAsksForPatienceGetsItAlsoWhereItsAnswerIsCutOff) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "a"}};
  lab.before = {{"http://a.org/", {"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\n\r\nla"}}};
  lab.cut = {{"http://a.org/", 1}};
  const Timestamp begun = lab.clock.Now();
  ASSERT_TRUE(lab.Crawl());
  EXPECT_GE(lab.clock.Now().milliseconds - begun.milliseconds, 1000);
  EXPECT_EQ(lab.asked["http://a.org/"], 2);
  EXPECT_EQ(lab.captured.size(), 1U);
}

TEST(Crawler, I1_WhatAGatewayDidNotReachIsAskedForAgain) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "<a href=/down></a>"}};
  const std::string bad = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\nbad";
  lab.before = {{"http://a.org/", {bad}}, {"http://a.org/down", {bad, bad, bad, bad}}};
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(lab.asked["http://a.org/"], 2);
  // The last answer is kept.
  EXPECT_EQ(lab.asked["http://a.org/down"], 3);
  EXPECT_EQ(lab.captured, (std::multiset<std::string>{"http://a.org/", "http://a.org/down"}));
}

TEST(Crawler, I1_WhoAsksForPatienceCanBeReached) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.connections = 1;
  lab.pages = {{"http://a.org/", "<a href=/1></a><a href=/2></a>"},
               {"http://a.org/1", "1"},
               {"http://a.org/2", "2"}};
  const std::string busy = "HTTP/1.1 429 Busy\r\nRetry-After: 0\r\n\r\n";
  lab.before = {{"http://a.org/1", {busy, busy, "lost", "HTTP/1.1 200 OK\r\n\r\n1"}}};
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(lab.asked["http://a.org/1"], 4);
  EXPECT_EQ(lab.captured.size(), 3U);
  EXPECT_EQ(end->progress.counts.failures, 0U);
}

TEST(Crawler, I1_RulesThatWereCutOffAreNoRules) {
  Lab lab;
  lab.pages = {{"http://a.org/", "a"},
               {"http://a.org/secret", "b"},
               {"http://a.org/robots.txt", "User-agent: *\nDisallow: /secret"}};
  lab.settings.seeds = {"http://a.org/", "http://a.org/secret"};
  lab.before = {{"http://a.org/robots.txt", {"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDis"}}};
  for (const int cut : {1, 9}) {
    lab.cut = {{"http://a.org/robots.txt", cut}};
    lab.asked.clear();
    ASSERT_TRUE(lab.table.Clear());
    ASSERT_TRUE(lab.Crawl());
    EXPECT_FALSE(lab.asked.contains("http://a.org/secret"));
    EXPECT_EQ(lab.asked.contains("http://a.org/"), cut == 1) << "what may be fetched is not known";
    EXPECT_EQ(lab.asked["http://a.org/robots.txt"], cut == 1 ? 2 : 3);
  }
}

TEST(Crawler, I1_AnEmptyFrontierOfAnAllowingWebEndsAtOnce) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(lab.asked, (std::map<std::string, int>{{"http://a.org/", 1}}));
  EXPECT_EQ(end->progress.counts.files, 1U);
}

TEST(Crawler, I1_ItSleepsWhileMuchWaitsToBeKept) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.connections = 1;
  for (int i = 0; i < 10; ++i) lab.settings.seeds.push_back(fmt::format("http://a.org/{}", i));
  std::once_flag first;
  int turns = 0;
  lab.at_work = [&](FakeWeb& web) {
    std::call_once(first, [&] {
      while (web.asked().size() < 4) std::this_thread::yield();
      const int before = lab.clock.asked;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      turns = lab.clock.asked - before;
    });
  };
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured.size(), 11U);
  EXPECT_LT(turns, 200);
}

TEST(Crawler, I1_APausedCrawlAsksForNothingUntilItIsResumed) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "<a href=/1></a>"}, {"http://a.org/1", "one"}};
  lab.at_first = [&](Crawler& crawler, FakeWeb& web) {
    ASSERT_TRUE(crawler.Pause());
    lab.other = std::thread([&] {
      // What was under way is finished, and what it led to waits. Some turns later it does still.
      while (crawler.LongestQueues(10)->empty()) std::this_thread::yield();
      for (int i = 0; i < 20; ++i) EXPECT_EQ(crawler.LongestQueues(10)->front().waiting, 1U);
      EXPECT_EQ(web.asked(), (std::map<std::string, int>{{"http://a.org/", 1}}));
      EXPECT_TRUE(crawler.Resume());
    });
  };
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
  EXPECT_EQ(lab.captured.size(), 2U);
  EXPECT_NE(std::find(lab.states.begin(), lab.states.end(), CrawlState::kPaused), lab.states.end());
  EXPECT_EQ(lab.states.back(), CrawlState::kDone);
}

TEST(Crawler, I1_UrlsThatAreAddedAreFetchedWithinTheScopeOrAsSeeds) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", ""},
               {"http://a.org/hidden", "one"},
               {"http://b.org/", "<a href=/more></a>"},
               {"http://b.org/more", "two"}};
  lab.at_first = [](Crawler& crawler, FakeWeb&) {
    ASSERT_TRUE(crawler.Pause());
    const Result<AddedUrls> added = crawler.AddUrls(
        {{"a.org/hidden", "http://a.org/", "http://c.org/", "ftp://a.org/"}, false});
    ASSERT_TRUE(added) << added.error().text;
    EXPECT_EQ(added->added, 1U);
    EXPECT_EQ(added->known, 1U);
    ASSERT_EQ(added->refused.size(), 2U);
    EXPECT_EQ(added->refused[0].second, "outside");
    EXPECT_EQ(crawler.AddUrls({{"http://b.org/"}, true})->added, 1U);
    EXPECT_TRUE(crawler.Resume());
  };
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(lab.captured, (std::multiset<std::string>{"http://a.org/", "http://a.org/hidden",
                                                      "http://b.org/", "http://b.org/more"}));
}

TEST(Crawler, I1_AHostThatWasGivenUpForItsAddressIsFetchedWhenAPersonNamesIt) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.connections = 1;
  lab.settings.workers = 1;
  lab.inside = {"0.org"};
  lab.pages = {{"http://a.org/", "<img src=http://0.org/x.png><a href=/1></a>"},
               {"http://a.org/1", "1"},
               {"http://0.org/", "0"}};
  Crawler* running = nullptr;
  lab.at_first = [&](Crawler& crawler, FakeWeb&) { running = &crawler; };
  lab.at_work = [&](FakeWeb& web) {
    if (!web.asked().contains("http://0.org/x.png") || running == nullptr) return;
    EXPECT_EQ(std::exchange(running, nullptr)->AddUrls({{"http://0.org/"}, true})->added, 1U);
  };
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured,
            (std::multiset<std::string>{"http://0.org/", "http://a.org/", "http://a.org/1"}));
}

TEST(Crawler, I1_UrlsThatWereAddedOutliveAnInterruption) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "a"}, {"http://b.org/", "<a href=/more></a>"}};
  lab.at_first = [](Crawler& crawler, FakeWeb&) {
    ASSERT_TRUE(crawler.Pause());
    EXPECT_EQ(crawler.AddUrls({{"http://b.org/"}, true})->added, 1U);
    EXPECT_TRUE(crawler.End());
  };
  ASSERT_EQ(lab.Crawl()->why, CrawlEnd::Why::kStopped);
  EXPECT_EQ(lab.captured, (std::multiset<std::string>{"http://a.org/"}));
  lab.at_first = nullptr;
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  // Its host belongs to the crawl still.
  EXPECT_EQ(lab.captured,
            (std::multiset<std::string>{"http://a.org/", "http://b.org/", "http://b.org/more"}));
}

// There may be a million of them.
TEST(Crawler, I1_SeedsAreWrittenWhenTheyChangeAndNotEachTime) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "a"}, {"http://b.org/", "b"}};
  lab.at_first = [](Crawler& crawler, FakeWeb&) {
    ASSERT_TRUE(crawler.AddUrls({{"http://b.org/"}, true}));
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(crawler.AddUrls({{fmt::format("http://a.org/{}", i)}, false}));
    }
  };
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.table.seeds_written, 1);
}

TEST(Crawler, I2_PagesOfOtherNodesAreLeftToThemAndWhatTheySendIsTaken) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.reach = Reach::kAny;
  const auto owned_by = [](std::uint32_t node) {
    for (int i = 0;; ++i) {
      const std::string host = fmt::format("host{}.org", i);
      if (HostShare{1, 2}.OwnerOf(host) == node) return "http://" + host;
    }
  };
  const std::string mine = owned_by(1);
  const std::string others = owned_by(2);
  lab.settings.seeds = {mine};
  lab.settings.share = {1, 2};
  lab.pages = {{mine + "/", fmt::format("<a href={0}/1></a><img src={0}/x.png>", others)},
               {mine + "/sent", "nobody here links to it"},
               {others + "/x.png", "png"},
               {others + "/1", "one"}};
  lab.at_first = [&](Crawler& crawler, FakeWeb& web) {
    lab.other = std::thread([&] {
      // With nothing left to do it waits for what others send.
      while (web.asked().size() < 2) std::this_thread::yield();
      const Result<AddedUrls> added = crawler.AddUrls({{mine + "/sent", others + "/2"}, false});
      ASSERT_TRUE(added) << added.error().text;
      EXPECT_EQ(added->added, 1U);
      ASSERT_EQ(added->refused.size(), 1U);
      EXPECT_EQ(added->refused[0].second, "node 2");
      while (web.asked().size() < 3) std::this_thread::yield();
      EXPECT_TRUE(crawler.End());
    });
  };
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
  EXPECT_EQ(lab.captured,
            (std::multiset<std::string>{mine + "/", mine + "/sent", others + "/x.png"}));
  const Result<std::string> log = io::ReadFile(lab.disk, RunLog::ScopeLogPath("run"));
  ASSERT_TRUE(log);
  EXPECT_NE(log->find(fmt::format(" {}/1 L {}/ node 2\n", others, mine)), std::string::npos)
      << *log;
}

TEST(Crawler, I2_ANodeThatNothingWaitsForEndsWithItsTime) {
  Lab lab;
  lab.settings.share = {1, 1000};
  lab.settings.time_max = std::chrono::seconds(1);
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
  EXPECT_EQ(end->limit, "time");
}

}  // namespace
}  // namespace stele::crawl
