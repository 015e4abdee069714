#include "catalog/capture_segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/test_captures.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "io/posix_file_system.h"
#include "util/test_paths.h"

namespace stele::catalog {
namespace {

const std::string kGoldenRows = SourcePath("src/catalog/golden/captures-2.rows");
constexpr Timestamp kBegin{std::numeric_limits<std::int64_t>::min()};
constexpr Timestamp kEnd{std::numeric_limits<std::int64_t>::max()};

// With gaps between the serials.
std::vector<Capture> Rows(CaptureMaker& maker, std::uint32_t count) {
  std::vector<Capture> rows;
  std::uint32_t serial = 10;
  for (std::uint32_t i = 0; i < count; ++i) {
    rows.push_back(maker.Make({200405, serial}));
    serial += maker.Below(10) == 0 ? 1 + static_cast<std::uint32_t>(maker.Below(1000)) : 1;
  }
  return rows;
}

Status Write(io::FileSystem& fs, const std::string& path, const std::vector<Capture>& rows) {
  Result<std::unique_ptr<CaptureSegmentWriter>> writer =
      CaptureSegmentWriter::Create(fs, path, 200405, 3);
  if (!writer) return writer.error();
  for (const Capture& row : rows) {
    if (const Status status = (*writer)->Add(row); !status) return status;
  }
  const Result<CaptureSegmentTotals> totals = (*writer)->Finish();
  return totals ? Status() : totals.error();
}

// All rows from `serial` on in a span of time.
std::vector<Capture> Scan(const CaptureSegment& segment, std::uint32_t serial, Timestamp from,
                          Timestamp to, std::vector<HeldCapture>& held) {
  std::vector<Capture> rows;
  CaptureSegmentCursor cursor(segment, from, to);
  Status status = cursor.Seek(serial);
  while (status && cursor.valid()) {
    held.push_back(HoldCapture(cursor.row()));
    rows.push_back(held.back().row);
    status = cursor.Next();
  }
  EXPECT_TRUE(status) << status.error().text;
  return rows;
}

class CaptureSegmentTest : public testing::Test {
 protected:
  std::unique_ptr<CaptureSegment> Open(const std::string& path = "s") {
    Result<std::unique_ptr<CaptureSegment>> segment = CaptureSegment::Open(disk_, path, cache_);
    EXPECT_TRUE(segment) << segment.error().text;
    return segment ? std::move(*segment) : nullptr;
  }

  io::MemoryFileSystem disk_;
  PageCache cache_{1 << 20};
  CaptureMaker maker_{3};
  std::vector<HeldCapture> held_;
};

TEST_F(CaptureSegmentTest, I6_RowsAreFoundByTheirSerial) {
  const std::vector<Capture> rows = Rows(maker_, 3000);
  ASSERT_TRUE(Write(disk_, "s", rows));
  const auto segment = Open();
  ASSERT_NE(segment, nullptr);
  EXPECT_GT(segment->pages(), 5u);
  std::size_t next = 0;
  for (std::uint32_t serial = 0; serial <= rows.back().id.serial + 2; ++serial) {
    const Result<HeldCapture> row = segment->Get(serial);
    if (next < rows.size() && rows[next].id.serial == serial) {
      ASSERT_TRUE(row) << row.error().text;
      EXPECT_EQ(row->row, rows[next++]);
    } else {
      EXPECT_EQ(row.error().code, ErrorCode::kNotFound);
    }
  }
  EXPECT_EQ(next, rows.size());
}

TEST_F(CaptureSegmentTest, I6_RowsAreReadInCrawlOrder) {
  const std::vector<Capture> rows = Rows(maker_, 3000);
  ASSERT_TRUE(Write(disk_, "s", rows));
  const auto segment = Open();
  EXPECT_EQ(Scan(*segment, 0, kBegin, kEnd, held_), rows);
  const std::uint32_t middle = rows[1700].id.serial;
  EXPECT_EQ(Scan(*segment, middle, kBegin, kEnd, held_),
            std::vector<Capture>(rows.begin() + 1700, rows.end()));
  EXPECT_TRUE(Scan(*segment, rows.back().id.serial + 1, kBegin, kEnd, held_).empty());
}

TEST_F(CaptureSegmentTest, P2_ASpanOfTimeReadsOnlyItsPages) {
  std::vector<Capture> rows = Rows(maker_, 3000);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].time.milliseconds = static_cast<std::int64_t>(i * 1000);
  }
  ASSERT_TRUE(Write(disk_, "s", rows));
  const auto segment = Open();
  EXPECT_EQ(Scan(*segment, 0, {500000}, {700000}, held_),
            std::vector<Capture>(rows.begin() + 500, rows.begin() + 701));
  std::uint32_t met = 0;
  for (std::uint32_t page = 0; page < segment->pages(); ++page) {
    met += segment->page_times(page).Meets({500000}, {700000});
  }
  EXPECT_LE(met, 3u);
}

