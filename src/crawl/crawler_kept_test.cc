// What was captured at the last moment before a kill, and what the log says of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "archive/revisit_resolver.h"
#include "crawl/crawl_report.h"
#include "crawl/crawl_test_lab.h"

namespace stele::crawl {
namespace {

using testing::Lab;

// The lines of crawl.log by URL, in order.
std::map<std::string, std::vector<crawl_log::Line>> LinesOf(Lab& lab) {
  std::map<std::string, std::vector<crawl_log::Line>> lines;
  EXPECT_TRUE(ReadLogLines(lab.disk, "run/crawl.log", [&](std::string_view text) {
    const Result<crawl_log::Line> line = crawl_log::ParseLine(text);
    ASSERT_TRUE(line) << text;
    lines[line->uri].push_back(*line);
  }));
  return lines;
}

// As one that was killed before its first commit.
void Kill(Lab& lab) { ASSERT_TRUE(lab.table.Clear()); }

TEST(CrawlerKept, I1_WhatWasCapturedBeforeAKillIsNotFailedWhereNobodyAnswersThen) {
  for (const net::FetchFailure failure :
       {net::FetchFailure::kTimeout, net::FetchFailure::kConnect, net::FetchFailure::kNoAddress}) {
    Lab lab;
    lab.settings.robots = RobotsPolicy::kIgnore;
    lab.settings.seeds = {"http://a.org/", "http://b.org/"};
    lab.pages = {{"http://a.org/", "<a href=/1></a><a href=/2></a>"},
                 {"http://b.org/", "b <a href=/3></a>"},
                 {"http://a.org/1", "1"},
                 {"http://a.org/2", "2"},
                 {"http://b.org/3", "3"}};
    ASSERT_TRUE(lab.Crawl());
    const auto whole = LinesOf(lab);
    ASSERT_EQ(whole.size(), 5U);
    Kill(lab);
    for (const auto& [url, body] : lab.pages) {
      if (url.starts_with("http://b.org/")) lab.failures[url] = failure;
    }
    const Result<CrawlEnd> end = lab.Crawl();
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
    EXPECT_EQ(lab.captured.size(), 5U);
    EXPECT_EQ(end->progress.counts.failures, 0U);
    EXPECT_EQ(end->progress.counts.files, 5U);
    EXPECT_EQ(end->progress.counts.pages, 5U);
    const auto lines = LinesOf(lab);
    ASSERT_EQ(lines.size(), 5U);
    for (const auto& [url, of_url] : lines) {
      ASSERT_EQ(of_url.size(), 1U) << url;
      const crawl_log::Line& line = of_url[0];
      const crawl_log::Line& then = whole.at(url)[0];
      EXPECT_EQ(line.status, then.status) << url;
      EXPECT_EQ(line.size, then.size) << url;
      EXPECT_EQ(line.digest, then.digest) << url;
      EXPECT_EQ(line.mime_type, then.mime_type) << url;
      EXPECT_EQ(line.hops, then.hops) << url;
      EXPECT_EQ(line.via, then.via) << url;
      EXPECT_EQ(line.extra, then.extra) << url;
      EXPECT_EQ(line.FetchBegin()->milliseconds, lab.begun[url].milliseconds) << url;
    }
    const Result<CrawlReport> report = ReadCrawlReport(lab.disk, "run");
    ASSERT_TRUE(report);
    EXPECT_EQ(report->failed_count, 0U);
    EXPECT_TRUE(report->given_up.empty());
  }
}

TEST(CrawlerKept, I1_TheLogSaysAfterAKillWhichCertificatesWereWrong) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.seeds = {"https://a.org/"};
  lab.pages = {{"https://a.org/", "<a href=/1></a><a href=http://a.org/2></a>"},
               {"https://a.org/1", "1"},
               {"http://a.org/2", "2"}};
  lab.distrust = "self-signed certificate";
  ASSERT_TRUE(lab.Crawl());
  const auto whole = LinesOf(lab);
  ASSERT_EQ(whole.size(), 3U);
  Kill(lab);
  lab.asked.clear();
  ASSERT_TRUE(lab.Crawl());
  EXPECT_TRUE(lab.asked.empty());
  const auto lines = LinesOf(lab);
  for (const auto& [url, of_url] : whole) {
    ASSERT_EQ(lines.at(url).size(), 1U);
    EXPECT_EQ(lines.at(url)[0].annotations, of_url[0].annotations) << url;
    EXPECT_EQ(lines.at(url)[0].extra, of_url[0].extra) << url;
    EXPECT_EQ(of_url[0].annotations == "invalidCertificate", url.starts_with("https:")) << url;
  }
}

TEST(CrawlerKept, I1_WhatRobotsForbidAfterAKillWasCapturedNevertheless) {
  Lab lab;
  lab.pages = {{"http://a.org/", "<a href=/1></a>"}, {"http://a.org/1", "1"}};
  ASSERT_TRUE(lab.Crawl());
  Kill(lab);
  lab.failures = {{"http://a.org/robots.txt", net::FetchFailure::kTimeout}};
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(lab.captured.size(), 3U);
  EXPECT_EQ(end->progress.counts.failures, 0U);
  const auto lines = LinesOf(lab);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines.at("http://a.org/robots.txt")[0].status, "404");
  EXPECT_EQ(lines.at("http://a.org/1")[0].status, "200");
}

