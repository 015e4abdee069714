#include "catalog/capture_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "catalog/test_captures.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "io/posix_file_system.h"
#include "util/test_paths.h"
#include "util/test_stride.h"

namespace stele::catalog {
namespace {

const std::string kGoldenLog = SourcePath("src/catalog/golden/rows-2.log");

// Ten groups of rows; after each third group a sync. Returns how many rows were synced.
Result<std::size_t> WriteExampleLog(io::FileSystem& fs, const std::string& path,
                                    std::vector<std::uint64_t>* offsets = nullptr) {
  CaptureMaker maker(5);
  Result<std::unique_ptr<CaptureLogWriter>> log = CaptureLogWriter::Create(fs, path);
  if (!log) return log.error();
  std::vector<std::uint64_t> all;
  std::size_t synced = 0;
  for (std::uint32_t group = 0; group < 10; ++group) {
    std::vector<Capture> captures;
    for (std::uint32_t i = 0; i < group; ++i) captures.push_back(maker.Make({200405, i}));
    if (const Status status = (*log)->Append(captures, all); !status) break;
    if (group % 3 != 2) continue;
    if (const Status status = (*log)->Sync(); !status) break;
    synced = all.size();
  }
  if (offsets != nullptr) *offsets = all;
  return synced;
}

std::vector<Capture> ExampleRows(CaptureMaker& maker) {
  std::vector<Capture> captures;
  for (std::uint32_t group = 0; group < 10; ++group) {
    for (std::uint32_t i = 0; i < group; ++i) captures.push_back(maker.Make({200405, i}));
  }
  return captures;
}

struct Found {
  std::size_t rows = 0;
  std::uint64_t end = 0;
  bool damaged = false;
};

// The rows in the log; they must be the first ones of the example.
Found ReadExample(io::FileSystem& fs, const std::string& path) {
  Found found;
  PageCache cache(1 << 20);
  const Result<std::unique_ptr<CaptureLog>> log = CaptureLog::Open(fs, path, cache);
  EXPECT_TRUE(log) << log.error().text;
  if (!log) return found;
  CaptureMaker maker(5);
  const std::vector<Capture> rows = ExampleRows(maker);
  const Result<std::uint64_t> end =
      (*log)->Scan(0, [&](const Capture& capture, std::uint64_t offset) {
        if (found.rows < rows.size()) {
          EXPECT_EQ(capture, rows[found.rows]);
        }
        ++found.rows;
        const Result<HeldCapture> alone = (*log)->Read(offset);
        EXPECT_TRUE(alone && alone->row == capture);
      });
  EXPECT_TRUE(end) << end.error().text;
  if (!end) return found;
  found.end = *end;
  const Status tail = (*log)->CheckTail(*end);
  found.damaged = !tail;
  if (!tail) {
    EXPECT_EQ(tail.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(tail.error().text, testing::HasSubstr(fmt::format("byte {}", *end)));
  }
  return found;
}

TEST(CaptureLog, I6_RowsComeBackInOrder) {
  io::MemoryFileSystem disk;
  std::vector<std::uint64_t> offsets;
  ASSERT_TRUE(WriteExampleLog(disk, "log", &offsets));
  const Found found = ReadExample(disk, "log");
  EXPECT_EQ(found.rows, 45u);
  EXPECT_EQ(offsets.size(), 45u);
  EXPECT_FALSE(found.damaged);
  EXPECT_EQ(found.end, io::ReadFile(disk, "log")->size());
}

TEST(CaptureLog, I6_ReadersGoOnWhereTheyStopped) {
  io::MemoryFileSystem disk;
  CaptureMaker maker(1);
  const auto writer = CaptureLogWriter::Create(disk, "log");
  ASSERT_TRUE(writer);
  PageCache cache(1 << 20);
  const auto log = CaptureLog::Open(disk, "log", cache);
  ASSERT_TRUE(log);
  std::uint64_t at = 0;
  std::vector<std::uint64_t> offsets;
  for (std::uint32_t serial = 0; serial < 100; ++serial) {
    const Capture capture = maker.Make({200405, serial});
    ASSERT_TRUE((*writer)->Append(std::span(&capture, 1), offsets));
    if (serial % 7 == 0) {
      ASSERT_TRUE((*writer)->Sync());
    }
    std::vector<std::uint32_t> seen;
    const Result<std::uint64_t> end =
        (*log)->Scan(at, [&](const Capture& row, std::uint64_t) { seen.push_back(row.id.serial); });
    ASSERT_TRUE(end);
    EXPECT_EQ(seen, std::vector{serial});
    at = *end;
  }
}

TEST(CaptureLog, I6_LongRowsComeBack) {
  io::MemoryFileSystem disk;
  CaptureMaker maker(1);
  const auto writer = CaptureLogWriter::Create(disk, "log");
  ASSERT_TRUE(writer);
  std::vector<std::uint64_t> offsets;
  std::vector<Capture> rows;
  for (const std::size_t size : {900, 1000, 1100, 100000, (1 << 20) - 300}) {
    rows.push_back(maker.Make({200405, static_cast<std::uint32_t>(size)}));
    rows.back().url = maker.Keep(std::string(size, 'u'));
    rows.back().key = {};
  }
  ASSERT_TRUE((*writer)->Append(rows, offsets));
  PageCache cache(1 << 20);
  const auto log = CaptureLog::Open(disk, "log", cache);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Result<HeldCapture> row = (*log)->Read(offsets[i]);
    ASSERT_TRUE(row) << row.error().text;
    EXPECT_EQ(row->row, rows[i]);
  }
}

TEST(CaptureLog, I6_RowsBesideOneThatWasReadNeedNoDisk) {
  io::MemoryFileSystem disk;
  CaptureMaker maker(1);
  const auto writer = CaptureLogWriter::Create(disk, "log");
  ASSERT_TRUE(writer);
  io::FaultFileSystem fs(disk, std::numeric_limits<int>::max() / 2);
  PageCache cache(1 << 20);
  const auto log = CaptureLog::Open(fs, "log", cache);
  ASSERT_TRUE(log);
  std::vector<std::uint64_t> offsets;
  std::vector<Capture> rows;
  // Rows come into a block that was read while it was not yet full.
  while (offsets.empty() || offsets.back() < 100'000) {
    rows.push_back(maker.Make({200405, static_cast<std::uint32_t>(rows.size())}));
    ASSERT_TRUE((*writer)->Append(std::span(&rows.back(), 1), offsets));
    const Result<HeldCapture> row = (*log)->Read(offsets.back());
    ASSERT_TRUE(row) << row.error().text;
    EXPECT_EQ(row->row, rows.back());
  }
  ASSERT_TRUE((*log)->Read(offsets[0]));
  fs.FailFromNowOn();
  EXPECT_EQ((*log)->Read(offsets[10])->row, rows[10]);
  EXPECT_EQ((*log)->Read(offsets.back()).error().code, ErrorCode::kIo);
}

TEST(CaptureLog, I6_ATornTailCostsOnlyWhatWasNotSynced) {
  io::MemoryFileSystem disk;
  std::vector<std::uint64_t> offsets;
  ASSERT_TRUE(WriteExampleLog(disk, "log", &offsets));
  const std::string whole = *io::ReadFile(disk, "log");
  for (std::size_t size = 0; size <= whole.size(); size += kTestStride) {
    ASSERT_TRUE(io::ReplaceFile(disk, "cut", whole.substr(0, size)));
    const Found found = ReadExample(disk, "cut");
    EXPECT_FALSE(found.damaged);
    const auto complete = std::count_if(offsets.begin(), offsets.end(), [&](std::uint64_t offset) {
      return offset < size && offset < found.end;
    });
    EXPECT_EQ(found.rows, static_cast<std::size_t>(complete));
    EXPECT_GE(found.rows + 1, static_cast<std::size_t>(std::count_if(
                                  offsets.begin(), offsets.end(),
                                  [&](std::uint64_t offset) { return offset < size; })));
  }
}

TEST(CaptureLog, I6_EveryFlippedBitInWhatWasSyncedIsFound) {
  io::MemoryFileSystem disk;
  std::vector<std::uint64_t> offsets;
  const Result<std::size_t> synced = WriteExampleLog(disk, "log", &offsets);
  ASSERT_TRUE(synced);
  const std::uint64_t synced_end = offsets[*synced] - 9;  // before the mark
  const std::string whole = *io::ReadFile(disk, "log");
  for (std::size_t bit = 0; bit < whole.size() * 8; bit += 5 * kTestStride) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_TRUE(io::ReplaceFile(disk, "flipped", flipped));
    const Found found = ReadExample(disk, "flipped");
    EXPECT_LE(found.end, bit / 8);
    if (bit / 8 < synced_end) {
      EXPECT_TRUE(found.damaged) << bit;
    }
  }
}

TEST(CaptureLog, I6_AfterAPowerCutWhatWasSyncedIsThere) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    io::MemoryFileSystem disk;
    io::SeededRandom dice(seed);
    io::FaultFileSystem fs(disk, static_cast<int>(seed % 20) + 1);
    const Result<std::size_t> synced = WriteExampleLog(fs, "log");
    disk.Crash(dice);
    if (!*disk.Exists("log")) {
      EXPECT_TRUE(!synced || *synced == 0);
      continue;
    }
    const Found found = ReadExample(disk, "log");
    EXPECT_FALSE(found.damaged) << seed;
    if (synced) {
      EXPECT_GE(found.rows, *synced) << seed;
    }
  }
}

