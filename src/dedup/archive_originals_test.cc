#include "dedup/archive_originals.h"

#include <gtest/gtest.h>

#include <cstring>

#include "archive/run_writer.h"
#include "archive/test_archive.h"
#include "archive/test_crawl.h"
#include "dedup/document_reader.h"
#include "dedup/duplicate_finder.h"
#include "io/fault_file_system.h"

namespace stele::dedup {
namespace {

using archive::testing::ArchiveLab;
using archive::testing::CrawlTime;
using archive::testing::Fetched;

class Originals : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    archive_ = *lab_.Open();
    ASSERT_TRUE(archive_->BeginRun("crawl", ""));
    writer_ = std::make_unique<archive::RunWriter>(*archive_, 1, archive::RunWriterOptions{});
  }
  catalog::CaptureId Write(const std::string& url, int time, const std::string& body,
                           std::optional<archive::RevisitOriginal> revisit = {},
                           const std::string& head = "200 OK\r\nETag: \"v1\"") {
    archive::CrawledCapture capture = Fetched(time, body);
    capture.url = url;
    capture.revisit = std::move(revisit);
    capture.response = archive::WireMessage::InMemory("HTTP/1.1 " + head +
                                                      "\r\nContent-Type: text/html\r\n\r\n" + body);
    const auto id = writer_->AppendAndWait(capture);
    EXPECT_TRUE(id) << id.error().text;
    return *id;
  }
  std::unique_ptr<ArchiveOriginals> NewOriginals() {
    return std::make_unique<ArchiveOriginals>([this] { return archive_->View(); });
  }
  static PayloadDigest DigestOfBody(const std::string& body) {
    const auto facts =
        archive::ExamineResponse(archive::WireMessage::InMemory("HTTP/1.1 200 OK\r\n\r\n" + body));
    return {.sha1 = facts->sha1, .sha256 = facts->sha256};
  }

  static constexpr std::size_t kInMemory = 1'000;

  io::MemoryFileSystem fs_;
  std::unique_ptr<DigestTable> digests_ = *DigestTable::Create(fs_, "digests", kInMemory);
  ArchiveLab lab_{fs_};
  std::unique_ptr<archive::ArchiveWriter> archive_;
  std::unique_ptr<archive::RunWriter> writer_;
};

TEST_F(Originals, D2_CapturesOfAUrlComeTheNewestFirst) {
  Write("http://a.is/1", 1, "one");
  Write("http://a.is/1", 2, "two");
  Write("http://a.is/2", 3, "three");
  const auto originals = NewOriginals();
  const auto found = originals->ByUrl("http://a.is/1");
  ASSERT_TRUE(found) << found.error().text;
  ASSERT_EQ(found->size(), 2u);
  EXPECT_TRUE((*found)[0].digest.SameAs(DigestOfBody("two")));
  EXPECT_TRUE((*found)[1].digest.SameAs(DigestOfBody("one")));
  EXPECT_TRUE(originals->ByUrl("http://a.is/3")->empty());
  ASSERT_EQ(originals->NewestByUrl("http://a.is/1")->size(), 1u);
  EXPECT_EQ(originals->NewestByUrl("http://a.is/1")->front(), found->front());
  EXPECT_TRUE(originals->NewestByUrl("http://a.is/3")->empty());
  const auto with_payload = originals->NewestWith("http://a.is/1", DigestOfBody("one"), false);
  ASSERT_EQ(with_payload->size(), 1u);
  EXPECT_EQ(with_payload->front(), found->back());
  EXPECT_TRUE(originals->NewestWith("http://a.is/1", DigestOfBody("three"), true)->empty());
}

TEST_F(Originals, D2_CapturesOfOneMomentAreAllFound) {
  Write("http://a.is/1", 1, "one");
  Write("http://www.a.is/1", 1, "two");
  const auto originals = NewOriginals();
  EXPECT_TRUE(originals->NewestByUrl("http://a.is/1")->front().digest.SameAs(DigestOfBody("one")));
  EXPECT_EQ(originals->NewestByUrl("http://www.a.is/1")->size(), 1u);
  EXPECT_EQ(originals->ByEquivalentUrl("http://a.is/1", DigestOfBody("two"))->size(), 1u);
}