TEST(CrawlerKept, I1_WhatWasCapturedBeforeAKillIsNotAskedForAgain) {
  Lab lab;
  lab.pages = {{"http://a.org/", "<a href=/1></a><a href=/old></a>"},
               {"http://a.org/1", "1"},
               {"http://a.org/new", "2"}};
  lab.redirects = {{"http://a.org/old", "http://a.org/new"}};
  ASSERT_TRUE(lab.Crawl());
  Kill(lab);
  lab.asked.clear();
  ASSERT_TRUE(lab.Crawl());
  // Rules are those of now.
  EXPECT_EQ(lab.asked, (std::map<std::string, int>{{"http://a.org/robots.txt", 1}}));
  EXPECT_EQ(lab.captured.size(), 5U);
}

// Servers say the same in the body of each redirect, wherever it leads.
TEST(CrawlerKept, I1_ARedirectThatIsARevisitLeadsAfterAKillWhereItDidBefore) {
  const auto moved = [](const std::string& to) {
    return "HTTP/1.1 301 Moved\r\nLocation: " + to + "\r\nContent-Length: 5\r\n\r\nmoved";
  };
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/old", "old"}, {"http://a.org/new", "<a href=/1></a>"}};
  lab.before = {{"http://a.org/", {moved("/old")}}};
  ASSERT_TRUE(lab.Crawl());
  Kill(lab);
  lab.run = 0;
  lab.before = {{"http://a.org/", {moved("/new")}}};
  ASSERT_TRUE(lab.Crawl());
  const auto whole = LinesOf(lab);
  ASSERT_EQ(whole.size(), 3U);
  ASSERT_EQ(whole.at("http://a.org/")[0].annotations, "duplicate:digest");
  Kill(lab);
  ASSERT_TRUE(lab.Crawl());
  const auto lines = LinesOf(lab);
  EXPECT_EQ(lines.size(), whole.size());
  for (const auto& [url, of_url] : whole) {
    ASSERT_TRUE(lines.contains(url)) << url;
    EXPECT_EQ(lines.at(url)[0].extra, of_url[0].extra) << url;
  }
}

TEST(CrawlerKept, I1_ARedirectThatBeganASessionIsToldAfterAKillAndSoIsThePage) {
  const std::string session = "http://a.org/(S(lit3py55t21z5v55vlm25s55))/";
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.redirects = {{"http://a.org/", session}};
  lab.pages = {{session, "<a href=1></a>"}, {session + "1", "1"}};
  ASSERT_TRUE(lab.Crawl());
  const auto whole = LinesOf(lab);
  Kill(lab);
  lab.asked.clear();
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.asked, (std::map<std::string, int>()));
  const auto lines = LinesOf(lab);
  EXPECT_EQ(lines.size(), 3U);
  for (const auto& [url, of_url] : whole) {
    ASSERT_TRUE(lines.contains(url) && lines.at(url).size() == 1) << url;
    EXPECT_EQ(lines.at(url)[0].extra, of_url[0].extra) << url;
  }
}

