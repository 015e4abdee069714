#include "archive/capture_block.h"

#include <gtest/gtest.h>

#include "archive/capture_text.h"
#include "archive/purge.h"
#include "archive/removal.h"
#include "archive/revisit_resolver.h"
#include "archive/test_archive.h"
#include "archive/test_segments.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::FirstSegment;
using testing::kSegmentedDate;
using testing::kSegmentedHead;
using testing::kSegmentedPayload;
using testing::PayloadClaim;
using testing::PutFile;
using testing::SecondSegment;
using testing::ThirdSegment;
using testing::WarcText;

constexpr const char* kUrl = "http://a.example/";
constexpr const char* kLater = "2005-05-30T01:02:03Z";

class Segmented : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    archive_ = *lab_.Open();
  }
  // As a run of its own.
  void Import(const std::string& bytes) {
    const std::uint32_t run = *archive_->BeginRun("import", "");
    PutFile(fs_, "in.warc", bytes);
    const auto outcome = ImportFile(*archive_, run, "in.warc", {});
    ASSERT_TRUE(outcome) << outcome.error().text;
    ASSERT_TRUE(archive_->EndRun(run));
  }
  // The first capture of a URL.
  static Result<catalog::HeldCapture> Find(const ArchiveView& view, const std::string& url = kUrl) {
    CaptureQuery query;
    query.where.what = catalog::SelectUrl(url);
    CaptureResults results(view, query);
    const Result<const catalog::HeldCapture*> held = results.Next();
    if (!held) return held.error();
    if (*held == nullptr) return Error{ErrorCode::kNotFound, "no such capture"};
    return **held;
  }
  static std::string ReadAll(BlockSource& block) {
    std::string all;
    for (;;) {
      const Result<std::string_view> piece = block.Read();
      if (!piece) return piece.error().text;
      if (piece->empty()) return all;
      all += *piece;
    }
  }
  // The block of the first capture of the URL, or what was said instead.
  std::string Block(CaptureBlock::Segments segments = CaptureBlock::Segments::kAsFarAsHere) {
    const ArchiveView view = archive_->View();
    const Result<catalog::HeldCapture> capture = Find(view);
    if (!capture) return capture.error().text;
    const auto block = CaptureBlock::Open(view, capture->row, segments);
    if (!block) return block.error().text;
    flaw_ = (*block)->flaw();
    is_joined_ = (*block)->is_joined();
    return ReadAll(**block);
  }
  // Of the container with this number.
  void Damage(int container, std::string_view what, std::string_view with) {
    const std::string path = fmt::format("a/volumes/main/{:08}/in.warc", container);
    std::string bytes = *io::ReadFile(fs_, path);
    ASSERT_NE(bytes.find(what), std::string::npos);
    bytes.replace(bytes.find(what), what.size(), with);
    PutFile(fs_, path, bytes);
  }

  const std::string whole_ = std::string(kSegmentedHead) + kSegmentedPayload;
  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  io::ManualClock clock_{testing::kNow};
  io::SeededRandom random_{5};
  std::unique_ptr<ArchiveWriter> archive_;
  std::string flaw_;
  bool is_joined_ = false;
};

TEST_F(Segmented, W15_AllSegmentsAreOneBlockWhereverTheyLie) {
  for (const std::string& file : {ThirdSegment(), FirstSegment(), SecondSegment()}) Import(file);
  EXPECT_EQ(Block(), whole_);
  EXPECT_EQ(flaw_, "");
  EXPECT_TRUE(is_joined_);
  EXPECT_EQ(Block(CaptureBlock::Segments::kJoinedIfAllHere), whole_);
  EXPECT_EQ(Block(CaptureBlock::Segments::kFirst), std::string(kSegmentedHead) + "one ");
  EXPECT_FALSE(is_joined_);
}

TEST_F(Segmented, W15_WhatFollowsAMissingSegmentIsNotGiven) {
  Import(FirstSegment() + ThirdSegment());
  EXPECT_EQ(Block(), std::string(kSegmentedHead) + "one ");
  EXPECT_EQ(flaw_, "segment 2 of the record <urn:s:1> is not here");
  EXPECT_FALSE(is_joined_);
  Import(SecondSegment());
  EXPECT_EQ(Block(), whole_);
}

TEST_F(Segmented, W15_WhatComesBeforeAMissingSegmentIsGiven) {
  Import(FirstSegment() + SecondSegment());
  EXPECT_EQ(Block(), std::string(kSegmentedHead) + "one two ");
  EXPECT_EQ(flaw_, "segment 3 of the record <urn:s:1> is not here");
  EXPECT_EQ(Block(CaptureBlock::Segments::kJoinedIfAllHere), std::string(kSegmentedHead) + "one ");
}

TEST_F(Segmented, W15_LengthsThatDoNotAddUpAreSaid) {
  Import(FirstSegment() + SecondSegment() + ThirdSegment("three", 99));
  EXPECT_EQ(Block(), whole_);
  EXPECT_EQ(flaw_,
            "the 3 segments of the record <urn:s:1> have 57 bytes, but the last one says 99");
  EXPECT_FALSE(is_joined_);
}