TEST_F(Originals, D2_EquivalentUrlsShareAKey) {
  Write("http://www.a.is/x?b=2&a=1", 1, "one");
  const auto originals = NewOriginals();
  EXPECT_TRUE(originals->ByUrl("https://a.is/x?a=1&b=2")->empty());
  const auto found = originals->ByEquivalentUrl("https://a.is/x?a=1&b=2", DigestOfBody("one"));
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().url, "http://www.a.is/x?b=2&a=1");
  EXPECT_TRUE(originals->ByEquivalentUrl("https://a.is/x?a=1&b=2", DigestOfBody("two"))->empty());
  EXPECT_TRUE(
      originals->ByEquivalentUrl("http://www.a.is/x?b=2&a=1", DigestOfBody("one"))->empty());
}

TEST_F(Originals, D2_AnEquivalentUrlCountsWhereTheUrlItselfHasNotThePayload) {
  Write("http://www.a.is/1", 1, "one");
  Write("http://a.is/1", 2, "one");
  Write("http://www.a.is/1", 3, "one");
  Write("http://www.a.is/1", 4, "two");
  const auto originals = NewOriginals();
  const auto exact = originals->NewestWith("http://a.is/1", DigestOfBody("one"), true);
  ASSERT_EQ(exact->size(), 1u);
  EXPECT_EQ(exact->front().url, "http://a.is/1");
  const auto other = originals->NewestWith("http://a.is/1", DigestOfBody("two"), true);
  ASSERT_EQ(other->size(), 1u);
  EXPECT_EQ(other->front().url, "http://www.a.is/1");
  EXPECT_TRUE(originals->NewestWith("http://a.is/1", DigestOfBody("two"), false)->empty());
}

TEST_F(Originals, D2_DigestsAreFoundAtAnyUrlAlsoThoseOfThisRun) {
  Write("http://a.is/1", 1, "one");
  const auto originals = NewOriginals();
  EXPECT_TRUE(originals->ByDigest(DigestOfBody("one"))->empty());
  ASSERT_TRUE(originals->LoadDigests(*digests_));
  EXPECT_EQ(originals->ByDigest(DigestOfBody("one"))->front().url, "http://a.is/1");
  const catalog::CaptureId id = Write("http://a.is/2", 2, "two");
  EXPECT_TRUE(originals->ByDigest(DigestOfBody("two"))->empty());
  originals->Learn(id, DigestOfBody("two"));
  EXPECT_EQ(originals->ByDigest(DigestOfBody("two"))->front().url, "http://a.is/2");
}

TEST_F(Originals, D7_APayloadThatNobodyHasIsKnownToBeNew) {
  Write("http://a.is/1", 1, "one");
  const auto originals = NewOriginals();
  EXPECT_TRUE(originals->MayHave(DigestOfBody("two")));
  ASSERT_TRUE(originals->LoadDigests(*digests_));
  EXPECT_TRUE(originals->MayHave(DigestOfBody("one")));
  EXPECT_FALSE(originals->MayHave(DigestOfBody("two")));
  EXPECT_TRUE(originals->MayHave({.sha1 = DigestOfBody("two").sha1, .sha256 = {}}));
  originals->Learn(Write("http://a.is/2", 2, "two"), DigestOfBody("two"));
  EXPECT_TRUE(originals->MayHave(DigestOfBody("two")));
}

// Of a digest that nobody asks for.
PayloadDigest SomeDigest(std::uint64_t number) {
  PayloadDigest digest;
  digest.sha256.emplace();
  std::memcpy(digest.sha256->data(), &number, sizeof(number));
  return digest;
}

