#include "crawl/crawl_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "crawl/run_log.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"

namespace stele::crawl {
namespace {

constexpr Timestamp kNow{1'700'000'000'000};

crawl_log::Line Line(const std::string& status, const std::string& url, const std::string& hops,
                     const std::string& via) {
  crawl_log::Line line;
  line.status = status;
  line.size = "100";
  line.uri = url;
  line.hops = hops;
  line.via = via;
  line.mime_type = "text/html";
  line.thread = "#000";
  line.source = "http://a.org/";
  return line;
}

Candidate Embed(const std::string& url) {
  return {url, "http://a.org/", "EEEE", "http://a.org/", false, 0};
}

std::unique_ptr<RunLog> Opened(io::FileSystem& fs, const RunLog::Sizes& sizes = {}) {
  Result<std::unique_ptr<RunLog>> log = RunLog::Open(fs, "run", sizes);
  EXPECT_TRUE(log) << log.error().text;
  return *std::move(log);
}

TEST(CrawlReport, I1_SeedsThatLeadNowhereOrWereLeftAreNamed) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("run"));
  const auto log = Opened(fs);
  log->Add(Line("302", "http://a.org/", "", ""), kNow);
  crawl_log::Line back = Line("302", "http://a.org/2", "R", "http://a.org/");
  back.annotations = "redirectLost:circle";
  log->Add(back, kNow);
  crawl_log::Line moved = Line("301", "http://b.org/", "", "");
  moved.source = moved.uri;
  log->Add(moved, kNow);
  log->AddRejected({"http://www.b.org/", "http://b.org/", "R", "http://b.org/", true}, "limit time",
                   kNow);
  log->AddRejected({"http://c.org/", "", "", "http://c.org/", true}, "host-limit", kNow);
  log->AddRejected({"http://d.org/", "", "", "http://d.org/", true}, "node 2", kNow);
  ASSERT_TRUE(log->Flush());
  const Result<CrawlReport> report = ReadCrawlReport(fs, "run");
  ASSERT_TRUE(report) << report.error().text;
  ASSERT_EQ(report->seeds.size(), 3U);
  for (const CrawlReport::Seed& seed : report->seeds) EXPECT_FALSE(seed.is_good()) << seed.url;
  EXPECT_EQ(report->seeds[0].problem, "it is redirected in a circle");
  EXPECT_EQ(report->seeds[1].problem, "the limit of time was reached");
  EXPECT_EQ(report->seeds[2].problem, "its host had as many URLs as it may");
}

TEST(CrawlReport, I1_AllSeedsThatLeadIntoACircleAreNamed) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("run"));
  const auto log = Opened(fs);
  const auto add = [&](const std::string& from, const std::string& to) {
    crawl_log::Line line = Line("302", from, "", "");
    line.source = from;
    line.extra = fmt::format("{{\"redirect\":\"{}\"}}", to);
    log->Add(line, kNow);
  };
  add("http://before.org/", "http://a.org/");
  add("http://a.org/", "http://b.org/");
  add("http://b.org/", "http://a.org/");
  add("http://fine.org/", "http://www.fine.org/");
  crawl_log::Line target = Line("200", "http://www.fine.org/", "R", "http://fine.org/");
  target.source = "http://fine.org/";
  log->Add(target, kNow);
  // It wanted its cookie back.
  add("http://cookie.org/", "http://cookie.org/");
  crawl_log::Line page = Line("200", "http://cookie.org/", "", "");
  page.source = page.uri;
  log->Add(page, kNow);
  ASSERT_TRUE(log->Flush());
  const Result<CrawlReport> report = ReadCrawlReport(fs, "run");
  ASSERT_TRUE(report) << report.error().text;
  ASSERT_EQ(report->seeds.size(), 5U);
  for (const CrawlReport::Seed& seed : report->seeds) {
    const bool is_lost =
        seed.url.find("fine") == std::string::npos && seed.url.find("cookie") == std::string::npos;
    EXPECT_EQ(seed.problem, is_lost ? "it is redirected in a circle" : "") << seed.url;
  }
}

