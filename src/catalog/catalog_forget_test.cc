// What is forgotten is in no file of the catalog any more, and every query has the twin's answer.
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/test_captures.h"
#include "catalog/test_twin.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "util/test_stride.h"

namespace stele::catalog {
namespace {

// A catalog with files of several levels, PISA segments, and rows in a log.
void Fill(io::FileSystem& fs, CatalogTwin& twin, std::uint32_t rounds = 40) {
  PageCache cache(1 << 18);
  CaptureMaker maker(11);
  auto catalog = Catalog::Open(fs, "c", cache, kSmall);
  ASSERT_TRUE(catalog) << catalog.error().text;
  const auto add = [&](const std::vector<Capture>& captures) {
    ASSERT_TRUE((*catalog)->Append(captures));
    twin.Append(captures);
  };
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::vector<Capture> captures;
    for (std::uint32_t i = 0; i < 20; ++i) {
      captures.push_back(maker.Make({0, round * 20 + i}, 30, 60));
      captures.back().id.batch = BatchOf(captures.back().time);
    }
    add(captures);
    ASSERT_TRUE((*catalog)->Maintain());
  }
  while (*(*catalog)->Maintain()) {
  }
  // Rows that are given again, as when captures are taken down.
  std::vector<Capture> again;
  for (const auto& [id, row] : twin.rows()) {
    if (id.serial % 7 == 0) again.push_back(row);
  }
  for (Capture& row : again) row.flags |= kRemoved;
  add(again);
  ASSERT_TRUE((*catalog)->Sync());
}

std::set<CaptureId> Removed(const CatalogTwin& twin) {
  std::set<CaptureId> ids;
  for (const auto& [id, row] : twin.rows()) {
    if ((row.flags & kRemoved) != 0) ids.insert(id);
  }
  return ids;
}

void ExpectNoTrace(const CatalogFiles& files, const std::set<CaptureId>& forgotten) {
  std::vector<std::shared_ptr<const LocationRun>> runs = files.runs;
  runs.insert(runs.end(), files.loose.begin(), files.loose.end());
  for (const auto& run : runs) {
    const auto cursor = run->NewCursor(LocationRun::Reading::kOnce);
    LocationCursor::Move move = cursor->Seek(FirstOf(""));
    for (; move && *move != nullptr; move = cursor->Next()) {
      EXPECT_FALSE(forgotten.contains((*move)->id));
    }
    EXPECT_TRUE(move);
  }
  for (const auto& segment : files.segments) {
    CaptureSegmentCursor cursor(*segment, kTimeBegin, kTimeEnd);
    Status status = cursor.Seek(0);
    for (; status && cursor.valid(); status = cursor.Next()) {
      EXPECT_FALSE(forgotten.contains(cursor.row().id));
    }
    EXPECT_TRUE(status);
  }
}

TEST(CatalogForgetTest, I6_WhatIsForgottenIsInNoFile) {
  io::MemoryFileSystem disk;
  CatalogTwin twin;
  Fill(disk, twin);
  PageCache cache(1 << 18);
  auto catalog = Catalog::Open(disk, "c", cache, kSmall);
  ASSERT_TRUE(catalog) << catalog.error().text;
  ASSERT_FALSE((*catalog)->View()->files().pisa.empty());
  ASSERT_GT((*catalog)->View()->files().runs.size(), 1u);
  const std::set<CaptureId> forgotten = Removed(twin);
  ASSERT_GT(forgotten.size(), 10u);
  const Status status = (*catalog)->Forget(forgotten);
  ASSERT_TRUE(status) << status.error().text;
  twin.Forget(forgotten);
  ExpectSameAs(twin, *(*catalog)->View());
  ExpectNoTrace((*catalog)->View()->files(), forgotten);
  while (*(*catalog)->Maintain()) {
  }
  EXPECT_FALSE((*catalog)->View()->files().pisa.empty());
  ExpectSameAs(twin, *(*catalog)->View());
  ExpectNoTrace((*catalog)->View()->files(), forgotten);
}

TEST(CatalogForgetTest, I6_FilesThatHaveNothingOfItStay) {
  io::MemoryFileSystem disk;
  CatalogTwin twin;
  Fill(disk, twin);
  PageCache cache(1 << 18);
  auto catalog = Catalog::Open(disk, "c", cache, kSmall);
  ASSERT_TRUE(catalog) << catalog.error().text;
  const Manifest before = (*catalog)->View()->files().manifest;
  ASSERT_TRUE((*catalog)->Forget({{200405, 999'999}, {199901, 0}}));
  EXPECT_EQ((*catalog)->View()->files().manifest, before);
  // What came last is in no PISA segment: they stay.
  CaptureMaker maker(12);
  const std::vector<Capture> late = {maker.Make({200405, 5000}, 30)};
  ASSERT_TRUE((*catalog)->Append(late));
  ASSERT_TRUE((*catalog)->Forget({late[0].id}));
  const Manifest after = (*catalog)->View()->files().manifest;
  EXPECT_EQ(after.pisa, before.pisa);
  const auto is_of_june = [](const Manifest::Segment& segment) { return segment.batch == 200406; };
  const auto june = [&](const Manifest& manifest) {
    std::vector<Manifest::Segment> segments;
    std::copy_if(manifest.segments.begin(), manifest.segments.end(), std::back_inserter(segments),
                 is_of_june);
    return segments;
  };
  EXPECT_EQ(june(after), june(before));
  ExpectSameAs(twin, *(*catalog)->View());
}

TEST(CatalogForgetTest, I6_ABatchOfWhichNothingIsLeftGoes) {
  io::MemoryFileSystem disk;
  CatalogTwin twin;
  Fill(disk, twin);
  PageCache cache(1 << 18);
  auto catalog = Catalog::Open(disk, "c", cache, kSmall);
  ASSERT_TRUE(catalog) << catalog.error().text;
  std::set<CaptureId> all;
  for (const auto& [id, row] : twin.rows()) {
    if (id.batch == 200406) all.insert(id);
  }
  ASSERT_TRUE((*catalog)->Forget(all));
  twin.Forget(all);
  ExpectSameAs(twin, *(*catalog)->View());
  EXPECT_EQ((*catalog)->View()->Batches(), std::vector<std::uint32_t>{200405});
  for (const auto& [id, row] : twin.rows()) all.insert(id);
  ASSERT_TRUE((*catalog)->Forget(all));
  twin.Forget(all);
  ExpectSameAs(twin, *(*catalog)->View());
  ASSERT_TRUE((*catalog)->Compact());
  ExpectSameAs(twin, *(*catalog)->View());
}

TEST(CatalogForgetTest, I6_WhereverItFailsItIsAsItWasOrDone) {
  bool finished = false;
  for (int fail_at = 1; !finished && !testing::Test::HasFailure(); fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    CatalogTwin twin;
    Fill(disk, twin, 8);
    const std::set<CaptureId> forgotten = Removed(twin);
    {
      io::FaultFileSystem fs(disk, fail_at);
      PageCache cache(1 << 18);
      const auto catalog = Catalog::Open(fs, "c", cache, kSmall);
      finished = catalog && (*catalog)->Forget(forgotten);
    }
    disk.Crash();
    PageCache cache(1 << 18);
    auto catalog = Catalog::Open(disk, "c", cache, kSmall);
    ASSERT_TRUE(catalog) << catalog.error().text;
    CatalogTwin after = twin;
    after.Forget(forgotten);
    const bool is_done = !(*catalog)->View()->Get(*forgotten.begin());
    EXPECT_TRUE(is_done || !finished);
    ExpectSameAs(is_done ? after : twin, *(*catalog)->View());
    ASSERT_TRUE((*catalog)->Forget(forgotten));
    ExpectSameAs(after, *(*catalog)->View());
    ExpectNoTrace((*catalog)->View()->files(), forgotten);
  }
}

}  // namespace
}  // namespace stele::catalog