TEST_F(Originals, D2_WhatIsJudgedAnewIsAnOriginalForOtherUrlsOnly) {
  const catalog::CaptureId id = Write("http://a.is/1", 1, "one");
  const auto originals = NewOriginals();
  originals->JudgeAnew({id});
  ASSERT_TRUE(originals->LoadDigests(*digests_));
  EXPECT_TRUE(originals->ByUrl("http://a.is/1")->empty());
  DuplicateFinder finder({.by = DuplicateRules::By::kDigestAnyUrl}, originals.get(), nullptr);
  const auto facts =
      *archive::ExamineResponse(archive::WireMessage::InMemory("HTTP/1.1 200 OK\r\n\r\none"));
  EXPECT_EQ(finder.Judge({.url = "http://a.is/1", .facts = facts})->hit, Hit::kNew);
  const auto other = finder.Judge({.url = "http://a.is/2", .facts = facts});
  EXPECT_EQ(other->hit, Hit::kMirror);
  EXPECT_EQ(other->original->url, "http://a.is/1");
}

TEST_F(Originals, D7_WhatIsLearnedIsFoundHoweverMuchItIs) {
  const auto originals = NewOriginals();
  ASSERT_TRUE(originals->LoadDigests(*digests_));
  const PayloadDigest digest = DigestOfBody("one");
  originals->Learn(Write("http://a.is/1", 1, "one"), digest);
  for (std::size_t i = 0; i < kInMemory; ++i) {
    originals->Learn({1, 1}, SomeDigest(i));
  }
  EXPECT_FALSE(fs_.List("digests")->empty());
  EXPECT_EQ(originals->ByDigest(digest)->front().url, "http://a.is/1");
  EXPECT_TRUE(originals->ByDigest(SomeDigest(1))->empty());
}

TEST_F(Originals, D7_ATableThatTakesNoMoreIsTold) {
  io::FaultFileSystem disk(fs_, 100);
  const auto table = *DigestTable::Create(disk, "full", kInMemory);
  const auto originals = NewOriginals();
  ASSERT_TRUE(originals->LoadDigests(*table));
  disk.FailFromNowOn();
  for (std::size_t i = 0; i < kInMemory; ++i) {
    ASSERT_TRUE(originals->ByDigest(SomeDigest(i)));
    originals->Learn({1, 1}, SomeDigest(i));
  }
  EXPECT_EQ(originals->ByDigest(SomeDigest(1)).error().code, ErrorCode::kIo);
}

TEST_F(Originals, D6_ARevisitLeadsToTheCaptureThatHasThePayload) {
  Write("http://a.is/original", 1, "one");
  Write("http://a.is/again", 2, "one",
        archive::RevisitOriginal{
            .url = "http://a.is/original", .time = CrawlTime(1), .record_id = "", .sha1 = {}});
  const auto originals = NewOriginals();
  auto found = originals->ByUrl("http://a.is/again");
  ASSERT_EQ(found->size(), 1u);
  KnownDocument document = found->front();
  ASSERT_TRUE(originals->TakeHeaders(document));
  ASSERT_TRUE(originals->Complete(document));
  EXPECT_EQ(document.url, "http://a.is/original");
  EXPECT_EQ(document.time, CrawlTime(1));
  EXPECT_EQ(document.seen, CrawlTime(2));
  EXPECT_EQ(document.etag, "\"v1\"");
  EXPECT_TRUE(document.record_id.starts_with("<urn:uuid:"));
  EXPECT_TRUE(document.digest.SameAs(DigestOfBody("one")));
  // And is none for others.
  ASSERT_TRUE(originals->LoadDigests(*digests_));
  EXPECT_EQ(originals->ByDigest(DigestOfBody("one"))->size(), 1u);
}

TEST_F(Originals, D4_NoHeaderIsTrustedWhereAnotherUrlHasThePayload) {
  Write("http://a.is/original", 1, "one");
  Write("http://a.is/mirror", 2, "one",
        archive::RevisitOriginal{
            .url = "http://a.is/original", .time = CrawlTime(1), .record_id = "", .sha1 = {}});
  const auto originals = NewOriginals();
  DuplicateFinder finder({}, originals.get(), nullptr);
  EXPECT_TRUE(*finder.Known("http://a.is/original"));
  EXPECT_FALSE(*finder.Known("http://a.is/mirror"));
}

