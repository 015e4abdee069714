// Segments of one batch that are damaged or missing are made again from rows that come from
// elsewhere: every query has the twin's answer then, and nothing else was written.
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/test_captures.h"
#include "catalog/test_twin.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"

namespace stele::catalog {
namespace {

constexpr std::uint32_t kBatch = 200405;

class CatalogRestoreTest : public testing::Test {
 protected:
  CatalogRestoreTest() {
    auto catalog = Catalog::Open(disk_, "c", cache_, kSmall);
    EXPECT_TRUE(catalog);
    for (std::uint32_t round = 0; round < 40; ++round) {
      std::vector<Capture> captures;
      for (std::uint32_t i = 0; i < 20; ++i) {
        captures.push_back(maker_.Make({0, round * 20 + i}, 30, 70));
        captures.back().id.batch = BatchOf(captures.back().time);
      }
      EXPECT_TRUE((*catalog)->Append(captures));
      twin_.Append(captures);
      EXPECT_TRUE((*catalog)->Maintain());
    }
    while (*(*catalog)->Maintain()) {
    }
    // Rows in a log are there, too.
    const std::vector<Capture> last = {maker_.Make({kBatch, 5000}, 30)};
    EXPECT_TRUE((*catalog)->Append(last));
    EXPECT_TRUE((*catalog)->Sync());
    twin_.Append(last);
  }

  std::vector<std::string> SegmentsOf(std::uint32_t batch) {
    const std::string directory = BatchDirectory("c", batch);
    std::vector<std::string> paths = *disk_.List(directory);
    for (std::string& path : paths) path = directory + '/' + path;
    return paths;
  }

  void RemoveSegments() {
    for (const std::string& path : SegmentsOf(kBatch)) ASSERT_TRUE(disk_.Remove(path));
    ASSERT_TRUE(disk_.SyncDirectory(BatchDirectory("c", kBatch)));
  }

  // What the twin has of these batches, in no order that matters.
  Catalog::Restoration RestorationOf(std::set<std::uint32_t> batches) {
    Catalog::Restoration restoration;
    restoration.batches = std::move(batches);
    restoration.rows = [this, batches = restoration.batches](const auto& take) -> Status {
      for (auto row = twin_.rows().rbegin(); row != twin_.rows().rend(); ++row) {
        if (!batches.contains(row->first.batch)) continue;
        if (const Status taken = take({&row->second, 1}); !taken) return taken;
      }
      return {};
    };
    return restoration;
  }