TEST(CrawlReport, I1_TrapsAreNamedByTheirPlaces) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("run"));
  const auto log = Opened(fs);
  const auto reject = [&](const std::string& url, const std::string& reason) {
    log->AddRejected({url, "http://a.org/", "L", "http://a.org/", false}, reason, kNow);
  };
  reject("http://a.org/list?p=1", "trap identical-content: from here on");
  reject("http://a.org/list?p=2", "trap identical-content");
  reject("http://a.org/list?p=3", "trap identical-content");
  reject("http://a.org/x/1/2", "trap identical-pages: from here on");
  reject("http://a.org/shop?b=1&a=2", "trap endless-parameters");
  reject("http://a.org/shop?b=1&c=2", "trap endless-combinations");
  reject("http://a.org/2090/05/", "trap calendar");
  reject("http://b.org/", "outside");
  ASSERT_TRUE(log->Flush());
  const Result<CrawlReport> report = ReadCrawlReport(fs, "run");
  ASSERT_TRUE(report) << report.error().text;
  std::map<std::string, std::uint64_t> traps;
  for (const auto& [place, trap] : report->traps) {
    traps[place.first + " " + place.second] = trap.urls;
    EXPECT_FALSE(RemedyForTrap(place.first).empty());
  }
  EXPECT_EQ(traps,
            (std::map<std::string, std::uint64_t>{{"calendar http://a.org/", 1},
                                                  {"endless-combinations http://a.org/shop", 1},
                                                  {"endless-parameters http://a.org/shop?a&b", 1},
                                                  {"identical-content http://a.org/list", 2},
                                                  {"identical-pages http://a.org/x/", 0}}));
  EXPECT_EQ(report->trapped_urls, 5U);
}

TEST(CrawlReport, I1_AnswersOfServersWithoutTimeAreCounted) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("run"));
  const auto log = Opened(fs);
  for (const char* status : {"200", "429", "500", "503", "503"}) {
    log->Add(Line(status, fmt::format("http://a.org/{}", status), "L", "http://a.org/"), kNow);
  }
  ASSERT_TRUE(log->Flush());
  EXPECT_EQ(ReadCrawlReport(fs, "run")->CountBusy(), 3U);
}

TEST(CrawlReport, I1_LogsAreAddedUp) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("run"));
  const auto log = Opened(fs);
  log->Add(Line("301", "http://a.org/", "", ""), kNow);
  log->Add(Line("200", "http://www.a.org/", "R", "http://a.org/"), kNow);
  crawl_log::Line duplicate = Line("200", "http://b.net/x.png", "RE", "http://www.a.org/");
  duplicate.mime_type = "image/png";
  duplicate.annotations = "duplicate:digest";
  log->Add(duplicate, kNow);
  log->Add(Line("-9998", "http://b.net/y.png", "RE", "http://www.a.org/"), kNow);
  log->Add(Line("404", "http://www.a.org/z.css", "RE", "http://www.a.org/"), kNow);
  log->Add(Line("404", "http://www.a.org/gone", "RL", "http://www.a.org/"), kNow);
  log->Add(Line("-2", "http://c.net/", "RE", "http://www.a.org/"), kNow);
  log->AddRejected(Embed("http://d.net/w.png"), "embed-hops", kNow);
  log->AddRejected(Embed("http://d.net/w.png"), "embed-hops", kNow);
  log->AddRejected({"http://e.net/", "http://a.org/", "L", "", false, 0}, "outside", kNow);
  ASSERT_TRUE(log->Flush());

  const Result<CrawlReport> report = ReadCrawlReport(fs, "run");
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_EQ(report->all.urls, 5U);
  EXPECT_EQ(report->all.duplicate_urls, 1U);
  EXPECT_EQ(report->hosts.at("b.net").robots, 1U);
  EXPECT_EQ(report->hosts.at("c.net").failures, 1U);
  EXPECT_EQ(report->types.at("image/png").bytes, 100U);
  EXPECT_EQ(report->statuses.at(404), 2U);
  EXPECT_EQ(report->rejected.at("outside"), 1U);
  ASSERT_EQ(report->seeds.size(), 1U);
  EXPECT_EQ(report->seeds[0].redirect, "http://www.a.org/");
  EXPECT_TRUE(report->seeds[0].is_good());
  std::vector<std::string> missing;
  for (const MissingEmbed& one : report->missing) {
    missing.push_back(one.url);
    EXPECT_FALSE(one.reason.empty());
    EXPECT_FALSE(one.remedy.empty());
    EXPECT_FALSE(one.page.empty());
  }
  EXPECT_EQ(missing, (std::vector<std::string>{"http://b.net/y.png", "http://www.a.org/z.css",
                                               "http://c.net/", "http://d.net/w.png"}));
  ASSERT_TRUE(WriteReports(fs, "run", *report));
  EXPECT_NE(
      io::ReadFile(fs, "run/seeds-report.txt")->find("CRAWLED http://a.org/ http://www.a.org/"),
      std::string::npos);
  EXPECT_NE(io::ReadFile(fs, "run/report.json")->find("\"missing_count\": 4"), std::string::npos);
}