TEST_F(Originals, D6_TheArchiveIsNotLookedThroughForEachRevisit) {
  Write("http://a.is/original", 1, "one");
  Write("http://a.is/again", 2, "one",
        archive::RevisitOriginal{
            .url = "http://elsewhere.is/", .time = CrawlTime(0), .record_id = "", .sha1 = {}});
  const auto originals = NewOriginals();
  KnownDocument again = originals->ByUrl("http://a.is/again")->front();
  const Status completed = originals->Complete(again);
  ASSERT_FALSE(completed);
  EXPECT_EQ(completed.error().code, ErrorCode::kNotFound);
}

TEST_F(Originals, D4_HeadersAreThoseOfTheUrlItself) {
  Write("http://a.is/original", 1, "one");
  const archive::RevisitOriginal original{
      .url = "http://a.is/original", .time = CrawlTime(1), .record_id = "", .sha1 = {}};
  Write("http://a.is/mirror", 2, "one", original, "200 OK\r\nETag: \"m\"");
  const auto originals = NewOriginals();
  KnownDocument mirror = originals->ByUrl("http://a.is/mirror")->front();
  ASSERT_TRUE(originals->TakeHeaders(mirror));
  EXPECT_EQ(mirror.etag, "\"m\"");
  EXPECT_EQ(mirror.status, 200u);
}

TEST_F(Originals, D4_WhereTheServerSaidThatNothingChangedTheHeadersOfBeforeHold) {
  Write("http://a.is/1", 1, "one");
  archive::RevisitOriginal original{.profile = warc::RevisitProfile::kServerNotModified,
                                    .url = "http://a.is/1",
                                    .time = CrawlTime(1),
                                    .record_id = "",
                                    .sha1 = DigestOfBody("one").sha1};
  Write("http://a.is/1", 2, "", original, "304 Not Modified");
  Write("http://a.is/2", 3, "", original, "304 Not Modified");
  const auto originals = NewOriginals();
  KnownDocument document = originals->ByUrl("http://a.is/1")->front();
  EXPECT_EQ(document.seen, CrawlTime(2));
  ASSERT_TRUE(originals->TakeHeaders(document));
  EXPECT_EQ(document.etag, "\"v1\"");
  EXPECT_EQ(document.status, 200u);
  EXPECT_EQ(document.type, "text/html");
  ASSERT_TRUE(originals->Complete(document));
  EXPECT_EQ(document.time, CrawlTime(1));
  EXPECT_EQ(document.length, 3u);
  // But not those of another URL.
  KnownDocument other = originals->ByUrl("http://a.is/2")->front();
  ASSERT_TRUE(originals->TakeHeaders(other));
  EXPECT_EQ(other.etag, "");
  EXPECT_NE(other.status, 200u);
}

TEST_F(Originals, D6_WhatWasTakenDownIsNoOriginal) {
  const catalog::CaptureId id = Write("http://a.is/1", 1, "one");
  ASSERT_TRUE(writer_->Finish());
  ASSERT_TRUE(archive_->Remove({id}, "a test", ""));
  const auto originals = NewOriginals();
  ASSERT_TRUE(originals->LoadDigests(*digests_));
  EXPECT_TRUE(originals->ByUrl("http://a.is/1")->empty());
  EXPECT_TRUE(originals->ByDigest(DigestOfBody("one"))->empty());
}

TEST_F(Originals, D1_AnArchiveIsReadAsACrawl) {
  Write("http://a.is/original", 1, "one");
  Write("http://a.is/again", 2, "one",
        archive::RevisitOriginal{
            .url = "http://a.is/original", .time = CrawlTime(1), .record_id = "", .sha1 = {}});
  const archive::ArchiveView view = archive_->View();
  const auto documents = ReadArchive(view);
  const auto first = documents->Next();
  ASSERT_TRUE(first && *first != nullptr);
  EXPECT_EQ((*first)->url, "http://a.is/original");
  EXPECT_FALSE((*first)->is_duplicate);
  const auto second = documents->Next();
  ASSERT_TRUE(second && *second != nullptr);
  EXPECT_EQ((*second)->url, "http://a.is/again");
  EXPECT_EQ((*second)->known.url, "http://a.is/original");
  EXPECT_TRUE((*second)->is_duplicate);
  EXPECT_EQ(*documents->Next(), nullptr);
}

}  // namespace
}  // namespace stele::dedup
