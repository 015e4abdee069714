#include "dedup/digest_index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "archive/test_archive.h"
#include "codec/gzip_codec.h"
#include "dedup/duplicate_finder.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "util/digest.h"
#include "util/test_paths.h"

namespace stele::dedup {
namespace {

using archive::testing::PutFile;
using archive::testing::WarcText;

catalog::Sha1Bytes Sha1Of(std::string_view content) {
  const Digest digest = DigestOf(DigestAlgorithm::kSha1, content);
  catalog::Sha1Bytes bytes;
  std::copy(digest.bytes().begin(), digest.bytes().end(), bytes.begin());
  return bytes;
}

PayloadDigest DigestOfContent(std::string_view content) {
  return {.sha1 = Sha1Of(content), .sha256 = {}};
}

std::string LogLine(const std::string& url, const std::string& time, const std::string& content,
                    const std::string& annotations = "-", const std::string& extra = "",
                    const std::string& type = "image/png", int status = 200) {
  return fmt::format(
      "2006-03-01T00:00:00.000Z {:>5} {:>10} {} L http://via/ {} #001 {}+5 {} - {}{}{}\n", status,
      content.size(), url, type, time, DigestOf(DigestAlgorithm::kSha1, content).Labelled(),
      annotations, extra.empty() ? "" : " ", extra);
}

class DigestIndexing : public ::testing::Test {
 protected:
  // Builds an index of these files.
  DigestIndexBuilder::Counts Build(const std::vector<std::string>& files,
                                   DigestIndexOptions options = {}, bool add = false) {
    DigestIndexBuilder builder(fs_, "index", std::move(options));
    EXPECT_TRUE(!add || builder.AddIndex("index"));
    for (const std::string& file : files) {
      auto documents = ReadDocuments(fs_, file);
      EXPECT_TRUE(documents && builder.Add(**documents)) << file;
    }
    const auto summary = builder.Finish();
    EXPECT_TRUE(summary) << summary.error().text;
    Open();
    return builder.counts();
  }
  void Open() {
    auto index = DigestIndex::Open(fs_, "index", cache_);
    ASSERT_TRUE(index) << index.error().text;
    index_ = *std::move(index);
  }
  void PutLog(const std::string& path, const std::string& text) { PutFile(fs_, path, text); }

