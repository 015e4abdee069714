// PISA segments in a catalog: when they are made, of what, and that the answer is the same with
// them and without them.
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/test_captures.h"
#include "catalog/test_twin.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"

namespace stele::catalog {
namespace {

constexpr CatalogOptions kSmallForest{8000, 3, 3, 200};
constexpr std::int64_t kDay = 86400000;

class CatalogPisaTest : public testing::Test {
 protected:
  CatalogPisaTest() { Open(); }

  void Open() {
    catalog_.reset();
    auto catalog = Catalog::Open(disk_, "c", cache_, kSmallForest);
    ASSERT_TRUE(catalog) << catalog.error().text;
    catalog_ = std::move(*catalog);
  }

  // Captures of 40 URLs from one day on, in the order of time, ten an hour.
  void Append(std::int64_t day, std::uint32_t count) {
    std::vector<Capture> captures;
    for (std::uint32_t i = 0; i < count; ++i) {
      Capture capture = maker_.Make({0, next_serial_++}, 40);
      capture.time.milliseconds = kFirstTime + day * kDay + i * 360000ll;
      capture.id.batch = BatchOf(capture.time);
      captures.push_back(capture);
    }
    ASSERT_TRUE(catalog_->Append(captures));
    twin_.Append(captures);
  }

  void Work() {
    for (Result<bool> more = true; *more;) {
      more = catalog_->Maintain();
      ASSERT_TRUE(more) << more.error().text;
    }
  }

  void ExpectRight(const CatalogView& view) {
    for (std::int64_t day = -1; day < 120; day += 7) {
      const Timestamp time{kFirstTime + day * kDay};
      const PisaTimelineQuery at{time, time};
      EXPECT_EQ(AllAlive(view, at, 17), twin_.Alive(at));
      const PisaTimelineQuery during{
          time, {time.milliseconds + 10 * kDay}, SelectDomain("example3.org")};
      EXPECT_EQ(AllAlive(view, during, 9), twin_.Alive(during));
    }
    view.Verify([](const Error& error) { ADD_FAILURE() << error.text; });
  }

  std::size_t segments() { return catalog_->View()->files().pisa.size(); }
  std::uint64_t loose() {
    std::uint64_t entries = 0;
    for (const auto& run : catalog_->View()->files().loose) entries += run->totals().entries;
    return entries;
  }

