#include "archive/run_report.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "archive/test_archive.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::PutFile;
using testing::WarcText;

class RunReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    archive_ = std::move(*lab_.Open());
  }
  void Bring(const std::string& bytes) {
    const std::uint32_t run = *archive_->BeginRun("import", "");
    const std::string name = fmt::format("{}.warc.gz", run);
    PutFile(fs_, name, bytes);
    const Result<ImportOutcome> outcome = ImportFile(*archive_, run, name, {});
    ASSERT_TRUE(outcome) << outcome.error().text;
    ASSERT_TRUE(archive_->EndRun(run));
  }
  void Reopen() {
    view_.reset();
    archive_.reset();
    archive_ = std::move(*lab_.Open());
  }
  RunReport Report(std::uint32_t run) {
    view_.emplace(archive_->View());
    const Result<RunReport> report = ReportOn(*view_, run);
    EXPECT_TRUE(report) << report.error().text;
    return report ? *report : RunReport();
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  std::unique_ptr<ArchiveWriter> archive_;
  std::optional<ArchiveView> view_;
};

TEST_F(RunReportTest, CountsWhatARunBrought) {
  Bring(WarcText().Response("http://a/", "2003-01-01T00:00:00Z", "<p>before").bytes());
  Bring(WarcText()
            .Response("http://a/", "2004-01-01T00:00:00Z", "<p>one")
            .Response("http://a/x.png", "2004-01-02T00:00:00Z", "12345", "image/png")
            .Response("http://b/", "2004-01-03T00:00:00Z", "no", "text/html", 404)
            .bytes());
  const RunReport report = Report(2);
  EXPECT_EQ(report.all, (CaptureSum{3, 13}));
  EXPECT_EQ(report.pages, (CaptureSum{1, 6}));
  EXPECT_EQ(report.duplicates, CaptureSum());
  EXPECT_EQ(report.by_status,
            (std::map<std::string, CaptureSum>{{"2xx", {2, 11}}, {"4xx", {1, 2}}}));
  EXPECT_EQ(report.by_type,
            (std::map<std::string, CaptureSum>{{"image/png", {1, 5}}, {"text/html", {2, 8}}}));
  EXPECT_EQ(report.hosts, (std::vector<HostCount>{{"a", 2, 1, 11}, {"b", 1, 0, 2}}));
  EXPECT_EQ(report.host_count, 2u);
  EXPECT_EQ(FormatIso(*report.first), "2004-01-01T00:00:00Z");
  EXPECT_EQ(FormatIso(*report.last), "2004-01-03T00:00:00Z");
  EXPECT_EQ(report.containers, 1u);
  ASSERT_EQ(report.errors.captures, 1u);
  EXPECT_EQ(report.errors.first.front().row.url, "http://b/");
  const Result<RunReport> missing = ReportOn(archive_->View(), 3);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

TEST_F(RunReportTest, ADuplicateHasThePayloadOfAnEarlierCaptureOfItsUrl) {
  Bring(WarcText()
            .Response("http://a/1", "2003-01-01T00:00:00Z", "<p>same")
            .Response("http://a/2", "2003-01-01T00:00:00Z", "<p>old")
            .Response("http://a/late", "2005-01-01T00:00:00Z", "<p>late")
            .bytes());
  Bring(WarcText()
            .Response("http://a/1", "2004-01-01T00:00:00Z", "<p>same")
            .Response("http://a/1", "2004-01-02T00:00:00Z", "<p>same")
            .Response("http://a/2", "2004-01-01T00:00:00Z", "<p>same")
            .Revisit("http://a/2", "2004-01-02T00:00:00Z", "<p>old")
            .Response("http://a/late", "2004-01-01T00:00:00Z", "<p>late")
            .bytes());
  EXPECT_EQ(Report(1).duplicates, (CaptureSum{1, 7}));
  EXPECT_EQ(Report(2).duplicates, (CaptureSum{3, 14}));
}

// Of the captures that are shown, in the order of keys and times, all of them.
std::uint64_t DuplicatesOf(const ArchiveView& view, std::uint32_t run) {
  CaptureQuery query;
  query.where.what = catalog::SelectAll();
  CaptureResults results(view, query);
  std::set<std::pair<std::string, std::string>> seen;
  std::uint64_t duplicates = 0;
  for (;;) {
    const Result<const catalog::HeldCapture*> held = results.Next();
    EXPECT_TRUE(held);
    if (!held || *held == nullptr) return duplicates;
    const catalog::Capture& row = (*held)->row;
    const std::string digest(row.sha1->data(), row.sha1->size());
    const bool is_new = seen.emplace(results.key(), digest).second;
    if (!is_new && row.run == run) ++duplicates;
  }
}

TEST_F(RunReportTest, W15_DuplicatesAreThoseThatALookAtAllCapturesFinds) {
  std::mt19937 dice(5);
  const auto pick = [&](unsigned below) { return static_cast<unsigned>(dice() % below); };
  constexpr std::uint32_t kRuns = 10;
  for (std::uint32_t run = 1; run <= kRuns; ++run) {
    WarcText text(record::Compression::kGzip, run);
    for (unsigned i = run % 2 == 0 ? 8 : 90; i > 0; --i) {
      const std::string url = fmt::format("http://{}a{}/{}", pick(2) == 0 ? "www." : "", pick(3),
                                          pick(4) == 0 ? pick(8) : pick(60));
      const std::string date =
          fmt::format("2004-{:02}-{:02}T00:00:{:02}Z", 1 + pick(3), 1 + pick(3), pick(3));
      text.Response(url, date, fmt::format("<p>{}", pick(3)));
    }
    Bring(text.bytes());
  }
  std::vector<catalog::CaptureId> removed;
  catalog::CaptureScan scan = archive_->View().catalog().Scan({});
  for (;;) {
    const Result<const catalog::Capture*> row = scan.Next();
    ASSERT_TRUE(row);
    if (*row == nullptr) break;
    if (pick(6) == 0) removed.push_back((*row)->id);
  }
  ASSERT_TRUE(archive_->Remove(removed, "a reason", ""));
  std::uint64_t duplicates = 0;
  for (std::uint32_t run = 1; run <= kRuns; ++run) {
    const RunReport report = Report(run);
    EXPECT_EQ(report.duplicates.captures, DuplicatesOf(*view_, run)) << run;
    duplicates += report.duplicates.captures;
  }
  EXPECT_GT(duplicates, 50u);
}

TEST_F(RunReportTest, D6_NamesRevisitsWhosePayloadIsNotHere) {
  Bring(WarcText().Response("http://a/", "2003-01-01T00:00:00Z", "<p>here").bytes());
  WarcText second;
  second.Revisit("http://b/", "2004-01-01T00:00:00Z", "<p>here");
  for (int i = 0; i < 12; ++i) {
    second.Revisit(fmt::format("http://c/{:02}", i), "2004-01-01T00:00:00Z",
                   fmt::format("<p>elsewhere {}", i));
  }
  Bring(second.bytes());
  const RunReport report = Report(2);
  EXPECT_EQ(report.revisits, (CaptureSum{13, 0}));
  EXPECT_EQ(report.unresolved.captures, 12u);
  ASSERT_EQ(report.unresolved.first.size(), kTroublesShown);
  EXPECT_EQ(report.unresolved.first.front().row.url, "http://c/00");
  EXPECT_EQ(Report(1).unresolved.captures, 0u);
}

// However few revisits are kept in memory at a time.
TEST_F(RunReportTest, D6_ManyRevisitsAreLookedForInParts) {
  Bring(WarcText().Response("http://a/", "2003-01-01T00:00:00Z", "<p>here").bytes());
  WarcText second;
  for (int i = 0; i < 30; ++i) {
    second.Revisit(fmt::format("http://c/{:02}", i), "2004-01-01T00:00:00Z",
                   i % 3 == 0 ? "<p>here" : fmt::format("<p>elsewhere {}", i / 2));
  }
  Bring(second.bytes());
  const ArchiveView view = archive_->View();
  for (const std::uint64_t revisits_max : {0u, 1u, 7u, 29u, 30u, 1000u}) {
    SCOPED_TRACE(revisits_max);
    const Result<RunReport> report = ReportOn(view, 2, {}, revisits_max);
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->revisits.captures, 30u);
    EXPECT_EQ(report->unresolved.captures, 20u);
    EXPECT_EQ(report->unresolved.first.size(), kTroublesShown);
  }
}