TEST(CrawlReport, I1_RulesThatCouldNotBeHadAreAReasonOfTheirOwn) {
  crawl_log::Line line = Line("-9998", "http://a.org/1", "E", "http://a.org/");
  EXPECT_EQ(MissingOf(line)->reason, "robots.txt forbids it");
  line.extra = R"({"error":"its robots.txt could not be had: the server answered 503"})";
  EXPECT_EQ(MissingOf(line)->reason, "its robots.txt could not be had: the server answered 503");
  EXPECT_EQ(MissingOf(line)->why, MissingEmbed::Why::kRobots);
  EXPECT_EQ(MissingOf(line)->remedy, "stele crawl --patch, later");
}

TEST(CrawlReport, I1_EveryReasonForAMissingEmbedIsToldApart) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("run"));
  const auto log = Opened(fs);
  log->Add(Line("-9998", "http://a.org/1", "E", "http://a.org/"), kNow);
  log->Add(Line("503", "http://a.org/2", "LER", "http://a.org/"), kNow);
  crawl_log::Line cut = Line("200", "http://a.org/3", "E", "http://a.org/");
  cut.annotations = "2t,lenTrunc";
  log->Add(cut, kNow);
  log->AddRejected(Embed("http://a.org/4"), "limit bytes", kNow);
  log->AddRejected(Embed("http://a.org/5"), "host-limit", kNow);
  log->AddRejected(Embed("http://a.org/6"), "rule -host:a.org", kNow);
  log->AddRejected(Embed("http://a.org/7"), "trap calendar", kNow);
  log->AddRejected(Embed("http://a.org/1"), "embed-hops", kNow);
  log->Add(Line("200", "http://a.org/8", "E", "http://a.org/"), kNow);
  cut = Line("200", "http://a.org/9", "E", "http://a.org/");
  cut.annotations = "disconnectTrunc";
  log->Add(cut, kNow);
  // Scripts have words that look like URLs. What is there and refused may be one.
  log->Add(Line("404", "http://a.org/guess", "EX", "http://a.org/a.js"), kNow);
  log->Add(Line("403", "http://a.org/refused", "EX", "http://a.org/a.js"), kNow);
  ASSERT_TRUE(log->Flush());
  using Why = MissingEmbed::Why;
  std::vector<std::pair<std::string, Why>> missing;
  ASSERT_TRUE(VisitMissing(fs, "run", [&](const MissingEmbed& one) {
    missing.emplace_back(one.url, one.why);
    return Status();
  }));
  EXPECT_EQ(missing,
            (std::vector<std::pair<std::string, Why>>{{"http://a.org/1", Why::kRobots},
                                                      {"http://a.org/3", Why::kLimit},
                                                      {"http://a.org/9", Why::kError},
                                                      {"http://a.org/refused", Why::kError},
                                                      {"http://a.org/2", Why::kError},
                                                      {"http://a.org/4", Why::kLimit},
                                                      {"http://a.org/5", Why::kLimit},
                                                      {"http://a.org/6", Why::kScope},
                                                      {"http://a.org/7", Why::kScope}}));
  int seen = 0;
  const Status stopped = VisitMissing(fs, "run", [&](const MissingEmbed&) -> Status {
    ++seen;
    return Error{ErrorCode::kFull, "enough"};
  });
  EXPECT_EQ(stopped.error().code, ErrorCode::kFull);
  EXPECT_EQ(seen, 1);
}