TEST_F(CaptureSegmentTest, I6_TheSummaryTellsTheTotals) {
  const std::vector<Capture> rows = Rows(maker_, 500);
  ASSERT_TRUE(Write(disk_, "s", rows));
  const CaptureSegmentTotals totals = Open()->totals();
  EXPECT_EQ(totals.batch, 200405u);
  EXPECT_EQ(totals.rows, 500u);
  EXPECT_EQ(totals.first_serial, rows.front().id.serial);
  EXPECT_EQ(totals.last_serial, rows.back().id.serial);
  for (const Capture& row : rows) EXPECT_TRUE(totals.times.Meets(row.time, row.time));
}

TEST_F(CaptureSegmentTest, I6_NumbersAtTheirEndsComeBack) {
  std::vector<Capture> rows(4);
  rows[0].id = {200405, 0};
  rows[1].id = {200405, 1};
  rows[1].time = kBegin;
  rows[1].place = {0xFFFF'FFFF, ~std::uint64_t{0}, ~std::uint64_t{0}};
  rows[1].length = ~std::uint64_t{0};
  rows[1].run = rows[1].status = 0xFFFF'FFFF;
  rows[2].id = {200405, 2};
  rows[2].time = kEnd;
  rows[3].id = {200405, 0xFFFF'FFFF};
  ASSERT_TRUE(Write(disk_, "s", rows));
  EXPECT_EQ(Scan(*Open(), 0, kBegin, kEnd, held_), rows);
}

TEST_F(CaptureSegmentTest, I6_AFailingDiskLeavesTheOldSegmentOrTheNew) {
  const std::vector<Capture> rows = Rows(maker_, 300);
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    io::FaultFileSystem fs(disk, fail_at);
    const Status written = Write(fs, "s", rows);
    disk.Crash();
    const auto segment = CaptureSegment::Open(disk, "s", cache_);
    if (segment) {
      EXPECT_EQ(Scan(**segment, 0, kBegin, kEnd, held_), rows);
    } else {
      EXPECT_FALSE(written);
      EXPECT_EQ(segment.error().code, ErrorCode::kNotFound);
    }
    if (written) break;
  }
}

TEST_F(CaptureSegmentTest, I6_AFlippedBitIsNeverARow) {
  const std::vector<Capture> rows = Rows(maker_, 300);
  ASSERT_TRUE(Write(disk_, "s", rows));
  const std::string good = *io::ReadFile(disk_, "s");
  for (std::size_t bit = 0; bit < good.size() * 8; bit += 997) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_TRUE(io::ReplaceFile(disk_, "s", flipped));
    const auto segment = CaptureSegment::Open(disk_, "s", cache_);
    if (!segment) {
      EXPECT_EQ(segment.error().code, ErrorCode::kCorrupt);
      continue;
    }
    int damaged = 0;
    for (const Capture& row : rows) {
      const Result<HeldCapture> read = (*segment)->Get(row.id.serial);
      if (read) {
        EXPECT_EQ(read->row, row);
      }
      damaged += !read && read.error().code == ErrorCode::kCorrupt;
    }
    EXPECT_GT(damaged, 0) << bit;
  }
}

TEST_F(CaptureSegmentTest, I6_TheGoldenSegmentIsRead) {
  io::PosixFileSystem files;
  const std::vector<Capture> rows = Rows(maker_, 100);
  const std::string made = testing::TempDir() + "captures-2.rows";
  ASSERT_TRUE(Write(files, made, rows));
  const auto golden = CaptureSegment::Open(files, kGoldenRows, cache_);
  ASSERT_TRUE(golden) << "what is written now is in " << made;
  EXPECT_EQ(Scan(**golden, 0, kBegin, kEnd, held_), rows);
  const auto now = CaptureSegment::Open(files, made, cache_);
  EXPECT_EQ((*now)->file().summary(), (*golden)->file().summary());
  ASSERT_EQ((*now)->pages(), (*golden)->pages());
  for (std::uint32_t page = 0; page < (*now)->pages(); ++page) {
    EXPECT_EQ(**(*now)->file().Read(page), **(*golden)->file().Read(page));
  }
}

}  // namespace
}  // namespace stele::catalog