TEST_F(RunReportTest, W15_WhatCannotBeReachedIsCountedApartAndTheRestIsReported) {
  Bring(WarcText().Response("http://a/", "2003-01-01T00:00:00Z", "<p>here").bytes());
  Bring(WarcText()
            .Response("http://b/", "2004-01-01T00:00:00Z", "<p>other")
            .Revisit("http://b/", "2004-02-01T00:00:00Z", "<p>other")
            .Revisit("http://c/1", "2004-02-01T00:00:00Z", "<p>here")
            .Revisit("http://c/2", "2004-02-01T00:00:00Z", "<p>nowhere")
            .bytes());
  ASSERT_TRUE(fs_.Rename("a/volumes/main/00000002/2.warc.gz", "away"));
  Reopen();
  const RunReport report = Report(2);
  EXPECT_EQ(report.all.captures, 4u);
  EXPECT_EQ(report.unresolved.captures, 0u);
  // Digests tell of the one, whose payload came with it.
  EXPECT_EQ(report.undecided.captures, 2u);
  EXPECT_NE(report.undecided_reason.find("bring its volume back"), std::string::npos)
      << report.undecided_reason;
  // Nor is it known where the rows are away that would have to be looked through.
  ASSERT_TRUE(fs_.Rename("away", "a/volumes/main/00000002/2.warc.gz"));
  Reopen();
  ASSERT_TRUE(fs_.Remove("a/volumes/main/00000001.rows"));
  EXPECT_EQ(Report(2).undecided.captures, 2u);
  EXPECT_EQ(Report(2).unresolved.captures, 0u);
}

