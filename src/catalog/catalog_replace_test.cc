// A catalog that was filled beside another takes its place at one moment: whoever reads sees all of
// the one or all of the other, wherever the disk fails, and whatever was wrong with the old one.
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/test_captures.h"
#include "catalog/test_twin.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "util/test_stride.h"

namespace stele::catalog {
namespace {

class CatalogReplaceTest : public testing::Test {
 protected:
  void MakeOld(io::FileSystem& fs) {
    PageCache cache(1 << 18);
    auto catalog = Catalog::Open(fs, "c", cache, kSmall);
    ASSERT_TRUE(catalog);
    Fill(**catalog, 12, old_);
    while (*(*catalog)->Maintain()) {
    }
    ASSERT_FALSE((*catalog)->View()->files().pisa.empty());
    Fill(**catalog, 1, old_);  // in a log
    ASSERT_TRUE((*catalog)->Sync());
  }

  // Another catalog takes the place of the old one.
  Status Replace(io::FileSystem& fs) {
    PageCache cache(1 << 18);
    auto catalog = Catalog::OpenBeside(fs, "c", "c/new", cache, kSmall);
    if (!catalog) return catalog.error();
    for (const auto& [id, row] : new_.rows()) {
      if (const Status added = (*catalog)->Append({&row, 1}); !added) return added;
    }
    return (*catalog)->TakePlaceOf("c");
  }

  void Fill(Catalog& catalog, int rounds, CatalogTwin& twin) {
    for (int round = 0; round < rounds; ++round) {
      std::vector<Capture> captures;
      for (int i = 0; i < 20; ++i) {
        captures.push_back(maker_.Make({0, serial_++}, 30, 70));
        captures.back().id.batch = BatchOf(captures.back().time);
      }
      ASSERT_TRUE(catalog.Append(captures));
      twin.Append(captures);
      ASSERT_TRUE(catalog.Maintain());
    }
  }

  void MakeNew() {
    io::MemoryFileSystem fs;
    PageCache cache(1 << 18);
    auto catalog = Catalog::Open(fs, "x", cache, kSmall);
    ASSERT_TRUE(catalog);
    Fill(**catalog, 8, new_);
  }

  CaptureMaker maker_{5};
  std::uint32_t serial_ = 0;
  CatalogTwin old_;
  CatalogTwin new_;
};

// With every failure the power may go.
class CatalogReplaceCrash : public CatalogReplaceTest, public testing::WithParamInterface<bool> {};

TEST_P(CatalogReplaceCrash, P3_ReadersSeeAllOfTheOldOrAllOfTheNewWhereverTheDiskFails) {
  MakeNew();
  bool replaced = false;
  int fail_at = 1;
  for (; !replaced && !HasFailure(); fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    old_ = CatalogTwin();
    MakeOld(disk);
    disk.SyncAll();
    PageCache cache(1 << 18);
    auto reader = CatalogReader::Open(disk, "c", cache);
    ASSERT_TRUE(reader) << reader.error().text;
    {
      io::FaultFileSystem fs(disk, fail_at);
      replaced = Replace(fs).ok();
    }
    if (GetParam()) {
      io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
      disk.Crash(dice);
      reader = CatalogReader::Open(disk, "c", cache);
      ASSERT_TRUE(reader) << reader.error().text;
    }
    ASSERT_TRUE((*reader)->Refresh());
    ASSERT_TRUE(*disk.Exists("c/manifest"));
    const bool is_new = (*reader)->View()->Get(new_.rows().begin()->first).ok();
    ExpectSameAs(is_new ? new_ : old_, *(*reader)->View());
    EXPECT_TRUE(is_new || !replaced);
    auto catalog = Catalog::Open(disk, "c", cache, kSmall);
    ASSERT_TRUE(catalog) << catalog.error().text;
    ExpectSameAs(is_new ? new_ : old_, *(*catalog)->View());
    if (!replaced) continue;
    ASSERT_TRUE((*reader)->Refresh());
    Fill(**catalog, 3, new_);
    ASSERT_TRUE((*reader)->Refresh());
    ExpectSameAs(new_, *(*reader)->View());
  }
  EXPECT_GT(fail_at, 60);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutPowerCut, CatalogReplaceCrash, testing::Bool());

TEST_F(CatalogReplaceTest, P3_NothingOfADamagedOldOneIsLeft) {
  MakeNew();
  for (const std::string gone : {"c/manifest", "c/00000099.log", "c/location"}) {
    SCOPED_TRACE(gone);
    io::MemoryFileSystem disk;
    MakeOld(disk);
    const std::vector<std::string> runs = *disk.List("c/location");
    if (gone == "c/location") {
      for (const std::string& name : runs) ASSERT_TRUE(disk.Remove("c/location/" + name));
    } else {
      ASSERT_TRUE(io::ReplaceFile(disk, gone, "damaged"));
    }
    const Status replaced = Replace(disk);
    ASSERT_TRUE(replaced) << replaced.error().text;
    PageCache cache(1 << 18);
    auto catalog = Catalog::Open(disk, "c", cache, kSmall);
    ASSERT_TRUE(catalog) << catalog.error().text;
    ExpectSameAs(new_, *(*catalog)->View());
    const std::vector<std::string> names = *disk.List("c");
    EXPECT_EQ(std::count_if(names.begin(), names.end(),
                            [](const std::string& name) { return name.ends_with(".log"); }),
              1);
  }
}

}  // namespace
}  // namespace stele::catalog