// Has whatever came from one URL.
class OnePage final : public dedup::OriginalSource {
 public:
  explicit OnePage(std::string url) : url_(std::move(url)) {}
  bool MayHave(const dedup::PayloadDigest&) const override { return true; }
  Documents ByUrl(std::string_view url) override { return NewestWith(url, {}, false); }
  Documents NewestByUrl(std::string_view url) override { return NewestWith(url, {}, false); }
  Documents NewestWith(std::string_view url, const dedup::PayloadDigest& digest, bool) override {
    std::vector<dedup::KnownDocument> documents(url == url_ ? 1 : 0);
    for (dedup::KnownDocument& document : documents) {
      document.url = url_;
      document.digest = digest;
    }
    return documents;
  }
  Documents ByEquivalentUrl(std::string_view, const dedup::PayloadDigest&) override {
    return std::vector<dedup::KnownDocument>();
  }
  Documents ByDigest(const dedup::PayloadDigest&) override {
    return std::vector<dedup::KnownDocument>();
  }
  Status TakeHeaders(dedup::KnownDocument&) override { return {}; }
  Status Complete(dedup::KnownDocument&) override { return {}; }

 private:
  const std::string url_;
};

TEST(CrawlerKept, D6_WhatRepeatsSomethingElsewhereLeadsOnAfterAKill) {
  OnePage elsewhere("http://a.org/");
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "<a href=/1></a>"}, {"http://a.org/1", "1"}};
  lab.foreign = &elsewhere;
  ASSERT_TRUE(lab.Crawl(1));
  const auto whole = LinesOf(lab);
  ASSERT_EQ(whole.at("http://a.org/")[0].annotations, "duplicate:digest");
  Kill(lab);
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured, (std::multiset<std::string>{"http://a.org/", "http://a.org/1"}));
  EXPECT_EQ(LinesOf(lab).at("http://a.org/")[0].extra, whole.at("http://a.org/")[0].extra);
}

TEST(CrawlerKept, D6_ARedirectThatRepeatsSomethingElsewhereLeadsOnWhereNobodyAnswersAfterAKill) {
  OnePage elsewhere("http://a.org/");
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/1", "1"}};
  lab.before = {
      {"http://a.org/", {"HTTP/1.1 301 Moved\r\nLocation: /1\r\nContent-Length: 5\r\n\r\nmoved"}}};
  lab.foreign = &elsewhere;
  ASSERT_TRUE(lab.Crawl(1));
  ASSERT_EQ(LinesOf(lab).at("http://a.org/")[0].annotations, "duplicate:digest");
  Kill(lab);
  lab.failures = {{"http://a.org/", net::FetchFailure::kUnfetchable}};
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured, (std::multiset<std::string>{"http://a.org/", "http://a.org/1"}));
  EXPECT_EQ(LinesOf(lab).at("http://a.org/")[0].status, "301");
}

// The archive, the logs and the frontier lose what was not synced, all at once.
TEST(CrawlerKept, I1_APowerCutAtAnyAnswerLosesNoUrlAndRepeatsNone) {
  constexpr int kPages = 30;
  std::map<std::string, std::string> pages;
  for (int i = 0; i < kPages; ++i) {
    pages[fmt::format("http://a.org/{}", i)] = fmt::format(
        "<a href=/{}></a><a href=/{}></a> page {}", (i * 2 + 1) % kPages, (i * 2 + 2) % kPages, i);
  }
  for (int answers = 1; answers <= kPages; ++answers) {
    Lab lab;
    lab.settings.seeds = {"http://a.org/0"};
    lab.pages = pages;
    lab.keeps_logs = true;
    for (lab.dark_after = answers; lab.dark_after > 0; lab.dark_after -= 7) {
      static_cast<void>(lab.Crawl());
    }
    lab.dark_after = 0;
    const Result<CrawlEnd> end = lab.Crawl();
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(end->why, CrawlEnd::Why::kDone);
    std::multiset<std::string> expected = {"http://a.org/robots.txt"};
    for (const auto& [url, body] : pages) expected.insert(url);
    EXPECT_EQ(lab.captured, expected) << answers;
    const auto lines = LinesOf(lab);
    EXPECT_EQ(lines.size(), expected.size()) << answers;
    for (const auto& [url, of_url] : lines) {
      EXPECT_EQ(of_url.size(), 1U) << url;
      EXPECT_EQ(of_url[0].FetchBegin()->milliseconds, lab.begun[url].milliseconds) << url;
    }
  }
}