// What may not be seen is no original either; filters get the key of each capture.
TEST_F(RunReportTest, D6_AnOriginalThatIsHiddenIsNotHere) {
  Bring(WarcText().Response("http://a/", "2003-01-01T00:00:00Z", "<p>here").bytes());
  Bring(WarcText().Revisit("http://b/", "2004-01-01T00:00:00Z", "<p>here").bytes());
  const ArchiveView view = archive_->View();
  const CaptureFilter shows = [](std::string_view key, const catalog::Capture&) {
    EXPECT_NE(key, "");
    return !key.starts_with("a)");
  };
  const Result<RunReport> report = ReportOn(view, 2, shows);
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_EQ(report->unresolved.captures, 1u);
  EXPECT_EQ(ReportOn(view, 2)->unresolved.captures, 0u);
}

TEST_F(RunReportTest, NamesDamagedPlacesAndWhatIsNotListed) {
  std::string bytes = WarcText().Response("http://a/1", "2003-01-01T00:00:00Z", "<p>1").bytes();
  const std::size_t good = bytes.size();
  bytes += WarcText().Response("http://a/2", "2003-01-01T00:00:00Z", "<p>2").bytes();
  for (std::size_t i = good + 30; i < good + 60; ++i) bytes[i] = 'x';
  bytes += WarcText().Response("http://a/3", "no date", "<p>3").bytes();
  Bring(bytes);
  const RunReport report = Report(1);
  EXPECT_EQ(report.all.captures, 1u);
  EXPECT_EQ(report.unlisted, 1u);
  ASSERT_EQ(report.damaged, 1u);
  EXPECT_EQ(report.damaged_first.front().file, "1.warc.gz");
  EXPECT_EQ(report.damaged_first.front().loss.begin, good);
}

}  // namespace
}  // namespace stele::archive
