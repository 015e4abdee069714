#include "archive/unresolved.h"

#include <gtest/gtest.h>

#include "archive/test_archive.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::PutFile;
using testing::WarcText;

class Unresolved : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    archive_ = std::move(*lab_.Open());
  }
  // The number of its revisits that lack something, counted in both ways.
  std::uint64_t Bring(const WarcText& warc) {
    const std::uint32_t run = *archive_->BeginRun("import", "");
    const std::string name = fmt::format("{}.warc.gz", run);
    PutFile(fs_, name, warc.bytes());
    EXPECT_TRUE(ImportFile(*archive_, run, name, {}));
    EXPECT_TRUE(archive_->EndRun(run));
    const Result<std::uint64_t> count = CountUnresolved(archive_->View(), run);
    EXPECT_TRUE(count) << count.error().text;
    const Result<std::uint64_t> all_at_once = CountUnresolved(archive_->View(), run, 0);
    EXPECT_TRUE(all_at_once) << all_at_once.error().text;
    EXPECT_EQ(*count, *all_at_once);
    return *count;
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
  std::unique_ptr<ArchiveWriter> archive_;
};

TEST_F(Unresolved, D6_ARunWithoutRevisitsLacksNothing) {
  EXPECT_EQ(Bring(WarcText().Response("http://a/", "2004-01-01T00:00:00Z", "<p>one")), 0u);
}

TEST_F(Unresolved, D6_OriginalsAreInTheRunOrInAnEarlierOne) {
  EXPECT_EQ(Bring(WarcText().Response("http://a/1", "2004-01-01T00:00:00Z", "<p>one")), 0u);
  EXPECT_EQ(Bring(WarcText()
                      .Revisit("http://a/1", "2004-02-01T00:00:00Z", "<p>one")
                      .Revisit("http://a/2", "2004-02-01T00:00:00Z", "<p>two")
                      .Response("http://a/2", "2004-01-01T00:00:00Z", "<p>two")),
            0u);
}

TEST_F(Unresolved, D6_WhatIsNowhereIsCounted) {
  EXPECT_EQ(Bring(WarcText().Response("http://a/1", "2004-01-01T00:00:00Z", "<p>one")), 0u);
  EXPECT_EQ(Bring(WarcText()
                      .Revisit("http://a/1", "2004-02-01T00:00:00Z", "<p>one")
                      .Revisit("http://a/1", "2004-02-02T00:00:00Z", "<p>elsewhere")
                      .Revisit("http://a/3", "2004-02-03T00:00:00Z", "<p>elsewhere")),
            2u);
}

}  // namespace
}  // namespace stele::archive