// How many captures the archive has of each payload, by its SHA-1. All revisits have an original.
std::map<std::string, int> WholeOf(Lab& lab) {
  std::map<std::string, int> whole;
  auto archive = archive::ArchiveWriter::Open({lab.disk, lab.clock, lab.random, "test"}, "archive");
  EXPECT_TRUE(archive);
  const archive::ArchiveView view = (*archive)->View();
  catalog::CaptureScan scan = view.catalog().Scan({});
  for (;;) {
    const Result<const catalog::Capture*> row = scan.Next();
    EXPECT_TRUE(row);
    if (!row || *row == nullptr) return whole;
    if (!catalog::IsRevisit(**row)) {
      ++whole[std::string((*row)->sha1->data(), (*row)->sha1->size())];
      continue;
    }
    const Result<catalog::HeldCapture> held = view.catalog().Get((*row)->id);
    const Result<catalog::HeldCapture> original =
        held ? archive::RevisitResolver(view).Resolve(*held) : held;
    EXPECT_TRUE(original && original->row.sha1 == held->row.sha1) << (*row)->url;
  }
}

constexpr int kEqualPages = 24;

// A page with links to others, of which many have the same payload, and half another month. Some
// are behind redirects that say the same.
void AddEqualPages(Lab& lab, bool months) {
  constexpr std::int64_t kDay = 86'400'000;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.settings.connections = 8;
  lab.settings.workers = 4;
  lab.settings.duplicates.match = Match::kAny;
  std::string links;
  for (int i = 0; i < kEqualPages; ++i) {
    const std::string url = fmt::format("http://a.org/{}", i);
    lab.pages[url] = fmt::format("page {}", i % 3);
    links += fmt::format("<a href={}></a>", i % 4 == 0 ? url + "/old" : url);
    if (months) lab.times[url] = {lab.clock.Now().milliseconds + (1 + i % 2 * 31) * kDay};
  }
  lab.pages["http://a.org/"] = links;
  lab.respond = [](const std::string& url, std::size_t) -> std::string {
    if (!url.ends_with("/old")) return "";
    return fmt::format("HTTP/1.1 301 Moved\r\nLocation: {}\r\nContent-Length: 5\r\n\r\nmoved",
                       url.substr(0, url.rfind('/')));
  };
}

void CheckEqualPages(Lab& lab) {
  std::multiset<std::string> expected;
  for (const auto& [url, body] : lab.pages) expected.insert(url);
  for (int i = 0; i < kEqualPages; i += 4) expected.insert(fmt::format("http://a.org/{}/old", i));
  EXPECT_EQ(lab.captured, expected);
  const auto whole = WholeOf(lab);
  EXPECT_EQ(whole.size(), 5U);
  for (const auto& [sha1, count] : whole) EXPECT_EQ(count, 1);
  EXPECT_EQ(LinesOf(lab).size(), expected.size());
}

TEST(CrawlerKept, D6_APowerCutAtAnyAnswerLeavesEachPayloadOnceAndNoRevisitWithoutIt) {
  for (int answers = 1; answers <= kEqualPages; ++answers) {
    SCOPED_TRACE(answers);
    Lab lab;
    AddEqualPages(lab, answers % 2 == 1);
    lab.keeps_logs = true;
    // With a container for each capture, any of them may be lost.
    if (answers % 3 == 0) lab.writing.container_bytes = 1;
    for (lab.dark_after = answers; lab.dark_after > 0; lab.dark_after -= 7) {
      static_cast<void>(lab.Crawl());
      WholeOf(lab);
    }
    lab.dark_after = 0;
    ASSERT_TRUE(lab.Crawl());
    CheckEqualPages(lab);
  }
}