  io::MemoryFileSystem disk_;
  PageCache cache_{1 << 18};
  CaptureMaker maker_{11};
  CatalogTwin twin_;
};

TEST_F(CatalogRestoreTest, I6_AMissingBatchIsNamedAndMadeAgain) {
  RemoveSegments();
  const auto reader = CatalogReader::Open(disk_, "c", cache_);
  const auto writer = Catalog::Open(disk_, "c", cache_, kSmall);
  for (const Error& error : {reader.error(), writer.error()}) {
    EXPECT_EQ(error.code, ErrorCode::kCorrupt);
    EXPECT_NE(error.text.find("c/captures/200405/"), std::string::npos) << error.text;
    EXPECT_TRUE(error.text.ends_with("; make it anew with: stele reindex --batch 200405"))
        << error.text;
  }
  EXPECT_EQ(*Catalog::DamagedBatches(disk_, "c", cache_), std::set<std::uint32_t>{kBatch});

  // What is there stays; the log becomes files of its own.
  std::vector<std::string> others = *disk_.List("c/location");
  for (std::string& name : others) name = "c/location/" + name;
  for (const std::string& path : SegmentsOf(200406)) others.push_back(path);
  const auto catalog = Catalog::Restore(disk_, "c", cache_, RestorationOf({kBatch}), kSmall);
  ASSERT_TRUE(catalog) << catalog.error().text;
  ExpectSameAs(twin_, *(*catalog)->View());
  EXPECT_GT(SegmentsOf(kBatch).size(), 1u);  // more rows than are written at a time
  EXPECT_TRUE(Catalog::DamagedBatches(disk_, "c", cache_)->empty());
  for (const std::string& path : others) EXPECT_TRUE(*disk_.Exists(path)) << path;
  ASSERT_TRUE((*catalog)->Compact());
  ExpectSameAs(twin_, *(*catalog)->View());
}

TEST_F(CatalogRestoreTest, I6_ADamagedBatchIsMadeAgain) {
  for (const std::string& path : SegmentsOf(kBatch)) {
    std::string bytes = *io::ReadFile(disk_, path);
    bytes[bytes.size() / 2] ^= 1;
    ASSERT_TRUE(io::ReplaceFile(disk_, path, bytes));
  }
  const auto catalog = Catalog::Restore(disk_, "c", cache_, RestorationOf({kBatch}), kSmall);
  ASSERT_TRUE(catalog) << catalog.error().text;
  ExpectSameAs(twin_, *(*catalog)->View());
}

TEST_F(CatalogRestoreTest, I6_WhatTheRowsDoNotHaveIsForgottenWhenAsked) {
  ASSERT_TRUE(Catalog::Open(disk_, "c", cache_, kSmall));  // makes segments of what is in logs
  Catalog::Restoration restoration = RestorationOf({kBatch});
  restoration.forgets = true;
  CatalogTwin fewer;
  std::vector<Capture> left;
  for (const auto& [id, row] : twin_.rows()) {
    if (id.batch != kBatch || id.serial % 3 != 0) left.push_back(row);
  }
  ASSERT_LT(left.size(), twin_.rows().size());
  fewer.Append(left);
  twin_ = fewer;
  const auto catalog = Catalog::Restore(disk_, "c", cache_, restoration, kSmall);
  ASSERT_TRUE(catalog) << catalog.error().text;
  ExpectSameAs(twin_, *(*catalog)->View());
  while (*(*catalog)->Maintain()) {
  }
  ExpectSameAs(twin_, *(*catalog)->View());
}

TEST_F(CatalogRestoreTest, I6_ABatchWithoutRowsIsForgottenAloneAndWhatComesLaterIsNotHidden) {
  ASSERT_TRUE(Catalog::Open(disk_, "c", cache_, kSmall));  // makes segments of what is in logs
  const std::vector<Capture> later = {twin_.rows().begin()->second};
  ASSERT_EQ(later[0].id.batch, kBatch);
  twin_.Forget(twin_.IdsOf(kBatch));
  Catalog::Restoration restoration = RestorationOf({kBatch});
  restoration.forgets = true;
  const auto catalog = Catalog::Restore(disk_, "c", cache_, restoration, kSmall);
  ASSERT_TRUE(catalog) << catalog.error().text;
  ExpectSameAs(twin_, *(*catalog)->View());
  EXPECT_TRUE(SegmentsOf(kBatch).empty());
  EXPECT_FALSE((*catalog)->View()->files().manifest.dropped.empty());
  ASSERT_TRUE((*catalog)->Append(later));
  twin_.Append(later);
  ExpectSameAs(twin_, *(*catalog)->View());
  ASSERT_TRUE((*catalog)->Compact());
  ExpectSameAs(twin_, *(*catalog)->View());
  EXPECT_TRUE((*catalog)->View()->files().manifest.dropped.empty());
}

// Until all is there, the manifest names what it named before.
TEST_F(CatalogRestoreTest, I6_WhereverItFailsItIsAsItWasOrDone) {
  for (const bool forgets : {false, true}) {
    RemoveSegments();
    for (int fail_at = 1; !HasFailure(); ++fail_at) {
      SCOPED_TRACE(fail_at);
      bool finished = false;
      {
        io::FaultFileSystem fs(disk_, fail_at);
        PageCache cache(1 << 18);
        Catalog::Restoration restoration = RestorationOf({kBatch});
        restoration.forgets = forgets;
        finished = Catalog::Restore(fs, "c", cache, restoration, kSmall).ok();
      }
      disk_.Crash();
      PageCache cache(1 << 18);
      const auto after = CatalogReader::Open(disk_, "c", cache);
      if (!after) {
        EXPECT_EQ(after.error().code, ErrorCode::kCorrupt);
        EXPECT_TRUE(after.error().text.ends_with("--batch 200405")) << after.error().text;
        EXPECT_FALSE(finished);
        continue;
      }
      ExpectSameAs(twin_, *(*after)->View());
      EXPECT_GT(fail_at, 20);
      if (finished) break;
      // The next one meets as many files as this one did.
      const auto catalog = Catalog::Open(disk_, "c", cache, kSmall);
      ASSERT_TRUE(catalog && (*catalog)->Compact());
      RemoveSegments();
    }
  }
}

}  // namespace
}  // namespace stele::catalog
