#include "archive/removal.h"

#include <gtest/gtest.h>

#include "archive/revisit_resolver.h"
#include "archive/test_archive.h"
#include "archive/verify.h"
#include "io/fault_file_system.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::Lines;
using testing::PutFile;
using testing::WarcText;

CaptureQuery Of(const std::string& url) {
  CaptureQuery query;
  query.where.what = catalog::SelectUrl(url);
  return query;
}

// One original, two revisits of it, and something else.
std::string Sample() {
  return WarcText()
      .Response("http://o.example/", "2004-01-01T00:00:00Z", "same")
      .Revisit("http://r.example/", "2005-01-01T00:00:00Z", "same", "http://o.example/",
               "2004-01-01T00:00:00Z")
      .Revisit("http://r.example/", "2006-01-01T00:00:00Z", "same", "http://o.example/",
               "2004-01-01T00:00:00Z")
      .Response("http://x.example/", "2004-01-01T00:00:00Z", "other")
      .bytes();
}

class Removing : public ::testing::Test {
 protected:
  void SetUp() override {
    PutFile(fs_, "x.warc.gz", Sample());
    ASSERT_TRUE(lab_.Create());
    archive_ = *lab_.Open();
    ASSERT_TRUE(archive_->BeginRun("import", ""));
    ASSERT_TRUE(ImportFile(*archive_, 1, "x.warc.gz", {}));
    ASSERT_TRUE(archive_->EndRun(1));
  }

  Result<std::uint32_t> Remove(const CaptureQuery& query,
                               const std::optional<Digest>& payload = std::nullopt) {
    Result<RemovalPlan> plan = PlanRemoval(archive_->View(), query, payload);
    if (!plan) return plan.error();
    heirs_ = plan->heirs.size();
    return CarryOut(*archive_, *plan, {"because", "a test"}, clock_, random_);
  }
  void ExpectNoDefects() {
    const ArchiveView view = archive_->View();
    const auto outcome =
        Verify(view, {}, [](const std::string& defect) { ADD_FAILURE() << defect; });
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_EQ(outcome->captures, 4u);
  }
  // Which capture has the payload of that one; or why there is none.
  std::string OriginalOf(const std::string& url, const std::string& date) {
    const ArchiveView view = archive_->View();
    CaptureQuery query = Of(url);
    query.where.from = query.where.to = *ParseIso(date);
    CaptureResults results(view, query);
    const catalog::HeldCapture* held = *results.Next();
    if (held == nullptr) return "no such capture";
    if ((held->row.flags & catalog::kRevisit) == 0) return FormatIso(held->row.time);
    const auto original = RevisitResolver(view).Resolve(*held);
    return original ? FormatIso(original->row.time) : original.error().text;
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  io::ManualClock clock_{testing::kNow};
  io::SeededRandom random_{5};
  std::unique_ptr<ArchiveWriter> archive_;
  std::size_t heirs_ = 0;
};

TEST_F(Removing, WhatIsTakenDownIsNotListedAndTheLedgerSaysWhy) {
  const auto removal = Remove(Of("http://x.example/"));
  ASSERT_TRUE(removal) << removal.error().text;
  EXPECT_EQ(heirs_, 0u);
  EXPECT_EQ(Lines(archive_->View()).size(), 3u);
  CaptureQuery with_removed;
  with_removed.with_removed = true;
  EXPECT_EQ(Lines(archive_->View(), with_removed).size(), 4u);
  const Removal& noted = archive_->View().holdings().removals().at(*removal);
  EXPECT_EQ(noted.reason, "because");
  EXPECT_EQ(noted.captures, (std::vector<catalog::CaptureId>{{200401, 1}}));
  ExpectNoDefects();
  const auto again = PlanRemoval(archive_->View(), Of("http://x.example/"));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->captures.empty());
  EXPECT_EQ(again->removed_before, 1u);
  EXPECT_EQ(Remove(Of("http://never.example/")).error().code, ErrorCode::kNotFound);
}

