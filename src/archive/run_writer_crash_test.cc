// Every disk operation fails once, and with every one the power may go: what was acknowledged is
// there afterwards, under its id, and everything fits together.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "archive/run_writer.h"
#include "archive/test_archive.h"
#include "archive/test_crawl.h"
#include "archive/verify.h"
#include "io/fault_file_system.h"
#include "util/test_stride.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::Fetched;
using testing::Lines;

constexpr int kCaptures = 7;

struct Told {
  std::map<int, catalog::CaptureId> acknowledged;
  bool finished = false;
};

// A container for each capture.
Told Crawl(io::FileSystem& fs) {
  Told told;
  ArchiveLab lab(fs);
  auto archive = lab.Open();
  if (!archive) return told;
  const Result<std::uint32_t> run = (*archive)->BeginRun("crawl", "");
  if (!run) return told;
  RunWriter writer(**archive, *run, {.container_bytes = 1200});
  for (int i = 0; i < kCaptures; ++i) {
    const auto id = writer.AppendAndWait(Fetched(i, std::string(100, static_cast<char>('a' + i))));
    if (!id) return told;
    told.acknowledged[i] = *id;
  }
  told.finished = writer.Finish().ok() && (*archive)->EndRun(*run).ok();
  return told;
}

void Judge(ArchiveWriter& archive, const Told& told) {
  const ArchiveView view = archive.View();
  const std::vector<std::string> lines = Lines(view);
  for (const auto& [number, id] : told.acknowledged) {
    const std::string expected =
        fmt::format("{}/{} {} {}", id.batch, id.serial, Fetched(number, "").url,
                    FormatDigits17(Fetched(number, "").time));
    EXPECT_EQ(std::count(lines.begin(), lines.end(), expected), 1) << expected;
    const auto held = view.catalog().Get(id);
    ASSERT_TRUE(held) << held.error().text;
    auto record = view.Open(held->row);
    ASSERT_TRUE(record) << record.error().text;
  }
  // One that was on its way may be there, too.
  EXPECT_LE(lines.size(), told.acknowledged.size() + 1);
  EXPECT_TRUE(view.holdings().open_containers().empty());
  const auto outcome = Verify(view, {}, [](const std::string& defect) { ADD_FAILURE() << defect; });
  EXPECT_TRUE(outcome);
}

class RunWriterCrash : public ::testing::TestWithParam<bool> {};

TEST_P(RunWriterCrash, I1_NothingAcknowledgedIsLostWhicheverOperationFails) {
  for (int fail_at = 1;; fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    {
      ArchiveLab lab(disk);
      ASSERT_TRUE(lab.Create());
      ASSERT_TRUE(lab.Open());
    }
    disk.SyncAll();
    Told told;
    {
      io::FaultFileSystem fs(disk, fail_at);
      told = Crawl(fs);
    }
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    if (GetParam()) disk.Crash(dice);
    ArchiveLab lab(disk);
    {
      auto archive = lab.Open();
      ASSERT_TRUE(archive) << archive.error().text;
      Judge(**archive, told);
      if (HasFatalFailure()) return;
      // And the next run goes on.
      const Result<std::uint32_t> run = (*archive)->BeginRun("crawl", "again");
      ASSERT_TRUE(run);
      RunWriter writer(**archive, *run, {});
      const auto id = writer.AppendAndWait(Fetched(100, "again"));
      ASSERT_TRUE(id) << id.error().text;
      ASSERT_TRUE(writer.Finish());
      told.acknowledged[100] = *id;
    }
    // Rebuilt from containers and ledger alone, all ids are the same.
    auto archive = lab.Open(ArchiveWriter::Rebuild::kCatalogAndRows);
    ASSERT_TRUE(archive) << archive.error().text;
    Judge(**archive, told);
    if (HasFatalFailure() || told.finished) break;
  }
}

// The disk fails while what a crash left is being sealed.
TEST_P(RunWriterCrash, I1_AnInterruptedRecoveryIsDoneAgain) {
  io::MemoryFileSystem crashed;
  for (int fail_at = 1;; fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    Told told;
    {
      ArchiveLab lab(disk);
      ASSERT_TRUE(lab.Create());
      auto archive = lab.Open();
      ASSERT_TRUE(archive);
      ASSERT_TRUE((*archive)->BeginRun("crawl", ""));
      RunWriter writer(**archive, 1, {});
      for (int i = 0; i < 3; ++i) told.acknowledged[i] = *writer.AppendAndWait(Fetched(i, "x"));
      auto file = disk.OpenForAppending(*(*archive)->View().PathOf(1));
      ASSERT_TRUE((*file)->Append("half of a record"));
    }
    disk.SyncAll();
    bool opened = false;
    {
      io::FaultFileSystem fs(disk, fail_at);
      ArchiveLab lab(fs);
      opened = lab.Open().ok();
    }
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    if (GetParam()) disk.Crash(dice);
    ArchiveLab lab(disk);
    auto archive = lab.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    Judge(**archive, told);
    EXPECT_EQ(*io::ReadFile(disk, *(*archive)->layout().TornPath("main", 1)), "half of a record");
    if (HasFailure() || opened) break;
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutPowerCut, RunWriterCrash, ::testing::Bool());

}  // namespace
}  // namespace stele::archive
