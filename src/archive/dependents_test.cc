#include "archive/dependents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/test_revisits.h"

namespace stele::archive {
namespace {

using testing::Claim;
using ::testing::HasSubstr;
using testing::kIdentical;
using testing::kNotModified;
using testing::Lines;
using testing::PutFile;
using testing::RefersTo;
using testing::Response;
using testing::Revisit;
using testing::Sha1;

class DependentsTest : public testing::RevisitArchive {};

TEST_F(DependentsTest, W15_WhatWasNotModifiedKeepsThePayloadWhateverItsDigest) {
  Import(Response("1", "http://a/", "2004-05-01T00:00:00Z", "old") +
         Response("2", "http://a/", "2004-05-02T00:00:00Z", "new") +
         Response("3", "http://b/", "2004-05-02T00:00:00Z", "other"));
  // That of no bytes, which another capture has that stays.
  Import(Revisit("4", "http://a/", "2004-06-01T00:00:00Z", kNotModified + Sha1(""), 304) +
         Revisit("5", "http://a/", "2004-07-01T00:00:00Z", kNotModified + Sha1(""), 304) +
         Revisit("6", "http://b/", "2004-08-01T00:00:00Z", kNotModified + Sha1("")) +
         Response("7", "http://c/", "2004-06-01T00:00:00Z", ""));
  EXPECT_EQ(PayloadOf("http://a/", 200406), "new");
  Drop(OfBatch(200405));
  EXPECT_EQ(PayloadOf("http://a/", 200406), "new");
  EXPECT_EQ(PayloadOf("http://a/", 200407), "new");
  EXPECT_EQ(PayloadOf("http://b/", 200408), "other");
  // The later capture of the URL finds it in the earlier.
  EXPECT_EQ(plan_.heirs.size(), 2u);
  ExpectNoDefects();
}

TEST_F(DependentsTest, W15_WhatWasNotModifiedDoesNotFallBackToAnOlderVersion) {
  Import(Response("1", "http://a/", "2004-04-01T00:00:00Z", "old"));
  Import(Response("2", "http://a/", "2004-05-01T00:00:00Z", "new"));
  Import(Revisit("3", "http://a/", "2004-06-01T00:00:00Z", kNotModified, 304));
  Drop(OfBatch(200405));
  EXPECT_EQ(PayloadOf("http://a/", 200406), "new");
}

TEST_F(DependentsTest, D6_WhatWasNotModifiedSaysSoWhereThatWasTakenDownBeforeItCame) {
  Import(Response("1", "http://a/", "2004-04-01T00:00:00Z", "old"));
  Import(Response("2", "http://a/", "2004-05-01T00:00:00Z", "new"));
  const auto plan = PlanRemoval(archive_->View(), OfBatch(200405));
  ASSERT_TRUE(plan && CarryOut(*archive_, *plan, {"because", ""}, clock_, random_));
  Import(Revisit("3", "http://a/", "2004-06-01T00:00:00Z", kNotModified, 304));
  Import(Revisit("4", "http://a/", "2004-07-01T00:00:00Z",
                 kNotModified + RefersTo("http://a/", "2004-05-01T00:00:00Z"), 304));
  EXPECT_THAT(PayloadOf("http://a/", 200406), HasSubstr("was taken down"));
  EXPECT_THAT(PayloadOf("http://a/", 200407), HasSubstr("was taken down"));
  // Where it was purged, only its name is known.
  ASSERT_TRUE(PurgeRemoved(*archive_));
  EXPECT_THAT(PayloadOf("http://a/", 200407), HasSubstr("was taken down"));
}

// The first inherits. Others that name what goes do not find that there, unless by a digest; those
// that name one that stays do.
TEST_F(DependentsTest, I7_WhatWasNotModifiedAndNamesWhatGoesKeepsThePayload) {
  const std::string page = RefersTo("http://a/", "2004-05-01T00:00:00Z");
  Import(
      Response("1", "http://a/", "2004-05-01T00:00:00Z", "one", Sha1("one")) +
      Revisit("2", "http://a/", "2004-06-01T00:00:00Z", kNotModified + page + RefersTo("1"), 304) +
      Revisit("3", "http://a/", "2004-07-01T00:00:00Z", kNotModified + page, 304) +
      Revisit("4", "http://a/", "2004-08-01T00:00:00Z", kNotModified + RefersTo("1"), 304) +
      Revisit("5", "http://a/", "2004-09-01T00:00:00Z", kNotModified + page + Sha1("one"), 304) +
      Revisit("6", "http://a/", "2004-10-01T00:00:00Z",
              kNotModified + RefersTo("http://a/", "2004-09-01T00:00:00Z"), 304));
  Drop(OfBatch(200405));
  for (std::uint32_t batch = 200406; batch <= 200410; ++batch) {
    EXPECT_EQ(PayloadOf("http://a/", batch), "one") << batch;
  }
  EXPECT_EQ(plan_.heirs.size(), 3u);
  ExpectNoDefects();
}

TEST_F(DependentsTest, W15_ADigestOfAnotherKindHidesNoNeed) {
  Import(Response("1", "http://a/", "2004-05-01T00:00:00Z", "same",
                  Claim(DigestAlgorithm::kSha256, "same")));
  Import(Revisit("2", "http://a/", "2004-06-01T00:00:00Z",
                 kIdentical + Sha1("same") + RefersTo("http://a/", "2004-05-01T00:00:00Z")) +
         Revisit("3", "http://b/", "2004-07-01T00:00:00Z", kIdentical + Sha1("same")));
  ASSERT_EQ(PayloadOf("http://a/", 200406), "same");
  Drop(OfBatch(200405));
  EXPECT_EQ(PayloadOf("http://a/", 200406), "same");
  ExpectNoDefects();
}

TEST_F(DependentsTest, W15_WhatNamesARecordKeepsItsPayloadWhateverItsDigest) {
  Import(Response("1", "http://a/", "2004-05-01T00:00:00Z", "one"));
  Import(Revisit("2", "http://b/", "2004-06-01T00:00:00Z",
                 kIdentical + Sha1("a digest that nothing has") + RefersTo("1")));
  ASSERT_EQ(PayloadOf("http://b/", 200406), "one");
  Drop(OfBatch(200405));
  EXPECT_EQ(PayloadOf("http://b/", 200406), "one");
}

// The digest of a chunked body as it was sent: the heir has another.
TEST_F(DependentsTest, W15_RevisitsThatShareAWrongDigestAllKeepThePayload) {
  const std::string claim = Sha1("3\r\none\r\n0\r\n\r\n");
  const std::string named = RefersTo("http://a/", "2004-05-01T00:00:00Z");
  Import(Response("1", "http://a/", "2004-05-01T00:00:00Z", "one", claim));
  Import(Revisit("2", "http://b/", "2004-06-01T00:00:00Z", kIdentical + claim + named) +
         Revisit("3", "http://c/", "2004-07-01T00:00:00Z", kIdentical + claim + named));
  Drop(OfBatch(200405));
  EXPECT_EQ(PayloadOf("http://b/", 200406), "one");
  EXPECT_EQ(PayloadOf("http://c/", 200407), "one");
}

TEST_F(DependentsTest, W15_WhatWasLedByOneThatGoesKeepsItsPayload) {
  Import(
      Response("1", "http://a/", "2004-05-01T00:00:00Z", "one") +
      Revisit("2", "http://b/", "2004-06-01T00:00:00Z", kIdentical + RefersTo("1")) +
      Revisit("3", "http://c/", "2004-07-01T00:00:00Z", kIdentical + RefersTo("2")) +
      Revisit("4", "http://d/", "2004-08-01T00:00:00Z", kIdentical + Sha1("one") + RefersTo("2")));
  ASSERT_EQ(PayloadOf("http://c/", 200407), "one");
  Drop(Of("http://b/"));
  EXPECT_EQ(PayloadOf("http://a/", 200405), "one");
  EXPECT_EQ(PayloadOf("http://c/", 200407), "one");
  EXPECT_EQ(PayloadOf("http://d/", 200408), "one");
  EXPECT_EQ(plan_.heirs.size(), 1u);  // the other finds the original by its digest
  ExpectNoDefects();
}

TEST_F(DependentsTest, W15_WhatWasCutOffIsSoWhereItIsInherited) {
  Import(Response("1", "http://a/", "2004-05-01T00:00:00Z", "cut o", "WARC-Truncated: length\r\n") +
         Revisit("2", "http://b/", "2004-06-01T00:00:00Z", kIdentical + RefersTo("1")));
  Drop(OfBatch(200405));
  const ArchiveView view = archive_->View();
  CaptureResults results(view, All());
  const catalog::HeldCapture* heir = *results.Next();
  ASSERT_NE(heir, nullptr);
  EXPECT_EQ(heir->row.flags & (catalog::kTruncated | catalog::kRevisit), catalog::kTruncated);
}

TEST_F(DependentsTest, W15_NothingGoesWhileItIsNotKnownWhoNeedsIt) {
  Import(Response("1", "http://x/", "2004-04-01T00:00:00Z", "elsewhere"));
  Import(Response("2", "http://a/", "2004-05-01T00:00:00Z", "one"));
  Import(Revisit("3", "http://b/", "2004-06-01T00:00:00Z", kIdentical + Sha1("one")) +
         Revisit("4", "http://c/", "2004-06-02T00:00:00Z", kIdentical + RefersTo("gone")));
  ASSERT_TRUE(fs_.Remove("a/volumes/main/00000001.rows"));
  const auto refused = PlanRemoval(archive_->View(), Of("http://a/"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
  for (const char* part : {"container 1", "00000001.rows", "stele reindex", "nothing was taken"}) {
    EXPECT_NE(refused.error().text.find(part), std::string::npos) << refused.error().text;
  }
  // What is found in spite of it is.
  EXPECT_EQ(PayloadOf("http://b/", 200406), "one");
  archive_.reset();
  archive_ = *lab_.Open(ArchiveWriter::Rebuild::kCatalogAndRows);
  Drop(Of("http://a/"));
  EXPECT_EQ(PayloadOf("http://b/", 200406), "one");
}

TEST_F(DependentsTest, W15_AFileThatIsAwayIsNoRevisitWithoutAnOriginal) {
  Import(Response("1", "http://a/", "2004-05-01T00:00:00Z", "one"));
  Import(Revisit("2", "http://b/", "2004-06-01T00:00:00Z", kIdentical + Sha1("one")));
  ASSERT_TRUE(fs_.Rename("a/volumes/main/00000002/2.warc", "away.warc"));
  const auto refused = PlanRemoval(archive_->View(), Of("http://a/"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
  EXPECT_NE(refused.error().text.find("bring its volume back"), std::string::npos)
      << refused.error().text;
}

TEST_F(DependentsTest, I7_ADamagedOriginalCanBeTakenDown) {
  Import(Response("1", "http://a/", "2004-05-01T00:00:00Z", "one payload") +
         Revisit("2", "http://b/", "2004-06-01T00:00:00Z",
                 kIdentical + RefersTo("http://a/", "2004-05-01T00:00:00Z")));
  std::string bytes = *io::ReadFile(fs_, "a/volumes/main/00000001/1.warc");
  bytes[bytes.find("one payload")] ^= 1;
  PutFile(fs_, "a/volumes/main/00000001/1.warc", bytes);
  const auto plan = PlanRemoval(archive_->View(), Of("http://a/"));
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_TRUE(plan->heirs.empty());
  ASSERT_EQ(plan->lost.size(), 1u);
  EXPECT_EQ(plan->lost[0].revisit.row.url, "http://b/");
  ASSERT_TRUE(CarryOut(*archive_, *plan, {"because", ""}, clock_, random_));
  EXPECT_EQ(Lines(archive_->View()),
            std::vector<std::string>{"200406/0 http://b/ 20040601000000000"});
}

TEST_F(DependentsTest, I7_ByDigestTakesOnlyTheRevisitsThatWereAskedFor) {
  Import(Response("1", "http://a.example/", "2004-05-01T00:00:00Z", "virus", Sha1("virus")) +
         Revisit("2", "http://a.example/", "2004-06-01T00:00:00Z", kIdentical + RefersTo("1")) +
         Revisit("3", "http://b.example/", "2004-06-01T00:00:00Z", kIdentical + Sha1("virus")) +
         Revisit("4", "http://c.example/", "2004-06-01T00:00:00Z", kIdentical + RefersTo("2")));
  CaptureQuery query;
  query.where.what = catalog::SelectHost("a.example");
  Drop(query, DigestOf(DigestAlgorithm::kSha1, "virus"));
  EXPECT_EQ(plan_.captures.size(), 2u);
  EXPECT_EQ(PayloadOf("http://b.example/", 200406), "virus");
  EXPECT_EQ(PayloadOf("http://c.example/", 200406), "virus");
  Drop(All(), DigestOf(DigestAlgorithm::kSha1, "virus"));
  EXPECT_TRUE(plan_.heirs.empty());
  EXPECT_TRUE(Lines(archive_->View()).empty());
}

}  // namespace
}  // namespace stele::archive