TEST_F(Removing, ThePayloadThatRevisitsNeedIsInheritedByOneOfThem) {
  ASSERT_TRUE(Remove(Of("http://o.example/")));
  EXPECT_EQ(heirs_, 1u);
  EXPECT_EQ(Lines(archive_->View()),
            (std::vector<std::string>{"200501/0 http://r.example/ 20050101000000000",
                                      "200601/0 http://r.example/ 20060101000000000",
                                      "200401/1 http://x.example/ 20040101000000000"}));
  CaptureQuery of_the_first_run;
  of_the_first_run.runs = {1};
  EXPECT_EQ(Lines(archive_->View(), of_the_first_run).size(), 3u);
  EXPECT_EQ(archive_->View().holdings().CaptureCount(), 4u);
  EXPECT_EQ(OriginalOf("http://r.example/", "2005-01-01T00:00:00Z"), "2005-01-01T00:00:00Z");
  EXPECT_EQ(OriginalOf("http://r.example/", "2006-01-01T00:00:00Z"), "2005-01-01T00:00:00Z");
  ExpectNoDefects();
}

TEST_F(Removing, WithAllThatRepeatItNobodyInherits) {
  CaptureQuery all;
  all.where.what = catalog::SelectAll();
  ASSERT_TRUE(Remove(all));
  EXPECT_EQ(heirs_, 0u);
  EXPECT_TRUE(Lines(archive_->View()).empty());
  ExpectNoDefects();
}

TEST_F(Removing, ARevisitThatComesLaterSaysThatItsOriginalWasTakenDown) {
  CaptureQuery all;
  all.where.what = catalog::SelectAll();
  ASSERT_TRUE(Remove(all));
  PutFile(fs_, "late.warc.gz",
          WarcText(record::Compression::kGzip, 9)
              .Revisit("http://l.example/", "2007-01-01T00:00:00Z", "same", "http://o.example/",
                       "2004-01-01T00:00:00Z")
              .bytes());
  const auto run = archive_->BeginRun("import", "");
  ASSERT_TRUE(ImportFile(*archive_, *run, "late.warc.gz", {}));
  EXPECT_EQ(OriginalOf("http://l.example/", "2007-01-01T00:00:00Z"),
            "http://l.example/ of 2007-01-01T00:00:00Z repeats a capture that was taken down");
}

TEST_F(Removing, ByDigestTakesEveryCaptureOfAPayload) {
  CaptureQuery all;
  all.where.what = catalog::SelectAll();
  ASSERT_TRUE(Remove(all, DigestOf(DigestAlgorithm::kSha256, "other")));
  EXPECT_EQ(Lines(archive_->View()).size(), 3u);
  // Revisits of it go with it, and nobody inherits.
  ASSERT_TRUE(Remove(all, DigestOf(DigestAlgorithm::kSha1, "same")));
  EXPECT_EQ(heirs_, 0u);
  EXPECT_TRUE(Lines(archive_->View()).empty());
}

TEST_F(Removing, I7_BySha1TakesCapturesThatOnlyHaveTheSha256) {
  const Digest sha1 = DigestOf(DigestAlgorithm::kSha1, "other");
  std::string text = WarcText(record::Compression::kNone, 9)
                         .Response("http://y.example/", "2004-01-01T00:00:00Z", "other")
                         .bytes();
  text.replace(text.find(sha1.Labelled()), sha1.Labelled().size(),
               DigestOf(DigestAlgorithm::kSha256, "other").Labelled());
  PutFile(fs_, "y.warc", text);
  const auto run = archive_->BeginRun("import", "");
  ASSERT_TRUE(ImportFile(*archive_, *run, "y.warc", {}));
  CaptureQuery only_there = Of("http://y.example/");
  ASSERT_TRUE(PlanRemoval(archive_->View(), only_there, sha1));
  CaptureQuery all;
  all.where.what = catalog::SelectAll();
  ASSERT_TRUE(Remove(all, sha1));
  EXPECT_EQ(Lines(archive_->View()).size(), 3u);
  EXPECT_EQ(PlanRemoval(archive_->View(), all, sha1)->removed_before, 2u);
}

TEST_F(Removing, AHoldForbidsItUntilItEnds) {
  Hold hold;
  hold.reason = "a case";
  hold.what = catalog::SelectHost("x.example");
  hold.from = catalog::kTimeBegin;
  hold.to = catalog::kTimeEnd;
  const auto number = archive_->AddHold(hold);
  ASSERT_TRUE(number);
  CaptureQuery all;
  all.where.what = catalog::SelectAll();
  const auto refused = Remove(all);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  EXPECT_NE(refused.error().text.find("http://x.example/ of 2004-01-01T00:00:00Z is under hold 1 "
                                      "(a case)"),
            std::string::npos);
  EXPECT_EQ(Lines(archive_->View()).size(), 4u);
  ASSERT_TRUE(archive_->EndHold(*number));
  EXPECT_FALSE(archive_->EndHold(*number));
  EXPECT_TRUE(Remove(all));
}

