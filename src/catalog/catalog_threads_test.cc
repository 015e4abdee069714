// One thread adds captures, one merges, one reads as another process would; none waits for another.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "catalog/catalog.h"
#include "catalog/test_captures.h"
#include "catalog/test_twin.h"
#include "io/memory_file_system.h"

namespace stele::catalog {
namespace {

std::size_t Count(const CatalogView& view) {
  LocationQuery query;
  query.what = SelectAll();
  return AllAnswers(view, query, 100000).size();
}

TEST(CatalogThreads, P3_ThreadsReadAndMergeWhileRowsCome) {
  io::MemoryFileSystem disk;
  PageCache cache(1 << 20);
  const auto opened = Catalog::Open(disk, "c", cache, {20000, 2, 2, 100});
  ASSERT_TRUE(opened) << opened.error().text;
  Catalog* const catalog = opened->get();
  CaptureMaker maker(1);
  std::atomic<bool> done = false;
  std::thread maintenance([&] {
    while (!done) {
      const Result<bool> worked = catalog->Maintain();
      ASSERT_TRUE(worked) << worked.error().text;
    }
  });
  std::thread reading([&] {
    Result<std::unique_ptr<CatalogReader>> reader = CatalogReader::Open(disk, "c", cache);
    ASSERT_TRUE(reader) << reader.error().text;
    std::size_t seen = 0;
    while (!done) {
      ASSERT_TRUE((*reader)->Refresh());
      const std::size_t now = Count(*(*reader)->View());
      EXPECT_GE(now, seen);
      seen = now;
      EXPECT_GE(Count(*catalog->View()), seen);
      const auto view = catalog->View();
      EXPECT_EQ(AllAlive(*view, {kTimeBegin, kTimeEnd}, 1000000).size(), Count(*view));
    }
  });
  for (std::uint32_t i = 0; i < 200; ++i) {
    std::vector<Capture> captures;
    for (std::uint32_t j = 0; j < 20; ++j) captures.push_back(maker.Make({200405, i * 20 + j}));
    EXPECT_TRUE(catalog->Append(captures));
  }
  done = true;
  maintenance.join();
  reading.join();
  EXPECT_EQ(Count(*catalog->View()), 4000u);
  catalog->View()->Verify([](const Error& error) { ADD_FAILURE() << error.text; });
}

}  // namespace
}  // namespace stele::catalog