  io::MemoryFileSystem fs_;
  catalog::PageCache cache_{1 << 20};
  std::unique_ptr<DigestIndex> index_;
};

TEST_F(DigestIndexing, D1_WhatWasCutOffIsLeftOut) {
  PutFile(fs_, "crawl.log",
          LogLine("http://a.is/1", "20060301100000000", "one", "lenTrunc") +
              LogLine("http://a.is/2", "20060301100000000", "two", "2t,disconnectTrunc") +
              LogLine("http://a.is/3", "20060301100000000", "three", "3t"));
  std::string warc = WarcText(record::Compression::kNone)
                         .Response("http://a.is/4", "2006-03-01T10:00:00Z", "four")
                         .bytes();
  warc.insert(warc.find("Content-Length"), "WARC-Truncated: time\r\n");
  PutFile(fs_, "a.warc", warc);
  EXPECT_EQ(Build({"crawl.log", "a.warc"}).indexed, 1u);
  EXPECT_EQ(index_->ByDigest(DigestOfContent("three"))->front().url, "http://a.is/3");
}

TEST_F(DigestIndexing, D1_ACrawlLogGivesUrlDigestAndTime) {
  PutLog("crawl.log",
         LogLine("http://a.is/1.png", "20060301100000123", "one") +
             LogLine("http://a.is/2.png", "20060301100001000", "two") +
             LogLine("http://a.is/gone", "20060301100002000", "gone", "-", "", "image/png", 404) +
             LogLine("dns:a.is", "20060301100002000", "x", "-", "", "text/dns", 1));
  const auto counts = Build({"crawl.log"});
  EXPECT_EQ(counts.indexed, 2u);
  EXPECT_EQ(index_->summary().documents, 2u);
  const auto found = index_->ByUrl("http://a.is/1.png");
  ASSERT_TRUE(found) << found.error().text;
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().url, "http://a.is/1.png");
  EXPECT_EQ(FormatDigits17(found->front().time), "20060301100000123");
  EXPECT_EQ(found->front().digest.sha1, Sha1Of("one"));
  EXPECT_TRUE(index_->ByUrl("http://a.is/1")->empty());
  EXPECT_TRUE(index_->ByUrl("http://a.is/gone")->empty());
  EXPECT_EQ(*index_->NewestWith("http://a.is/1.png", DigestOfContent("one"), false), *found);
  EXPECT_TRUE(index_->NewestWith("http://a.is/1.png", DigestOfContent("two"), true)->empty());
  EXPECT_EQ(index_->ByDigest(DigestOfContent("two"))->front().url, "http://a.is/2.png");
  EXPECT_TRUE(index_->ByDigest(DigestOfContent("three"))->empty());
}

TEST_F(DigestIndexing, D1_AWarcFileGivesTheSameIndexAsItsCrawlLog) {
  WarcText warc;
  std::string log;
  for (int i = 0; i < 300; ++i) {
    const std::string url = fmt::format("http://a.is/{}.png", i);
    const std::string content = fmt::format("content {}", i % 7);
    warc.Response(url, "2006-03-01T10:00:00Z", content, "image/png");
    log += LogLine(url, "20060301100000000", content);
  }
  PutFile(fs_, "crawl.warc.gz", warc.bytes());
  PutLog("crawl.log", log);
  Build({"crawl.warc.gz"});
  std::map<std::string, KnownDocument> from_warc;
  for (int i = 0; i < 300; ++i) {
    const std::string url = fmt::format("http://a.is/{}.png", i);
    const auto found = index_->ByUrl(url);
    ASSERT_EQ(found->size(), 1u);
    EXPECT_FALSE(found->front().record_id.empty());
    from_warc[url] = found->front();
    from_warc[url].record_id.clear();  // which no log has
  }
  Build({"crawl.log"});
  for (const auto& [url, document] : from_warc) EXPECT_EQ(index_->ByUrl(url)->front(), document);
}

TEST_F(DigestIndexing, D1_EtagAndLastModifiedAreKeptOnRequest) {
  const std::string extra = R"({"etag":"\"v1\"","lastModified":"Sun, 26 Jan 2014 20:06:23 GMT"})";
  PutLog("crawl.log", LogLine("http://a.is/", "20060301100000000", "one", "-", extra));
  Build({"crawl.log"});
  EXPECT_EQ(index_->ByUrl("http://a.is/")->front().etag, "");
  Build({"crawl.log"}, {.with_etag = true});
  EXPECT_EQ(index_->ByUrl("http://a.is/")->front().etag, "\"v1\"");
  EXPECT_EQ(index_->ByUrl("http://a.is/")->front().last_modified, "Sun, 26 Jan 2014 20:06:23 GMT");
}