TEST_F(Removing, SurvivesReindexing) {
  ASSERT_TRUE(Remove(Of("http://o.example/")));
  const std::vector<std::string> before = Lines(archive_->View());
  for (const auto rebuild :
       {ArchiveWriter::Rebuild::kCatalog, ArchiveWriter::Rebuild::kCatalogAndRows}) {
    archive_.reset();
    auto archive = lab_.Open(rebuild);
    ASSERT_TRUE(archive) << archive.error().text;
    archive_ = *std::move(archive);
    EXPECT_EQ(Lines(archive_->View()), before);
    EXPECT_EQ(OriginalOf("http://r.example/", "2006-01-01T00:00:00Z"), "2005-01-01T00:00:00Z");
    ExpectNoDefects();
  }
}

// Whoever reads while the catalog follows the ledger sees what the disk has then.
TEST(RemovingCrash, I7_WhatWasTakenDownIsNeverSeenWhileTheCatalogIsMadeAgain) {
  for (const auto rebuild : {ArchiveWriter::Rebuild::kNothing, ArchiveWriter::Rebuild::kCatalog}) {
    bool opened = false;
    for (int fail_at = 1; !opened; ++fail_at) {
      SCOPED_TRACE(fail_at);
      io::MemoryFileSystem disk;
      PutFile(disk, "x.warc.gz", Sample());
      ArchiveLab lab(disk);
      ASSERT_TRUE(lab.Create());
      {
        auto archive = lab.Open();
        ASSERT_TRUE((*archive)->BeginRun("import", ""));
        ASSERT_TRUE(ImportFile(**archive, 1, "x.warc.gz", {}));
        ASSERT_TRUE((*archive)->Remove({{200401, 1}}, "because", ""));
      }
      PutFile(disk, "a/catalog/applied", "of another version");
      {
        io::FaultFileSystem fs(disk, fail_at);
        ArchiveLab failing(fs);
        opened = failing.Open(rebuild).ok();
      }
      const auto reader = ArchiveReader::Open(disk, "a");
      if (!reader) continue;  // there is no catalog yet
      for (const std::string& line : Lines((*reader)->View())) {
        EXPECT_EQ(line.find("x.example"), std::string::npos) << line;
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(RemovingCrash, NothingIsLostWhereverTheDiskFailsAndWhatWasAcknowledgedStaysDown) {
  for (int fail_at = 1;; ++fail_at) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    PutFile(disk, "x.warc.gz", Sample());
    ArchiveLab lab(disk);
    ASSERT_TRUE(lab.Create());
    {
      auto archive = lab.Open();
      ASSERT_TRUE((*archive)->BeginRun("import", ""));
      ASSERT_TRUE(ImportFile(**archive, 1, "x.warc.gz", {}));
      ASSERT_TRUE((*archive)->EndRun(1));
    }
    bool acknowledged = false;
    io::ManualClock clock(testing::kNow);
    io::SeededRandom random(1);
    {
      io::FaultFileSystem fs(disk, fail_at);
      ArchiveLab failing(fs);
      auto archive = failing.Open();
      if (archive) {
        const auto plan = PlanRemoval((*archive)->View(), Of("http://o.example/"));
        if (plan) {
          acknowledged = CarryOut(**archive, *plan, {"because", ""}, clock, random).ok();
        }
      }
    }
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    disk.Crash(dice);
    auto archive = lab.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    const ArchiveView view = (*archive)->View();
    const std::vector<std::string> lines = Lines(view);
    EXPECT_TRUE(!acknowledged || lines.size() == 3u) << lines.size();
    // The revisits have a payload in any case.
    CaptureQuery query = Of("http://r.example/");
    CaptureResults results(view, query);
    int found = 0;
    for (const catalog::HeldCapture* held; (held = *results.Next()) != nullptr; ++found) {
      if ((held->row.flags & catalog::kRevisit) == 0) continue;
      const auto original = RevisitResolver(view).Resolve(*held);
      EXPECT_TRUE(original) << original.error().text;
    }
    EXPECT_EQ(found, 2);
    const auto verified =
        Verify(view, {}, [](const std::string& defect) { ADD_FAILURE() << defect; });
    ASSERT_TRUE(verified);
    if (acknowledged) break;
  }
}

}  // namespace
}  // namespace stele::archive
