#include "catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/test_captures.h"
#include "catalog/test_twin.h"
#include "io/memory_file_system.h"

namespace stele::catalog {
namespace {

class CatalogTest : public testing::Test {
 protected:
  std::unique_ptr<Catalog> Open(CatalogOptions options = {}) {
    Result<std::unique_ptr<Catalog>> catalog = Catalog::Open(disk_, "c", cache_, options);
    EXPECT_TRUE(catalog) << catalog.error().text;
    return catalog ? std::move(*catalog) : nullptr;
  }
  std::vector<Capture> Make(std::uint32_t first, std::uint32_t count) {
    std::vector<Capture> captures;
    for (std::uint32_t i = 0; i < count; ++i) captures.push_back(maker_.Make({200405, first + i}));
    return captures;
  }
  static std::size_t Count(const CatalogView& view) {
    LocationQuery query;
    query.what = SelectAll();
    return AllAnswers(view, query, 100000).size();
  }

  io::MemoryFileSystem disk_;
  PageCache cache_{1 << 20};
  CaptureMaker maker_{1};
};

TEST_F(CatalogTest, I6_TwoCapturesOfOneSecondAreBothReachable) {
  const auto catalog = Open();
  std::vector<Capture> captures = Make(0, 2);
  for (Capture& capture : captures) capture.url = "http://example.org/";
  for (Capture& capture : captures) capture.key = {};
  captures[0].time = *ParseDigits("20040510120000100");
  captures[1].time = *ParseDigits("20040510120000900");
  ASSERT_TRUE(catalog->Append(captures));
  LocationQuery query;
  query.what = SelectUrl("http://example.org/");
  query.pick = LocationQuery::Pick::kNearest;
  query.from = *ParseDigits("20040510120000200");
  EXPECT_EQ(std::get<2>(AllAnswers(*catalog->View(), query, 5).at(0)), captures[0].id);
  query.from = *ParseDigits("20040510120000800");
  EXPECT_EQ(std::get<2>(AllAnswers(*catalog->View(), query, 5).at(0)), captures[1].id);
}

TEST_F(CatalogTest, I6_ARowIsReplacedByALaterOneWithItsId) {
  const auto catalog = Open({2000, 2, 2});
  std::vector<Capture> captures = Make(0, 50);
  for (std::uint32_t round = 0; round < 10; ++round) {
    for (Capture& capture : captures) capture.place.container = round;
    ASSERT_TRUE(catalog->Append(captures));
    ASSERT_TRUE(catalog->Maintain());
    EXPECT_EQ(catalog->View()->Get({200405, 7})->row.place.container, round);
  }
  EXPECT_EQ(Count(*catalog->View()), 50u);
  ASSERT_TRUE(catalog->Compact());
  EXPECT_EQ(catalog->View()->Get({200405, 7})->row.place.container, 9u);
  EXPECT_EQ(catalog->View()->files().segments.at(0)->totals().rows, 50u);
}

TEST_F(CatalogTest, P3_OneWriterAtATime) {
  const auto catalog = Open();
  const auto second = Catalog::Open(disk_, "c", cache_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
}

TEST_F(CatalogTest, P3_WhatNoIndexTakesIsRefusedWhole) {
  const auto catalog = Open();
  std::vector<Capture> captures = Make(0, 3);
  captures[2].key = "a key with spaces";
  EXPECT_EQ(catalog->Append(captures).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Count(*catalog->View()), 0u);
  captures.pop_back();
  EXPECT_TRUE(catalog->Append(captures));
  EXPECT_EQ(Count(*catalog->View()), 2u);
}

TEST_F(CatalogTest, P3_AReaderSeesNewRowsWithoutTheWritersHelp) {
  EXPECT_EQ(CatalogReader::Open(disk_, "c", cache_).error().code, ErrorCode::kNotFound);
  const auto catalog = Open({3000, 2, 2});
  const auto reader = CatalogReader::Open(disk_, "c", cache_);
  ASSERT_TRUE(reader);
  for (std::uint32_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(catalog->Append(Make(i * 5, 5)));
    if (i % 3 == 0) {
      ASSERT_TRUE(catalog->Maintain());
    }
    ASSERT_TRUE((*reader)->Refresh());
    EXPECT_EQ(Count(*(*reader)->View()), (i + 1) * 5);
  }
}

TEST_F(CatalogTest, I6_ABatchIsForgottenAlone) {
  const auto catalog = Open({5000, 2, 2});
  std::vector<Capture> captures = Make(0, 300);
  for (std::size_t i = 0; i < captures.size(); ++i)
    captures[i].id.batch = i % 2 == 0 ? 200405 : 200406;
  ASSERT_TRUE(catalog->Append(captures));
  std::set<CaptureId> may;
  for (std::size_t i = 0; i < captures.size(); i += 2) may.insert(captures[i].id);
  ASSERT_TRUE(catalog->Forget(may));
  EXPECT_EQ(Count(*catalog->View()), 150u);
  EXPECT_EQ(catalog->View()->Batches(), std::vector<std::uint32_t>{200406});
  EXPECT_TRUE(disk_.List("c/captures/200405")->empty());
  // What comes later is not hidden.
  ASSERT_TRUE(catalog->Append(std::span(captures).first(1)));
  EXPECT_EQ(Count(*catalog->View()), 151u);
  ASSERT_TRUE(catalog->Compact());
  EXPECT_EQ(Count(*catalog->View()), 151u);
}

TEST_F(CatalogTest, I6_BatchesAreSummedUpWithoutReadingThem) {
  const auto catalog = Open({5000, 2, 2});
  EXPECT_TRUE(catalog->View()->BatchSummaries().empty());
  std::vector<Capture> captures = Make(0, 300);
  for (std::size_t i = 0; i < captures.size(); ++i) {
    captures[i].id.batch = i % 3 == 0 ? 200405 : 200406;
    captures[i].time.milliseconds = 1083369600000 + static_cast<std::int64_t>(i);
  }
  ASSERT_TRUE(catalog->Append(std::span(captures).first(250)));
  ASSERT_TRUE(catalog->Compact());
  ASSERT_TRUE(catalog->Append(std::span(captures).subspan(250)));
  std::vector<BatchSummary> found = catalog->View()->BatchSummaries();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].rows, 100u);
  EXPECT_EQ(found[0].times, (TimeRange{captures[0].time, captures[297].time}));
  EXPECT_EQ(found[1].rows, 200u);
  EXPECT_EQ(found[1].times, (TimeRange{captures[1].time, captures[299].time}));
  EXPECT_EQ(found[1].batch, 200406u);
  // A row that is given again counts once when it is merged.
  ASSERT_TRUE(catalog->Append(std::span(captures).first(30)));
  ASSERT_TRUE(catalog->Compact());
  found = catalog->View()->BatchSummaries();
  EXPECT_EQ(found[0].rows, 100u);
  EXPECT_EQ(found[1].rows, 200u);
  EXPECT_EQ(found[1].bytes, catalog->View()->files().segments.at(1)->file().bytes());
}

TEST_F(CatalogTest, P3_MergesKeepFilesFew) {
  const auto catalog = Open({2000, 4, 4});
  for (std::uint32_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(catalog->Append(Make(i * 20, 20)));
    for (Result<bool> more = true; *more;) {
      more = catalog->Maintain();
      ASSERT_TRUE(more);
    }
    EXPECT_LE(catalog->View()->files().runs.size(), 15u);
    EXPECT_LE(catalog->View()->files().segments.size(), 15u);
  }
  EXPECT_EQ(Count(*catalog->View()), 6000u);
}

TEST_F(CatalogTest, P3_WhoeverAddsWaitsWhereNobodyMerges) {
  const auto catalog = Open({2000, 2, 3});
  std::size_t runs = 0;
  std::size_t segments = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(catalog->Append(Make(i * 20, 20)));
    runs = std::max(runs, catalog->View()->files().runs.size());
    segments = std::max(segments, catalog->View()->files().segments.size());
  }
  EXPECT_GT(runs, 3u);  // it was left to others at first
  EXPECT_LT(runs, 40u);
  EXPECT_LT(segments, 40u);
  EXPECT_EQ(Count(*catalog->View()), 4000u);
  catalog->View()->Verify([](const Error& error) { ADD_FAILURE() << error.text; });
}