TEST_F(DigestIndexing, D1_TypesSizesAndModesAreAsAsked) {
  PutLog("crawl.log", LogLine("http://a.is/1", "20060301100000000", "one", "-", "", "text/html") +
                          LogLine("http://a.is/2", "20060301100000000", "2", "-", "", "image/gif") +
                          LogLine("http://a.is/3", "20060301100000000", "three"));
  const auto media = MediaFilter::Create("^text/.*", MediaFilter::Mode::kBlacklist);
  const auto counts = Build({"crawl.log"}, {.by_digest = false, .media = *media, .size_min = 3});
  EXPECT_EQ(counts.indexed, 1u);
  EXPECT_EQ(counts.skipped, 2u);
  EXPECT_EQ(index_->ByUrl("http://a.is/3")->size(), 1u);
  const auto refused = index_->ByDigest(DigestOfContent("three"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  Build({"crawl.log"}, {.by_url = false});
  EXPECT_FALSE(index_->ByUrl("http://a.is/3"));
  EXPECT_EQ(index_->summary().documents, 3u);
}

TEST_F(DigestIndexing, D1_ByDigestAloneTheUrlOfADocumentIsKnownToo) {
  PutLog("crawl.log", LogLine("http://a.is/12", "20060301100000000", "one") +
                          LogLine("http://a.is/3", "20060301100000000", "three"));
  Build({"crawl.log"}, {.by_url = false});
  const PayloadDigest one = DigestOfContent("one");
  EXPECT_EQ(index_->NewestWith("http://a.is/12", one, true)->size(), 1u);
  for (const char* other : {"http://a.is/1", "http://a.is/123", "http://a.is/3"}) {
    EXPECT_TRUE(index_->NewestWith(other, one, true)->empty()) << other;
  }
  EXPECT_EQ(index_->ByDigest(one)->size(), 1u);
  EXPECT_TRUE(index_->CheckFor(false, true));
  EXPECT_FALSE(index_->CheckFor(true, true));
}

TEST_F(DigestIndexing, D5_WhatRepeatedAnotherUrlIsExactWhereItComesAgain) {
  WarcText warc;
  warc.Response("http://a.is/1", "2006-03-01T00:00:00Z", "one", "image/png");
  warc.Revisit("http://b.is/2", "2006-03-01T00:00:01Z", "one", "http://a.is/1",
               "2006-03-01T00:00:00Z", "");
  PutFile(fs_, "crawl.warc.gz", warc.bytes());
  for (const bool by_url : {true, false}) {
    Build({"crawl.warc.gz"}, {.by_url = by_url});
    DuplicateFinder finder({.by = DuplicateRules::By::kDigest}, index_.get(), nullptr);
    CrawledDocument again;
    again.url = "http://b.is/2";
    again.length = 3;
    again.known.digest = DigestOfContent("one");
    const auto verdict = finder.Judge(again);
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->hit, Hit::kExact);
    EXPECT_EQ(verdict->original->url, "http://a.is/1");
    again.url = "http://b.is/";
    EXPECT_EQ(finder.Judge(again)->hit, Hit::kMirror);
  }
}

TEST_F(DigestIndexing, D1_EquivalentUrlsAreFoundWithTheSameDigest) {
  PutLog("crawl.log", LogLine("http://www.a.is/x?session=1", "20060301100000000", "one") +
                          LogLine("http://a.is/x/", "20060301100000000", "two"));
  Build({"crawl.log"}, {.equivalent = EquivalentRule::kStrip});
  const auto found = index_->ByEquivalentUrl("http://a.is/x?session=2", DigestOfContent("one"));
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().url, "http://www.a.is/x?session=1");
  EXPECT_TRUE(
      index_->ByEquivalentUrl("http://a.is/x?session=2", DigestOfContent("other"))->empty());
  for (const bool with_filter : {false, true}) {
    if (with_filter) {
      ASSERT_TRUE(index_->LoadFilter());
    }
    const PayloadDigest one = DigestOfContent("one");
    const auto newest = index_->NewestWith("http://a.is/x?session=2", one, true);
    ASSERT_EQ(newest->size(), 1u);
    EXPECT_TRUE(newest->front().is_equivalent);
    EXPECT_EQ(newest->front().url, found->front().url);
    EXPECT_TRUE(index_->NewestWith("http://a.is/x?session=2", one, false)->empty());
    EXPECT_EQ(index_->NewestWith("http://www.a.is/x?session=1", one, true)->size(), 1u);
    EXPECT_TRUE(index_->NewestWith("http://a.is/y", one, true)->empty());
  }
}

TEST_F(DigestIndexing, D1_DuplicatesAreCarriedForwardWithTheirOrigin) {
  PutLog("1.log", LogLine("http://a.is/1", "20060301100000000", "one"));
  Build({"1.log"}, {.origin = "march"});
  // The second crawl found it unchanged.
  PutLog("2.log", LogLine("http://a.is/1", "20060501100000000", "one", "duplicate:\"march\""));
  Build({"2.log"}, {.origin = "may"}, /*add=*/true);
  const auto found = index_->ByUrl("http://a.is/1");
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().origin, "march");
  EXPECT_EQ(FormatDigits14(found->front().time), "20060301100000");
  EXPECT_EQ(FormatDigits14(found->front().seen), "20060501100000");
  // Also without the first index: the log has the origin.
  Build({"2.log"}, {.origin = "may"});
  EXPECT_EQ(index_->ByUrl("http://a.is/1")->front().origin, "march");
  EXPECT_EQ(index_->summary().duplicates, 1u);
  Build({"2.log"}, {.carry_duplicates = false});
  EXPECT_TRUE(index_->ByUrl("http://a.is/1")->empty());
}