TEST_F(Segmented, W15_TheJoinedPayloadIsComparedWithWhatTheFirstClaims) {
  for (const DigestAlgorithm algorithm :
       {DigestAlgorithm::kMd5, DigestAlgorithm::kSha1, DigestAlgorithm::kSha256}) {
    for (const bool is_right : {true, false}) {
      SCOPED_TRACE(is_right);
      io::MemoryFileSystem fs;
      ArchiveLab lab(fs);
      ASSERT_TRUE(lab.Create());
      archive_ = *lab.Open();
      ASSERT_TRUE(archive_->BeginRun("import", ""));
      const std::string claim =
          PayloadClaim(is_right ? kSegmentedPayload : "one two eight", algorithm);
      PutFile(fs, "in.warc", FirstSegment(claim) + SecondSegment() + ThirdSegment());
      ASSERT_TRUE(ImportFile(*archive_, 1, "in.warc", {}));
      const std::string block = Block();
      if (is_right) {
        EXPECT_EQ(block, whole_);
      } else {
        EXPECT_NE(block.find("is not what the first one says"), std::string::npos) << block;
      }
      archive_.reset();
    }
  }
}

// Some writers hash the body as it was sent.
TEST_F(Segmented, W15_AClaimOfTheChunkedBodyHoldsToo) {
  constexpr const char* kHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string body = "4\r\none \r\n9\r\ntwo three\r\n0\r\n\r\n";
  Import(FirstSegment(PayloadClaim(body), kHead, "4\r\none \r\n9\r\ntw") + SecondSegment("o ") +
         ThirdSegment("three\r\n0\r\n\r\n", 75));
  EXPECT_EQ(Block(), kHead + body);
  EXPECT_EQ(flaw_, "");
}

TEST_F(Segmented, W15_ADamagedSegmentIsNoEnd) {
  Import(FirstSegment(PayloadClaim(kSegmentedPayload)));
  Import(SecondSegment() + ThirdSegment());
  Damage(2, "three", "threw");
  const ArchiveView view = archive_->View();
  const auto block = CaptureBlock::Open(view, Find(view)->row);
  ASSERT_TRUE(block) << block.error().text;
  EXPECT_NE(ReadAll(**block).find("is not what the first one says"), std::string::npos);
  // Whoever asks again does not hear that all is well.
  EXPECT_FALSE((*block)->Read());
}

TEST_F(Segmented, W15_TheFirstSegmentAloneIsComparedWithWhatItWas) {
  Import(FirstSegment() + SecondSegment() + ThirdSegment());
  Damage(1, "\r\n\r\none ", "\r\n\r\nwon ");
  EXPECT_NE(Block(CaptureBlock::Segments::kFirst).find("not what it was when it came"),
            std::string::npos);
}

TEST_F(Segmented, W15_RowsThatAreAwayAreAnErrorOnlyWhereSegmentsMayBeThere) {
  Import(FirstSegment() + SecondSegment());
  Import(WarcText(record::Compression::kNone).Response("http://b.example/", kLater, "b").bytes());
  const std::string rows = *archive_->View().layout().RowsPath("main", 2);
  ASSERT_TRUE(fs_.Rename(rows, "away"));
  const ArchiveView view = archive_->View();
  EXPECT_FALSE(CaptureBlock::Open(view, Find(view)->row));
  ASSERT_TRUE(fs_.Rename("away", rows));
  Import(ThirdSegment());
  Import(WarcText(record::Compression::kNone).Response("http://c.example/", kLater, "c").bytes());
  ASSERT_TRUE(fs_.Rename(*archive_->View().layout().RowsPath("main", 4), "away"));
  EXPECT_EQ(Block(), whole_);
}

TEST_F(Segmented, I6_TheTextIsThatOfAllSegments) {
  Import(FirstSegment() + SecondSegment() + ThirdSegment());
  const ArchiveView view = archive_->View();
  const auto text = TextOfCapture(view, Find(view)->row);
  ASSERT_TRUE(text && *text);
  EXPECT_NE((*text)->find("one two three"), std::string::npos);
}

TEST_F(Segmented, I7_NothingIsShownOfWhatWasTakenDownAndRevisitsKeepAllOfIt) {
  for (const std::string& file : {ThirdSegment(), FirstSegment(), SecondSegment()}) Import(file);
  Import(WarcText()
             .Revisit("http://b.example/", kLater, kSegmentedPayload, kUrl, kSegmentedDate)
             .bytes());
  CaptureQuery query;
  query.where.what = catalog::SelectUrl(kUrl);
  const Result<RemovalPlan> plan = PlanRemoval(archive_->View(), query);
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(plan->heirs.size(), 1u);
  ASSERT_TRUE(CarryOut(*archive_, *plan, {"because", ""}, clock_, random_));
  EXPECT_EQ(Block(), "no such capture");
  const auto purged = PurgeRemoved(*archive_);
  ASSERT_TRUE(purged) << purged.error().text;
  EXPECT_TRUE(purged->failures.empty());
  EXPECT_EQ(Block(), "no such capture");
  const ArchiveView view = archive_->View();
  const auto heir = CaptureBlock::Open(view, Find(view, "http://b.example/")->row);
  ASSERT_TRUE(heir) << heir.error().text;
  EXPECT_EQ(ReadAll(**heir), whole_);
}

// A revisit that comes after it cannot lead there.
TEST_F(Segmented, I7_ALaterRevisitOfWhatWasTakenDownShowsNothing) {
  Import(FirstSegment(PayloadClaim(kSegmentedPayload)) + SecondSegment() + ThirdSegment());
  ASSERT_TRUE(archive_->Remove({Find(archive_->View())->row.id}, "because", ""));
  Import(WarcText()
             .Revisit("http://b.example/", kLater, kSegmentedPayload, kUrl, kSegmentedDate)
             .bytes());
  const ArchiveView view = archive_->View();
  const auto original = RevisitResolver(view).Resolve(*Find(view, "http://b.example/"));
  ASSERT_FALSE(original);
  EXPECT_NE(original.error().text.find("was taken down"), std::string::npos);
}

}  // namespace
}  // namespace stele::archive
