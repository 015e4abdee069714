#include "dedup/dedup_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace stele::dedup {
namespace {

// The crawl of the .is domain of March 2006, as the paper's figure 3 has it.
DedupReport March() {
  DedupReport report;
  report.lookup = "url";
  report.total = {.handled = 7101240,
                  .handled_bytes = 941110791887,
                  .duplicates = 4307660,
                  .duplicate_bytes = 520523548534,
                  .fresh = 2793586,
                  .exact = 4148297,
                  .equivalent = 159357,
                  .mirrors = 0,
                  .timestamp = {.change_correct = 36058,
                                .change_false = 203906,
                                .no_change_correct = 3783013,
                                .no_change_false = 3281,
                                .missing = 162195},
                  .etag = {}};
  return report;
}

TEST(DedupReport, D5_ThePapersReportIsPrintedToTheDigit) {
  EXPECT_EQ(March().Text(),
            "Duplicates, lookup by url\n"
            "  Total handled:      7101240\n"
            "  Duplicates found:   4307660 60.66%\n"
            "  Bytes total:        941110791887 (876 GB)\n"
            "  Bytes discarded:    520523548534 (484 GB) 55.30%\n"
            "  New (no hits):      2793586\n"
            "  Exact hits:         4148297\n"
            "  Equivalent hits:    159357\n"
            "  Timestamp predicts (where the exact URL was known):\n"
            "  Change correctly:   36058\n"
            "  Change falsely:     203906\n"
            "  Non-change correct: 3783013\n"
            "  Non-change falsely: 3281\n"
            "  Missing:            162195\n"
            "  Total analysed:     4188453\n"
            "  Usefulness:         94.89% of the unchanged need no download\n"
            "  Reliability:        91.66% of the changed would be downloaded\n");
}

TEST(DedupReport, D5_SharesAreCutWhereTheyAreExactToo) {
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    DedupReport report;
    report.total.handled = whole;
    report.total.duplicates = part;
    const std::string text = report.Text();
    const std::string begin = fmt::format("Duplicates found:   {} ", part);
    const std::size_t at = text.find(begin);
    return at == std::string::npos ? text : text.substr(at + begin.size(), 7);
  };
  for (std::uint64_t part = 0; part < 10000; ++part) {
    ASSERT_EQ(share(part, 10000).substr(0, 5), fmt::format("{:.2f}%", part / 100.0).substr(0, 5));
  }
  EXPECT_EQ(share(57, 100), "57.00%\n");
  EXPECT_EQ(share(2, 3), "66.66%\n");
  EXPECT_EQ(share(0, 0), "0.00%\n ");
  const std::uint64_t exabyte = std::uint64_t{1} << 60;
  EXPECT_EQ(share(exabyte - 1, exabyte), "99.99%\n");
  EXPECT_EQ(share(exabyte, exabyte), "100.00%");
}

TEST(DedupReport, D5_ByDigestMirrorsAreHitsAndTheyAreTold) {
  DedupReport report;
  report.lookup = "digest";
  report.total.Count(Hit::kMirror, false, 10);
  report.total.Count(Hit::kNew, false, 20);
  report.total.Count(Hit::kExact, true, 30);
  EXPECT_NE(report.Text().find("  New (no hits):      1\n"
                               "  Exact hits:         1\n"
                               "  Equivalent hits:    0\n"
                               "  Mirror hits:        1\n"),
            std::string::npos)
      << report.Text();
  report.total = {};
  EXPECT_NE(report.Text().find("  Mirror hits:        0\n"), std::string::npos);
}

TEST(DedupReport, D5_HostsHaveALineEach) {
  DedupReport report = March();
  report.hosts["www.example.is"] = {.handled = 3,
                                    .handled_bytes = 30,
                                    .duplicates = 2,
                                    .duplicate_bytes = 20,
                                    .fresh = 1,
                                    .exact = 1,
                                    .equivalent = 1,
                                    .mirrors = 0,
                                    .timestamp = {.missing = 3},
                                    .etag = {}};
  EXPECT_NE(report.Text().find("[no timestamp]\n  www.example.is 3 2 30 20 1 1 1 0 0 0 0 0 3\n"),
            std::string::npos);
  report.total.etag.missing = 3;
  report.hosts["www.example.is"].etag = {.change_correct = 1, .no_change_correct = 2};
  EXPECT_NE(report.Text().find("[no ETag]\n  www.example.is 3 2 30 20 1 1 1 0 0 0 0 0 3 "
                               "1 0 2 0 0\n"),
            std::string::npos)
      << report.Text();
}

TEST(DedupReport, D5_TheSameAsJson) {
  const std::string json = March().Json();
  EXPECT_NE(json.find("\"handled\": 7101240, \"bytes\": 941110791887, \"duplicates\": 4307660"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"timestamp\": {\"changeCorrect\": 36058, \"changeFalse\": 203906, "
                      "\"noChangeCorrect\": 3783013, \"noChangeFalse\": 3281, "
                      "\"missing\": 162195, \"total\": 4188453}"),
            std::string::npos)
      << json;
}

}  // namespace
}  // namespace stele::dedup