TEST(CrawlReport, I1_NamesWhatAPageNeedsAlsoWhereItWasLinkedBefore) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("run"));
  const auto log = Opened(fs);
  log->Add(Line("404", "http://a.org/1.png", "L", "http://a.org/"), kNow);
  log->Add(Line("200", "http://a.org/2.png", "L", "http://a.org/"), kNow);
  log->Add(Line("404", "http://a.org/page", "L", "http://a.org/"), kNow);
  log->AddRejected({"http://a.org/3.png", "http://a.org/", "L", "", false, 0}, "limit pages", kNow);
  for (const char* name : {"1", "2", "3", "1"}) {
    const std::string url = fmt::format("http://a.org/{}.png", name);
    log->AddEmbed({url, "http://a.org/page2", "LE", "", false, 0}, kNow);
  }
  ASSERT_TRUE(log->Flush());
  const Result<CrawlReport> report = ReadCrawlReport(fs, "run");
  ASSERT_TRUE(report) << report.error().text;
  ASSERT_EQ(report->missing.size(), 2U);
  EXPECT_EQ(report->missing[0].url, "http://a.org/1.png");
  EXPECT_EQ(report->missing[0].page, "http://a.org/page2");
  EXPECT_EQ(report->missing[0].reason, "the server answered 404");
  EXPECT_EQ(report->missing[1].url, "http://a.org/3.png");
  EXPECT_EQ(report->missing[1].why, MissingEmbed::Why::kLimit);
}

crawl_log::Line Redirect(const std::string& from, const std::string& to, const std::string& hops,
                         const std::string& via) {
  crawl_log::Line line = Line("302", "http://a.org/" + from, hops, "http://a.org/" + via);
  line.extra = fmt::format(R"({{"redirect":"http://a.org/{}"}})", to);
  return line;
}

TEST(CrawlReport, I1_WhatStandsBehindRedirectsIsNamedWithThePageThatNeedsIt) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("run"));
  const auto log = Opened(fs);
  const auto add_known = [&](const std::string& url, const std::string& via,
                             const std::string& hops) {
    log->AddEmbed({"http://a.org/" + url, "http://a.org/" + via, hops, "", false, 0}, kNow);
  };
  // The line of a redirect may come after that of its target.
  log->Add(Line("404", "http://a.org/gone", "LERR", "http://a.org/r2"), kNow);
  log->Add(Redirect("r2", "gone", "LER", "r1"), kNow);
  log->Add(Redirect("r1", "r2", "LE", "page"), kNow);
  // To what a page links.
  log->Add(Line("500", "http://a.org/linked", "L", "http://a.org/"), kNow);
  log->Add(Redirect("r3", "linked", "LE", "page"), kNow);
  add_known("linked", "r3", "LER");
  // The redirect itself is linked, and leads where only pages' needs may.
  log->Add(Redirect("r4", "outside", "L", ""), kNow);
  log->AddRejected({"http://a.org/outside", "http://a.org/r4", "LR", "", false, 0}, "outside",
                   kNow);
  add_known("r4", "page", "LE");
  // In circles; one ends when it is asked for once more.
  log->Add(Redirect("c1", "c2", "LE", "page"), kNow);
  log->Add(Redirect("c2", "c1", "LER", "c1"), kNow);
  add_known("c1", "c2", "LERR");
  log->Add(Redirect("once", "once", "LE", "page"), kNow);
  log->Add(Line("200", "http://a.org/once", "LE", "http://a.org/page"), kNow);
  add_known("once", "once", "LER");
  ASSERT_TRUE(log->Flush());
  const Result<CrawlReport> report = ReadCrawlReport(fs, "run");
  ASSERT_TRUE(report) << report.error().text;
  std::vector<std::pair<std::string, std::string>> missing;
  for (const MissingEmbed& one : report->missing) {
    missing.emplace_back(one.url, one.reason);
    EXPECT_EQ(one.page, "http://a.org/page") << one.url;
    EXPECT_EQ(one.in_circle, one.url == "http://a.org/c1");
  }
  EXPECT_EQ(missing, (std::vector<std::pair<std::string, std::string>>{
                         {"http://a.org/gone", "the server answered 404"},
                         {"http://a.org/linked", "the server answered 500"},
                         {"http://a.org/outside", "it is outside of the crawl (outside)"},
                         {"http://a.org/c1", "it is redirected in a circle"}}));
}

