#include "archive/dependents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/purge.h"
#include "archive/removal.h"
#include "archive/revisit_resolver.h"
#include "archive/test_archive.h"
#include "archive/verify.h"
#include "archive/whole_block.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using ::testing::HasSubstr;
using testing::Lines;
using testing::PutFile;

constexpr const char* kNotModified =
    "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n";
constexpr const char* kIdentical =
    "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n";

// A plain record with these fields and no others.
std::string RecordText(const std::string& type, const std::string& id, const std::string& url,
                       const std::string& date, const std::string& fields,
                       const std::string& block) {
  return fmt::format(
      "WARC/1.1\r\nWARC-Type: {}\r\nWARC-Record-ID: <urn:x:{}>\r\nWARC-Target-URI: {}\r\n"
      "WARC-Date: {}\r\n{}Content-Type: application/http; msgtype=response\r\n"
      "Content-Length: {}\r\n\r\n{}\r\n\r\n",
      type, id, url, date, fields, block.size(), block);
}
std::string Response(const std::string& id, const std::string& url, const std::string& date,
                     const std::string& body, const std::string& fields = "") {
  return RecordText("response", id, url, date, fields,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body);
}
std::string Revisit(const std::string& id, const std::string& url, const std::string& date,
                    const std::string& fields, int status = 200) {
  return RecordText("revisit", id, url, date, fields,
                    fmt::format("HTTP/1.1 {} Any\r\nContent-Type: text/html\r\n\r\n", status));
}
std::string Claim(DigestAlgorithm algorithm, const std::string& body) {
  return fmt::format("WARC-Payload-Digest: {}\r\n", DigestOf(algorithm, body).Labelled());
}
std::string Sha1(const std::string& body) { return Claim(DigestAlgorithm::kSha1, body); }
std::string RefersTo(const std::string& url, const std::string& date) {
  return fmt::format("WARC-Refers-To-Target-URI: {}\r\nWARC-Refers-To-Date: {}\r\n", url, date);
}
std::string RefersTo(const std::string& id) {
  return fmt::format("WARC-Refers-To: <urn:x:{}>\r\n", id);
}

class DependentsTest : public ::testing::Test {
 protected:
  void Import(const std::string& bytes) {
    if (archive_ == nullptr) {
      ASSERT_TRUE(lab_.Create());
      archive_ = *lab_.Open();
    }
    const std::string path = fmt::format("{}.warc", ++files_);
    PutFile(fs_, path, bytes);
    const auto run = archive_->BeginRun("import", "");
    ASSERT_TRUE(run);
    const auto imported = ImportFile(*archive_, *run, path, {});
    ASSERT_TRUE(imported) << imported.error().text;
    ASSERT_TRUE(archive_->EndRun(*run));
  }

  static CaptureQuery All() {
    CaptureQuery query;
    query.where.what = catalog::SelectAll();
    return query;
  }
  static CaptureQuery Of(const std::string& url) {
    CaptureQuery query;
    query.where.what = catalog::SelectUrl(url);
    return query;
  }
  static CaptureQuery OfBatch(std::uint32_t batch) {
    CaptureQuery query = All();
    query.batch = batch;
    return query;
  }

  // Takes down and purges.
  void Drop(const CaptureQuery& query, const std::optional<Digest>& payload = std::nullopt) {
    auto plan = PlanRemoval(archive_->View(), query, payload);
    ASSERT_TRUE(plan) << plan.error().text;
    plan_ = *plan;
    const auto removal = CarryOut(*archive_, *plan, {"because", ""}, clock_, random_);
    ASSERT_TRUE(removal) << removal.error().text;
    const auto purged = PurgeRemoved(*archive_);
    ASSERT_TRUE(purged) << purged.error().text;
  }

  // The payload of the only capture of a URL and month, or why there is none.
  std::string PayloadOf(const std::string& url, std::uint32_t batch) {
    const ArchiveView view = archive_->View();
    CaptureQuery query = Of(url);
    query.batch = batch;
    CaptureResults results(view, query);
    const auto held = results.Next();
    if (!held) return held.error().text;
    if (*held == nullptr) return "no such capture";
    const bool is_revisit = ((*held)->row.flags & catalog::kRevisit) != 0;
    const Result<catalog::HeldCapture> original =
        is_revisit ? RevisitResolver(view).Resolve(**held) : Result<catalog::HeldCapture>(**held);
    if (!original) return original.error().text;
    const auto stored = view.Open(original->row);
    if (!stored) return stored.error().text;
    std::string block;
    const Status read = ForEachPiece(**stored, 0, [&](std::string_view piece) -> Status {
      block += piece;
      return {};
    });
    if (!read) return read.error().text;
    return block.substr(block.find("\r\n\r\n") + 4);
  }

  void ExpectNoDefects() {
    const ArchiveView view = archive_->View();
    const auto outcome =
        Verify(view, {}, [](const std::string& defect) { ADD_FAILURE() << defect; });
    ASSERT_TRUE(outcome) << outcome.error().text;
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  io::ManualClock clock_{testing::kNow};
  io::SeededRandom random_{5};
  std::unique_ptr<ArchiveWriter> archive_;
  RemovalPlan plan_;
  int files_ = 0;
};

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
