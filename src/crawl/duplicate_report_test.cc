#include "crawl/duplicate_report.h"

#include <gtest/gtest.h>

#include "crawl/crawl_report.h"
#include "io/memory_file_system.h"

namespace stele::crawl {
namespace {

std::string Line(const std::string& url, const std::string& annotations, const std::string& extra) {
  return "2026-11-16T11:00:00.000Z   200         10 " + url +
         " L http://a.is/ image/png #000 20261116110000000+1 "
         "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ http://a.is/ " +
         annotations + ' ' + extra + '\n';
}

TEST(DuplicateReport, D5_ALogIsAddedUp) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("run"));
  const std::string log =
      Line("http://a.is/1", "-", R"({"payloadSize":10,"hit":"new"})") +
      Line("http://a.is/2", "duplicate:digest",
           R"({"payloadSize":20,"hit":"exact","timestampPredicts":"noChangeCorrect"})") +
      Line("http://b.is/3", "duplicate:digest", R"({"payloadSize":5,"hit":"equivalent"})") +
      Line("http://b.is/4", "-", R"({"payloadSize":7,"hit":"mirror","etagPredicts":"missing"})") +
      Line("http://b.is/5", "duplicate:server-not-modified", "{}") +
      Line("http://b.is/6", "header-duplicate", "{}") + "what a killed crawler left\n";
  ASSERT_TRUE(io::ReplaceFile(fs, "run/crawl.log", log));
  ASSERT_TRUE(io::ReplaceFile(fs, "run/scope.log", ""));
  const Result<CrawlReport> read = ReadCrawlReport(fs, "run");
  ASSERT_TRUE(read) << read.error().text;
  const dedup::DedupReport& report = read->duplicates;
  EXPECT_EQ(report.not_modified, 1u);
  EXPECT_EQ(report.left_out, 1u);
  EXPECT_EQ(report.total.handled, 4u);
  EXPECT_EQ(report.total.handled_bytes, 42u);
  EXPECT_EQ(report.total.duplicates, 2u);
  EXPECT_EQ(report.total.duplicate_bytes, 25u);
  EXPECT_EQ(report.total.exact, 1u);
  EXPECT_EQ(report.total.equivalent, 1u);
  EXPECT_EQ(report.total.mirrors, 1u);
  EXPECT_EQ(report.total.timestamp.no_change_correct, 1u);
  EXPECT_EQ(report.total.etag.missing, 1u);
  EXPECT_EQ(report.hosts.at("b.is").handled, 2u);
}

TEST(DuplicateReport, D5_ItSaysHowDuplicatesWereLookedFor) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("run"));
  DuplicateSettings settings;
  settings.match = Match::kDigest;
  dedup::DedupReport report;
  report.not_modified = 3;
  ASSERT_TRUE(WriteDuplicateReport(fs, "run", settings, report));
  report.lookup = "digest";
  EXPECT_EQ(*io::ReadFile(fs, "run/dedup-report.txt"), report.Text());
  EXPECT_EQ(*io::ReadFile(fs, "run/dedup-report.json"), report.Json() + '\n');
}

// A server may send anything as its ETag, also what looks like what we say ourselves.
TEST(DuplicateReport, D5_AServersWordsAreNotTakenForOurs) {
  crawl_log::Line line;
  line.extra = R"({"etag":"\"hit\":\"exact\",","lastModified":"hit","payloadSize":3,"hit":"new"})";
  dedup::DedupReport report;
  CountDuplicates(line, "a.is", report);
  EXPECT_EQ(report.total.fresh, 1u);
  EXPECT_EQ(report.total.exact, 0u);
  EXPECT_EQ(report.total.handled_bytes, 3u);
  line.extra = R"({"etag":"\"hit\":\"exact\""})";
  CountDuplicates(line, "a.is", report);
  EXPECT_EQ(report.total.handled, 1u);
}

}  // namespace
}  // namespace stele::crawl
