#include "study/duplicates.h"

#include <gtest/gtest.h>

#include "archive/test_archive.h"

namespace stele::study {
namespace {

using archive::testing::ArchiveLab;
using archive::testing::PutFile;
using archive::testing::WarcText;

class Duplication : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    archive_ = *lab_.Open();
  }
  // Each file is a run.
  void Import(const WarcText& warc) {
    const auto run = archive_->BeginRun("import", "");
    ASSERT_TRUE(run);
    PutFile(fs_, "x.warc.gz", warc.bytes());
    ASSERT_TRUE(archive::ImportFile(*archive_, *run, "x.warc.gz", {}));
    crawls_.push_back({.name = "run " + std::to_string(*run), .run = *run, .batch = {}});
  }
  std::vector<CrawlDuplication> Result(const archive::CaptureQuery& asked = {}) {
    archive::CaptureQuery filter = asked;
    if (filter.where.what.ranges.empty()) filter.where.what = catalog::SelectAll();
    const archive::ArchiveView view = archive_->View();
    auto result = StudyDuplicates(view, crawls_, filter);
    EXPECT_TRUE(result) << result.error().text;
    return *result;
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  std::unique_ptr<archive::ArchiveWriter> archive_;
  std::vector<StudiedCrawl> crawls_;
};

TEST_F(Duplication, W14_EachCrawlIsComparedWithItselfAndAllBefore) {
  Import(WarcText(record::Compression::kGzip, 1)
             .Response("http://a/1", "2003-01-01T00:00:00Z", "A")
             .Response("http://a/2", "2003-01-01T00:00:01Z", "A")
             .Response("http://a/3", "2003-01-01T00:00:02Z", "B")
             .Response("http://a/4", "2003-01-01T00:00:03Z", ""));
  Import(WarcText(record::Compression::kGzip, 2)
             .Response("http://a/1", "2003-02-01T00:00:00Z", "A")
             .Response("http://a/5", "2003-02-01T00:00:01Z", "C")
             .Response("http://a/5", "2003-02-01T00:00:02Z", "D"));
  Import(WarcText(record::Compression::kGzip, 3)
             .Response("http://a/3", "2003-03-01T00:00:00Z", "B")
             .Revisit("http://a/1", "2003-03-01T00:00:01Z", "A")
             .Response("http://a/5", "2003-03-01T00:00:02Z", "E"));
  const std::vector<CrawlDuplication> result = Result();
  ASSERT_EQ(result.size(), 3u);
  EXPECT_EQ(result[0], (CrawlDuplication{.name = "run 1",
                                         .begin = *ParseIso("2003-01-01T00:00:00Z"),
                                         .urls = 3,
                                         .within = 1,
                                         .last_crawl = 0,
                                         .persistent = 0,
                                         .earlier = 0,
                                         .in_each = {}}));
  EXPECT_EQ(result[1], (CrawlDuplication{.name = "run 2",
                                         .begin = *ParseIso("2003-02-01T00:00:00Z"),
                                         .urls = 2,
                                         .within = 0,
                                         .last_crawl = 1,
                                         .persistent = 1,
                                         .earlier = 1,
                                         .in_each = {1}}));
  EXPECT_EQ(result[2], (CrawlDuplication{.name = "run 3",
                                         .begin = *ParseIso("2003-03-01T00:00:00Z"),
                                         .urls = 3,
                                         .within = 0,
                                         .last_crawl = 1,
                                         .persistent = 2,
                                         .earlier = 2,
                                         .in_each = {2, 1}}));
}

TEST_F(Duplication, W14_BatchesAndFiltersMakeOtherSets) {
  Import(WarcText()
             .Response("http://a/1", "2003-01-01T00:00:00Z", "A")
             .Response("http://b/1", "2003-01-01T00:00:00Z", "A")
             .Response("http://a/1", "2003-02-01T00:00:00Z", "A"));
  crawls_ = {{.name = "200301", .run = {}, .batch = 200301},
             {.name = "200302", .run = {}, .batch = 200302}};
  EXPECT_EQ(Result()[0].within, 1u);
  EXPECT_EQ(Result()[1].last_crawl, 1u);
  archive::CaptureQuery filter;
  filter.where.what = catalog::SelectUrl("http://a/1");
  EXPECT_EQ(Result(filter)[0].urls, 1u);
  EXPECT_EQ(Result(filter)[0].within, 0u);
}

}  // namespace
}  // namespace stele::study