TEST(RunLog, I1_AnInterruptionRepeatsNoLineAboutWhatWasLeftAlone) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("run"));
  RunLog::Sizes sizes;
  for (int i = 0; i < 2; ++i) {
    const auto log = Opened(fs, sizes);
    log->AddRejected({"http://e.net/", "http://a.org/", "L", "", false, 0}, "outside", kNow);
    log->AddEmbed({"http://a.org/1.png", "http://a.org/", "E", "", false, 0}, kNow);
    EXPECT_TRUE(log->HasEmbed("http://a.org/1.png"));
    ASSERT_TRUE(log->Flush());
    if (i == 1) {
      EXPECT_EQ(log->sizes().scope, sizes.scope);
      EXPECT_EQ(log->sizes().embeds, sizes.embeds);
    }
    sizes = log->sizes();
  }
}

TEST(RunLog, I1_WhatWasNotAcknowledgedIsCutOff) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("run"));
  RunLog::Sizes sizes;
  {
    const auto log = Opened(fs);
    log->Add(Line("200", "http://a.org/1", "", ""), kNow);
    ASSERT_TRUE(log->Flush());
    sizes = log->sizes();
    log->Add(Line("200", "http://a.org/2", "", ""), kNow);
    ASSERT_TRUE(log->Flush());
  }
  {
    const auto log = Opened(fs, sizes);
    log->Add(Line("200", "http://a.org/3", "", ""), kNow);
    ASSERT_TRUE(log->Flush());
  }
  const std::string text = *io::ReadFile(fs, RunLog::CrawlLogPath("run"));
  EXPECT_NE(text.find("http://a.org/1 "), std::string::npos);
  EXPECT_EQ(text.find("http://a.org/2 "), std::string::npos);
  EXPECT_NE(text.find("http://a.org/3 "), std::string::npos);
  // A file that lost more than that is gone on with as it is.
  EXPECT_TRUE(RunLog::Open(fs, "run", {.crawl = 1'000'000, .scope = 5}));
}

TEST(RunLog, I1_EveryFailureOfTheDiskIsTold) {
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    ASSERT_TRUE(disk.MakeDirectory("run"));
    io::FaultFileSystem fs(disk, fail_at);
    Result<std::unique_ptr<RunLog>> log = RunLog::Open(fs, "run", {});
    if (!log) continue;
    (*log)->Add(Line("200", "http://a.org/", "", ""), kNow);
    (*log)->AddRejected(Embed("http://d.net/w.png"), "outside", kNow);
    if ((*log)->Flush()) break;
  }
}

}  // namespace
}  // namespace stele::crawl