TEST(CaptureLog, I6_AFailingDiskIsReported) {
  for (int fail_at = 1; fail_at < 14; ++fail_at) {
    io::MemoryFileSystem disk;
    io::FaultFileSystem fs(disk, fail_at);
    const Result<std::size_t> synced = WriteExampleLog(fs, "log");
    if (synced) {
      EXPECT_GE(ReadExample(disk, "log").rows, *synced);
    }
    if (fail_at <= 3) {
      EXPECT_FALSE(synced);
    }
  }
  io::MemoryFileSystem disk;
  ASSERT_TRUE(WriteExampleLog(disk, "log"));
  for (int fail_at = 1; fail_at <= 2; ++fail_at) {
    io::FaultFileSystem fs(disk, fail_at);
    PageCache cache(1 << 20);
    const auto log = CaptureLog::Open(fs, "log", cache);
    if (!log) continue;
    EXPECT_FALSE((*log)->Scan(0, [](const Capture&, std::uint64_t) {}));
    EXPECT_EQ((*log)->Read(16).error().code, ErrorCode::kIo);
    EXPECT_EQ((*log)->CheckTail(0).error().code, ErrorCode::kIo);
  }
}

TEST(CaptureLog, I6_TheGoldenLogIsReadAndWrittenAgain) {
  io::PosixFileSystem files;
  const std::string made = testing::TempDir() + "rows-2.log";
  ASSERT_TRUE(WriteExampleLog(files, made));
  const Result<std::string> golden = io::ReadFile(files, kGoldenLog);
  ASSERT_TRUE(golden) << "what is written now is in " << made;
  EXPECT_EQ(*io::ReadFile(files, made), *golden) << "what is written now is in " << made;
  EXPECT_EQ(ReadExample(files, kGoldenLog).rows, 45u);
}

}  // namespace
}  // namespace stele::catalog
