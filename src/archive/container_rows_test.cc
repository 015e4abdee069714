#include "archive/container_rows.h"

#include <gtest/gtest.h>

#include <fstream>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "util/test_paths.h"

namespace stele::archive {
namespace {

constexpr std::string_view kUrl = "http://a.example/";

Status WriteRows(io::FileSystem& fs, int captures) {
  auto writer = ContainerRowsWriter::Create(fs, "rows");
  if (!writer) return writer.error();
  ContainerSummary summary;
  for (int i = 0; i < captures; ++i) {
    ContainerCapture capture;
    capture.row.id = {200405, static_cast<std::uint32_t>(i)};
    capture.row.time = Timestamp{1'085'000'000'000 + i};
    capture.row.status = 200;
    capture.row.place = {.container = 0, .offset = 100u * i, .length = 90};
    capture.row.url = kUrl;
    capture.row.type = "text/html";
    capture.record_id = RecordIdHash("<urn:x>");
    if (const Status added = (*writer)->Add(capture); !added) return added;
    const Companion request{record::RecordType::kRequest, 100u * i + 90, 10, capture.record_id, 5};
    if (const Status added = (*writer)->Add(request); !added) return added;
  }
  summary.batches[200405] = static_cast<std::uint32_t>(captures);
  summary.records = 2u * captures;
  summary.losses.push_back({.begin = 7, .end = 9, .reason = "torn"});
  return (*writer)->Finish(summary);
}

TEST(ContainerRows, ComeBackInTheirOrder) {
  io::MemoryFileSystem fs;
  constexpr int kCaptures = 2000;  // several pages
  ASSERT_TRUE(WriteRows(fs, kCaptures));
  catalog::PageCache cache(1 << 20);
  const auto rows = ContainerRows::Open(fs, "rows", cache);
  ASSERT_TRUE(rows) << rows.error().text;
  EXPECT_EQ((*rows)->summary().captures(), 2000u);
  EXPECT_EQ((*rows)->summary().records, 4000u);
  ASSERT_EQ((*rows)->summary().losses.size(), 1u);
  EXPECT_EQ((*rows)->summary().losses[0].reason, "torn");
  std::uint32_t next = 0;
  ASSERT_TRUE((*rows)->ForEachCapture([&](std::span<ContainerCapture> some) -> Status {
    for (const ContainerCapture& capture : some) {
      EXPECT_EQ(capture.row.id.serial, next++);
      EXPECT_EQ(capture.row.url, kUrl);
      EXPECT_EQ(capture.record_id, RecordIdHash("urn:x"));
    }
    return {};
  }));
  EXPECT_EQ(next, 2000u);
  const auto companions = (*rows)->Companions();
  ASSERT_TRUE(companions);
  ASSERT_EQ(companions->size(), 2000u);
  EXPECT_EQ((*companions)[1].offset, 190u);
}

TEST(ContainerRows, EveryFlippedByteIsFound) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(WriteRows(fs, 20));
  const std::string good = *io::ReadFile(fs, "rows");
  catalog::PageCache cache(1 << 20);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    ASSERT_TRUE(io::ReplaceFile(fs, "rows", bad));
    const auto rows = ContainerRows::Open(fs, "rows", cache);
    const Status read =
        rows ? (*rows)->ForEachCapture([](auto) { return Status(); }) : Status(rows.error());
    ASSERT_FALSE(read) << at;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << at;
  }
}

TEST(ContainerRows, AreThereWholeOrNotAtAll) {
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    io::FaultFileSystem fs(disk, fail_at);
    const bool done = WriteRows(fs, 200).ok();
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    disk.Crash(dice);
    catalog::PageCache cache(1 << 20);
    const auto rows = ContainerRows::Open(disk, "rows", cache);
    ASSERT_TRUE(rows || !done) << fail_at;
    const bool good = rows && (*rows)->ForEachCapture([](auto) { return Status(); });
    EXPECT_EQ(good, rows.ok()) << fail_at;
    if (done) break;
  }
}

// What version 1 wrote is read for ever, and written the same.
TEST(ContainerRows, AreWrittenAsTheGoldenFile) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(WriteRows(fs, 2));
  std::ifstream file(SourcePath("src/archive/golden/container-rows-1.rows"), std::ios::binary);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(*io::ReadFile(fs, "rows"), golden);
}

}  // namespace
}  // namespace stele::archive