TEST(CrawlerKept, D6_AFullDiskAtAnyAnswerKeepsNobodyWaitingForAPayload) {
  for (int answers = 1; answers <= kEqualPages; ++answers) {
    SCOPED_TRACE(answers);
    Lab lab;
    AddEqualPages(lab, answers % 2 == 1);
    lab.keeps_logs = true;
    lab.full_after = answers;
    EXPECT_FALSE(lab.Crawl());
    lab.full_after = 0;
    lab.disk.SetFreeBytes(std::uint64_t{1} << 40);
    WholeOf(lab);
    ASSERT_TRUE(lab.Crawl(1 + answers / 2));
    ASSERT_TRUE(lab.Crawl());
    CheckEqualPages(lab);
  }
}

TEST(CrawlerKept, I1_ADamagedCopyAfterAKillIsCapturedOnceMore) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "<a href=/1></a>"}, {"http://a.org/1", "1"}};
  ASSERT_TRUE(lab.Crawl());
  Kill(lab);
  const std::string folder = "archive/volumes/main/00000001";
  const std::vector<std::string> names = *lab.disk.List(folder);
  for (const std::string& name : names) {
    const std::string path = folder + '/' + name;
    const std::string bytes = *io::ReadFile(lab.disk, path);
    ASSERT_TRUE(io::ReplaceFile(lab.disk, path, std::string(bytes.size(), 'x')));
  }
  lab.asked.clear();
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->progress.counts.pages, 2U);
  EXPECT_EQ(lab.asked, (std::map<std::string, int>{{"http://a.org/", 1}, {"http://a.org/1", 1}}));
}

TEST(CrawlerKept, I1_AnErrorOfTheServerAfterAKillIsNotWhatWasCaptured) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", ""}};
  ASSERT_TRUE(lab.Crawl());
  Kill(lab);
  lab.before = {{"http://a.org/", {"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"}}};
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(LinesOf(lab).at("http://a.org/")[0].status, "200");
}

TEST(CrawlerKept, I1_WhatWasCutOffBeforeAKillHasALineAndSoHasTheWhole) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "the whole page"}};
  lab.before = {{"http://a.org/", {"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\nthe"}}};
  lab.cut = {{"http://a.org/", 1}};
  ASSERT_TRUE(lab.Crawl(1));
  ASSERT_EQ(lab.captured.size(), 1U);
  Kill(lab);
  lab.before.clear();
  lab.cut.clear();
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(lab.captured.size(), 2U);
  EXPECT_EQ(end->progress.counts.files, 2U);
  EXPECT_EQ(end->progress.counts.pages, 1U);
  std::map<std::string, std::string> sizes;
  const auto lines = LinesOf(lab);
  for (const crawl_log::Line& line : lines.at("http://a.org/")) {
    sizes[line.annotations] = line.size;
  }
  EXPECT_EQ(sizes, (std::map<std::string, std::string>{{"", "14"}, {"disconnectTrunc", "3"}}));
  // Killed once more before it finished either.
  Kill(lab);
  ASSERT_TRUE(lab.Crawl());
  EXPECT_EQ(lab.captured.size(), 2U);
  EXPECT_EQ(LinesOf(lab).at("http://a.org/").size(), 2U);
}

TEST(CrawlerKept, I1_WhatWasCutOffBeforeAKillIsNotFailedWhereNothingElseComes) {
  Lab lab;
  lab.settings.robots = RobotsPolicy::kIgnore;
  lab.pages = {{"http://a.org/", "a"}};
  lab.cut = {{"http://a.org/", 1}};
  ASSERT_TRUE(lab.Crawl(1));
  Kill(lab);
  lab.failures = {{"http://a.org/", net::FetchFailure::kTimeout}};
  const Result<CrawlEnd> end = lab.Crawl();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_EQ(end->progress.counts.failures, 0U);
  const auto lines = LinesOf(lab).at("http://a.org/");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].annotations.find("disconnectTrunc"), std::string::npos);
}

}  // namespace
}  // namespace stele::crawl