  io::MemoryFileSystem disk_;
  PageCache cache_{1 << 20};
  CaptureMaker maker_{5};
  CatalogTwin twin_;
  std::unique_ptr<Catalog> catalog_;
  std::uint32_t next_serial_ = 1;
};

TEST_F(CatalogPisaTest, P2_SegmentsAreMadeAsTimeGoesOn) {
  std::size_t before = 0;
  for (std::int64_t day = 0; day < 100; ++day) {
    Append(day, 60);
    Work();
    EXPECT_GE(segments(), before);
    before = segments();
  }
  // Each has at least 200 captures, all but the last more, and few are in none.
  EXPECT_GE(segments(), 12u);
  EXPECT_LE(segments(), 25u);
  EXPECT_LT(loose(), 400u);
  ExpectRight(*catalog_->View());
  Open();
  EXPECT_EQ(segments(), before);
  ExpectRight(*catalog_->View());
}

TEST_F(CatalogPisaTest, P3_AppendMakesNone) {
  for (std::int64_t day = 0; day < 50; ++day) Append(day, 60);
  EXPECT_EQ(segments(), 0u);
  ExpectRight(*catalog_->View());
}

TEST_F(CatalogPisaTest, P2_ManyCapturesAtOnceAreCutIntoSegments) {
  for (std::int64_t day = 0; day < 50; ++day) Append(day, 60);
  Work();
  EXPECT_GE(segments(), 6u);
  ExpectRight(*catalog_->View());
}

TEST_F(CatalogPisaTest, P2_FewLateCapturesWaitAndManyAreTakenIn) {
  for (std::int64_t day = 20; day < 100; ++day) Append(day, 60);
  Work();
  const Manifest before = catalog_->View()->files().manifest;
  const std::uint64_t loose_before = loose();
  Append(30, 200);
  Append(100, 300);
  Work();
  // The old segments are the same, but for the last, which may have grown; and the late captures
  // are kept beside them.
  const Manifest after = catalog_->View()->files().manifest;
  ASSERT_GE(after.pisa.size(), before.pisa.size());
  EXPECT_NE(after.pisa, before.pisa);
  EXPECT_TRUE(std::equal(before.pisa.begin(), before.pisa.end() - 1, after.pisa.begin()));
  EXPECT_GE(loose(), 200u);
  EXPECT_LT(loose(), 500u + loose_before);
  ExpectRight(*catalog_->View());
  for (std::int64_t day = 0; day < 20; ++day) Append(day, 60);
  Work();
  EXPECT_NE(catalog_->View()->files().manifest.pisa.front(), before.pisa.front());
  EXPECT_LT(loose(), 700u);
  ExpectRight(*catalog_->View());
}

TEST_F(CatalogPisaTest, P2_CompactLeavesNothingLoose) {
  for (const std::int64_t day : {0, 40, 20, 10, 80, 0}) {
    Append(day, 90);
    ASSERT_TRUE(catalog_->Compact());
    EXPECT_EQ(loose(), 0u);
    ExpectRight(*catalog_->View());
  }
  EXPECT_LE(segments(), 3u);  // no small one for each of them
}

// A writer that nobody asks anything needs no memory for pages.
TEST_F(CatalogPisaTest, P3_MakingSegmentsLeavesTheCacheAlone) {
  for (std::int64_t day = 0; day < 60; day += 10) {
    Append(day, 500);
    ASSERT_TRUE(catalog_->Compact());
  }
  EXPECT_GT(catalog_->View()->files().pisa.size(), 1u);
  EXPECT_EQ(cache_.bytes(), 0u);
  ExpectRight(*catalog_->View());
  EXPECT_GT(cache_.bytes(), 0u);
}

TEST_F(CatalogPisaTest, P2_AForgottenBatchIsNotShownAnyMore) {
  for (std::int64_t day = 0; day < 100; ++day) Append(day, 60);
  Work();
  const std::size_t before = segments();
  const std::set<CaptureId> june = twin_.IdsOf(200406);
  ASSERT_TRUE(catalog_->Forget(june));
  twin_.Forget(june);
  EXPECT_EQ(segments(), 0u);
  ExpectRight(*catalog_->View());
  Work();
  EXPECT_GT(segments(), before / 2);
  ExpectRight(*catalog_->View());
  // What no segment knows leaves them alone.
  const std::size_t again = segments();
  ASSERT_TRUE(catalog_->Forget({{201001, 1}}));
  EXPECT_EQ(segments(), again);
}

TEST_F(CatalogPisaTest, P3_AReaderInAnotherProcessAnswersFromThem) {
  const auto reader = CatalogReader::Open(disk_, "c", cache_);
  ASSERT_TRUE(reader);
  std::shared_ptr<const CatalogView> old;
  for (std::int64_t day = 0; day < 60; ++day) {
    Append(day, 60);
    Work();
    ASSERT_TRUE((*reader)->Refresh());
    const Timestamp time{kFirstTime + day / 2 * kDay};
    EXPECT_EQ(AllAlive(*(*reader)->View(), {time, time}, 100), twin_.Alive({time, time}));
    if (day == 30) old = (*reader)->View();
  }
  EXPECT_EQ((*reader)->View()->files().pisa.size(), segments());
  ASSERT_TRUE(catalog_->Compact());
  // An older view stays what it was.
  CatalogTwin then;
  for (const auto& [id, row] : twin_.rows()) {
    if (row.time.milliseconds < kFirstTime + 31 * kDay) then.Append({row});
  }
  EXPECT_EQ(AllAlive(*old, {kTimeBegin, kTimeEnd}, 100), then.Alive({kTimeBegin, kTimeEnd}));
}

}  // namespace
}  // namespace stele::catalog
