// The rows of one month are made anew, and nothing else is read or written.
#include <gtest/gtest.h>

#include "archive/purge.h"
#include "archive/removal.h"
#include "archive/test_archive.h"
#include "archive/verify.h"
#include "io/fault_file_system.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::Lines;
using testing::PutFile;
using testing::WarcText;
using Rebuild = ArchiveWriter::Rebuild;

constexpr std::uint32_t kBatch = 200405;

class BatchRestore : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(lab_.Create());
    // Of May alone, of both, of June alone.
    const std::vector<std::vector<const char*>> files = {
        {"2004-05-01T00:00:00Z", "2004-05-02T00:00:00Z"},
        {"2004-05-03T00:00:00Z", "2004-06-03T00:00:00Z", "2004-05-04T00:00:00Z"},
        {"2004-06-05T00:00:00Z"}};
    auto archive = lab_.Open();
    ASSERT_TRUE(archive);
    ASSERT_TRUE((*archive)->BeginRun("import", ""));
    for (std::size_t i = 0; i < files.size(); ++i) {
      WarcText warc(record::Compression::kGzip, i + 1);
      for (const char* date : files[i]) {
        warc.Response(fmt::format("http://{}.example/", i), date, date);
      }
      const std::string name = fmt::format("{}.warc.gz", i);
      PutFile(fs_, name, warc.bytes());
      ASSERT_TRUE(ImportFile(**archive, 1, name, {}));
    }
    ASSERT_TRUE((*archive)->EndRun(1));
    archive->reset();
    FlushLogs();
  }

  // What opens it turns logs into segments.
  void FlushLogs() { ASSERT_TRUE(lab_.Open()); }

  std::map<std::string, std::string> Segments(std::uint32_t batch) {
    std::map<std::string, std::string> segments;
    const std::string directory = fmt::format("a/catalog/captures/{}", batch);
    const std::vector<std::string> names = *fs_.List(directory);
    for (const std::string& name : names) {
      const std::string path = directory + '/' + name;
      segments[path] = *io::ReadFile(fs_, path);
    }
    return segments;
  }
  void RemoveSegments() {
    const auto segments = Segments(kBatch);
    ASSERT_FALSE(segments.empty());
    for (const auto& [path, bytes] : segments) ASSERT_TRUE(fs_.Remove(path));
    ASSERT_TRUE(fs_.SyncDirectory(io::ParentDirectory(segments.begin()->first)));
  }
  static std::string RowsOf(int container) {
    return fmt::format("a/volumes/main/{:08}.rows", container);
  }

  // All captures, with those that were taken down; nothing is wrong with any.
  std::vector<std::string> Answers() {
    auto reader = ArchiveReader::Open(fs_, "a");
    if (!reader) return {reader.error().text};
    const ArchiveView view = (*reader)->View();
    const auto outcome =
        Verify(view, {}, [](const std::string& defect) { ADD_FAILURE() << defect; });
    EXPECT_TRUE(outcome);
    std::vector<std::string> lines = Lines(view);
    for (const char* url : {"http://0.example/", "http://1.example/", "http://2.example/"}) {
      CaptureQuery query;
      query.where.what = catalog::SelectUrl(url);
      query.with_removed = true;
      const std::vector<std::string> some = Lines(view, query);
      lines.insert(lines.end(), some.begin(), some.end());
    }
    return lines;
  }

  io::MemoryFileSystem fs_;
  ArchiveLab lab_{fs_};
};

TEST_F(BatchRestore, I6_AMonthIsIndexedOnItsOwn) {
  const std::vector<std::string> before = Answers();
  ASSERT_EQ(before.size(), 12u);
  const auto june = Segments(200406);
  const std::vector<std::string> index = *fs_.List("a/catalog/location");
  RemoveSegments();
  const std::string damage = Answers().front();
  EXPECT_NE(damage.find("a/catalog/captures/200405/"), std::string::npos) << damage;
  EXPECT_TRUE(damage.ends_with("; make it anew with: stele reindex --batch 200405")) << damage;
  EXPECT_EQ(lab_.Open().error().text, damage);

  // A container without captures of the month is not read.
  const std::string rows_of_june = *io::ReadFile(fs_, RowsOf(3));
  PutFile(fs_, RowsOf(3), "nobody reads this");
  auto archive = lab_.Open(Rebuild::kCatalog, kBatch);
  ASSERT_TRUE(archive) << archive.error().text;
  archive->reset();
  EXPECT_EQ(*io::ReadFile(fs_, RowsOf(3)), "nobody reads this");
  PutFile(fs_, RowsOf(3), rows_of_june);
  EXPECT_EQ(Answers(), before);
  EXPECT_EQ(Segments(200406), june);
  EXPECT_EQ(*fs_.List("a/catalog/location"), index);
}