TEST_F(DigestIndexing, D1_ADuplicateOfNobodyKnowsWhatIsCountedAndLeftOut) {
  PutLog("2.log", LogLine("http://a.is/1", "20060501100000000", "one", "duplicate:digest"));
  const auto counts = Build({"2.log"});
  EXPECT_EQ(counts.unresolved, 1u);
  EXPECT_EQ(index_->summary().documents, 0u);
  // Where the index that is added to knows the original, it is seen again.
  PutLog("1.log", LogLine("http://a.is/1", "20060301100000000", "one"));
  Build({"1.log"});
  EXPECT_EQ(Build({"2.log"}, {}, /*add=*/true).unresolved, 0u);
  EXPECT_EQ(FormatDigits14(index_->ByUrl("http://a.is/1")->front().time), "20060301100000");
  EXPECT_EQ(FormatDigits14(index_->ByUrl("http://a.is/1")->front().seen), "20060501100000");
}

TEST_F(DigestIndexing, D1_RevisitRecordsLeadToTheirOriginals) {
  WarcText warc;
  warc.Revisit("http://a.is/2", "2006-05-01T00:00:00Z", "one", "http://a.is/1",
               "2006-03-01T00:00:00Z", "<urn:uuid:8d8b5e7c-6c2f-4a8e-9a3c-0123456789ab>");
  PutFile(fs_, "x.warc.gz", warc.bytes());
  Build({"x.warc.gz"});
  const auto found = index_->ByUrl("http://a.is/2");
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().url, "http://a.is/1");
  EXPECT_EQ(found->front().record_id, "<urn:uuid:8d8b5e7c-6c2f-4a8e-9a3c-0123456789ab>");
  EXPECT_EQ(FormatDigits14(found->front().time), "20060301000000");
  EXPECT_EQ(FormatDigits14(found->front().seen), "20060501000000");
}

TEST_F(DigestIndexing, D1_OtherOptionsThanThoseOfTheIndexAddedToAreRefused) {
  PutLog("1.log", LogLine("http://a.is/1", "20060301100000000", "one"));
  Build({"1.log"});
  DigestIndexBuilder builder(fs_, "index", {.by_url = false});
  const Status refused = builder.AddIndex("index");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
}

TEST_F(DigestIndexing, D1_ACompressedCrawlLogIsReadAsItIs) {
  std::string packed;
  for (const char* name : {"1", "2"}) {
    packed += *codec::GzipCodec().Compress(
        LogLine(std::string("http://a.is/") + name, "20060301100000000", name), 6);
  }
  PutFile(fs_, "crawl.log.gz", packed);
  EXPECT_EQ(Build({"crawl.log.gz"}).indexed, 2u);
  EXPECT_EQ(index_->ByUrl("http://a.is/2")->size(), 1u);
  for (const std::size_t size : {packed.size() - 1, packed.size() - 30}) {
    PutFile(fs_, "cut.log.gz", packed.substr(0, size));
    const auto documents = ReadDocuments(fs_, "cut.log.gz");
    DigestIndexBuilder builder(fs_, "of-less", {});
    EXPECT_FALSE(documents && builder.Add(**documents)) << size;
  }
}