TEST_F(CatalogTest, P3_AManifestThatIsGoneIsNoEmptyCatalog) {
  ASSERT_TRUE(Open()->Append(Make(0, 10)));
  ASSERT_NE(Open(), nullptr);  // the log became a run
  ASSERT_TRUE(disk_.Remove("c/manifest"));
  const auto catalog = Catalog::Open(disk_, "c", cache_);
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::kCorrupt);
}

TEST_F(CatalogTest, P3_ADamagedLogIsNoTornOne) {
  {
    const auto catalog = Open();
    ASSERT_TRUE(catalog->Append(Make(0, 10)));
    ASSERT_TRUE(catalog->Sync());
  }
  std::string log = *io::ReadFile(disk_, "c/00000001.log");
  log[200] = static_cast<char>(log[200] ^ 1);
  ASSERT_TRUE(io::ReplaceFile(disk_, "c/00000001.log", log));
  const auto catalog = Catalog::Open(disk_, "c", cache_);
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(catalog.error().text, testing::StartsWith("c/00000001.log"));
}

TEST_F(CatalogTest, P2_AResumeKeyThatIsNoneIsRefused) {
  const auto catalog = Open();
  LocationQuery query;
  query.what = SelectAll();
  query.resume = "nonsense";
  EXPECT_EQ(catalog->View()->Find(query).Next().error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace stele::catalog