TEST_F(BatchRestore, I6_WithTheRowsBesideItsContainers) {
  const std::vector<std::string> before = Answers();
  const std::string good = *io::ReadFile(fs_, RowsOf(2));
  PutFile(fs_, RowsOf(1), "damaged");
  PutFile(fs_, RowsOf(2), std::string(good.size(), 'x'));
  ASSERT_TRUE(lab_.Open(Rebuild::kCatalogAndRows, kBatch));
  EXPECT_EQ(*io::ReadFile(fs_, RowsOf(2)), good);
  EXPECT_EQ(Answers(), before);
}

TEST_F(BatchRestore, I6_OthersThatCannotBeOpenedAreMadeAnewToo) {
  const std::vector<std::string> before = Answers();
  RemoveSegments();
  for (const auto& [path, bytes] : Segments(200406)) PutFile(fs_, path, "damaged");
  auto archive = lab_.Open(Rebuild::kCatalog, kBatch);
  ASSERT_TRUE(archive) << archive.error().text;
  EXPECT_EQ(Answers(), before);
}

TEST_F(BatchRestore, I6_WhatWasTakenDownOrPurgedStaysSo) {
  {
    auto archive = lab_.Open();
    ASSERT_TRUE((*archive)->Remove({{kBatch, 0}, {kBatch, 2}}, "because", "a test"));
    ASSERT_TRUE(PurgeRemoved(**archive));
    ASSERT_TRUE((*archive)->Remove({{kBatch, 3}}, "because", "a test"));
  }
  const std::vector<std::string> before = Answers();
  ASSERT_EQ(before.size(), 7u);
  FlushLogs();
  RemoveSegments();
  ASSERT_TRUE(lab_.Open(Rebuild::kCatalog, kBatch));
  EXPECT_EQ(Answers(), before);
}

TEST_F(BatchRestore, I6_TheIndexLeadsToNothingThatWasPurged) {
  {
    auto archive = lab_.Open();
    ASSERT_TRUE((*archive)->Remove({{kBatch, 0}, {kBatch, 2}}, "because", "a test"));
    ASSERT_TRUE(PurgeRemoved(**archive));
  }
  FlushLogs();
  RemoveSegments();
  auto archive = lab_.Open(Rebuild::kCatalog, kBatch);
  ASSERT_TRUE(archive) << archive.error().text;
  archive->reset();
  EXPECT_EQ(Answers().size(), 8u);
}

TEST_F(BatchRestore, I6_AMonthThatNeverWasIsRefused) {
  EXPECT_EQ(lab_.Open(Rebuild::kCatalog, 199912).error().code, ErrorCode::kNotFound);
}

TEST_F(BatchRestore, I6_WhereverTheDiskFailsItIsAsItWasOrHealed) {
  const std::vector<std::string> before = Answers();
  RemoveSegments();
  std::string damage = Answers().front();
  for (int fail_at = 1; !HasFailure(); ++fail_at) {
    SCOPED_TRACE(fail_at);
    bool finished = false;
    {
      io::FaultFileSystem fs(fs_, fail_at);
      ArchiveLab failing(fs);
      finished = failing.Open(Rebuild::kCatalogAndRows, kBatch).ok();
    }
    fs_.Crash();
    const std::vector<std::string> after = Answers();
    if (after.front() == damage) {
      EXPECT_FALSE(finished);
      continue;
    }
    EXPECT_EQ(after, before);
    if (finished) {
      EXPECT_GT(fail_at, 20);
      break;
    }
    FlushLogs();
    RemoveSegments();
    damage = Answers().front();
  }
}

}  // namespace
}  // namespace stele::archive