TEST_F(DigestIndexing, D1_WhatIsNoCrawlIsRefused) {
  PutFile(fs_, "x", "some text\nand more\n");
  const auto refused = ReadDocuments(fs_, "x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
}

TEST_F(DigestIndexing, D1_TheOldIndexStaysUntilTheNewOneIsWhole) {
  PutLog("1.log", LogLine("http://a.is/1", "20060301100000000", "one"));
  PutLog("2.log", LogLine("http://a.is/2", "20060301100000000", "two"));
  Build({"1.log"});
  fs_.SyncAll();
  for (int fail_at = 1;; ++fail_at) {
    SCOPED_TRACE(fail_at);
    bool finished = false;
    {
      io::FaultFileSystem fs(fs_, fail_at);
      DigestIndexBuilder builder(fs, "index", {});
      auto documents = ReadDocuments(fs, "2.log");
      finished =
          documents && builder.Add(**documents) && builder.AddIndex("index") && builder.Finish();
    }
    Open();
    EXPECT_EQ(index_->ByUrl("http://a.is/1")->size(), 1u);
    if (finished) break;
    ASSERT_LT(fail_at, 1000);
  }
  EXPECT_EQ(index_->ByUrl("http://a.is/2")->size(), 1u);
}

TEST_F(DigestIndexing, D1_AFlippedBitIsFound) {
  std::string log;
  for (int i = 0; i < 1000; ++i) {
    log += LogLine(fmt::format("http://a.is/{}", i), "20060301100000000", std::to_string(i));
  }
  PutLog("1.log", log);
  Build({"1.log"});
  std::string bytes = *io::ReadFile(fs_, "index");
  bytes[bytes.size() / 3] ^= 1;
  PutFile(fs_, "index", bytes);
  auto index = DigestIndex::Open(fs_, "index", cache_);
  bool found = !index;
  for (int i = 0; i < 1000 && !found; ++i) {
    const auto documents = (*index)->ByUrl(fmt::format("http://a.is/{}", i));
    found = !documents && documents.error().code == ErrorCode::kCorrupt;
    const auto by_digest = (*index)->ByDigest(DigestOfContent(std::to_string(i)));
    found = found || (!by_digest && by_digest.error().code == ErrorCode::kCorrupt);
  }
  EXPECT_TRUE(found);
}

TEST_F(DigestIndexing, D7_AFilterChangesNoAnswer) {
  std::string log;
  for (int i = 0; i < 1000; ++i) {
    log += LogLine(fmt::format("http://www.a.is/{}", i), "20060301100000000", std::to_string(i));
  }
  PutLog("1.log", log);
  Build({"1.log"}, {.equivalent = EquivalentRule::kStrip});
  const auto answers = [&] {
    std::vector<std::vector<KnownDocument>> all;
    for (int i = 0; i < 2000; ++i) {
      for (const std::string& host :
           {std::string("www.a.is"), std::string("a.is"), std::string("a\0.is", 5)}) {
        const std::string url = fmt::format("http://{}/{}", host, i % 1500);
        const PayloadDigest digest = DigestOfContent(std::to_string(i));
        all.push_back(*index_->NewestWith(url, digest, false));
        all.push_back(*index_->NewestWith(url, digest, true));
        all.push_back(*index_->ByEquivalentUrl(url, digest));
        all.push_back(*index_->ByDigest(digest));
        all.push_back(*index_->ByUrl(url));
      }
    }
    return all;
  };
  const auto without = answers();
  EXPECT_TRUE(index_->MayHave(DigestOfContent("nobody has this")));
  ASSERT_TRUE(index_->LoadFilter());
  EXPECT_EQ(answers(), without);
  EXPECT_FALSE(index_->MayHave(DigestOfContent("nobody has this")));
  std::string bytes = *io::ReadFile(fs_, "index");
  bytes[bytes.size() / 3] ^= 1;
  PutFile(fs_, "index", bytes);
  Open();
  EXPECT_EQ(index_->LoadFilter().error().code, ErrorCode::kCorrupt);
}

// What version 1 wrote is read for ever.
TEST_F(DigestIndexing, D1_TheGoldenFileIsRead) {
  std::ifstream file(SourcePath("src/dedup/golden/digests-1"), std::ios::binary);
  ASSERT_TRUE(file);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  PutFile(fs_, "index", bytes);
  Open();
  EXPECT_EQ(index_->summary().documents, 2u);
  EXPECT_EQ(index_->summary().equivalent, EquivalentRule::kStrip);
  const auto found = index_->ByUrl("http://www.a.is/1?x");
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().origin, "march");
  EXPECT_EQ(found->front().etag, "\"v1\"");
  EXPECT_EQ(index_->ByEquivalentUrl("http://a.is/1", DigestOfContent("one"))->size(), 1u);
  EXPECT_EQ(index_->ByDigest(DigestOfContent("two"))->front().url, "http://a.is/2");
}

}  // namespace
}  // namespace stele::dedup
