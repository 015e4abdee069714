#include "catalog/page_cache.h"

#include <gtest/gtest.h>

#include <thread>

namespace stele::catalog {
namespace {

Page PageOf(std::size_t size) { return std::make_shared<const std::string>(size, 'x'); }

TEST(PageCache, P1_KeepsNoMoreThanItMay) {
  PageCache cache(1 << 20);
  const std::uint64_t file = cache.NewFile();
  for (std::uint32_t page = 0; page < 1000; ++page) {
    cache.Insert(file, page, PageOf(16 << 10));
    EXPECT_LE(cache.bytes(), 1u << 20);
  }
  EXPECT_GT(cache.bytes(), 600u << 10);
  EXPECT_NE(cache.Find(file, 999), nullptr);
  EXPECT_EQ(cache.Find(file, 0), nullptr);
}

TEST(PageCache, P1_KeepsWhatIsUsed) {
  PageCache cache(1 << 20);
  const std::uint64_t file = cache.NewFile();
  for (std::uint32_t page = 0; page < 1000; ++page) {
    cache.Insert(file, page, PageOf(16 << 10));
    EXPECT_NE(cache.Find(file, 0), nullptr) << page;
  }
}

TEST(PageCache, P1_TellsFilesApartAndForgetsThem) {
  PageCache cache(1 << 20);
  const std::uint64_t a = cache.NewFile();
  const std::uint64_t b = cache.NewFile();
  EXPECT_NE(a, b);
  cache.Insert(a, 7, PageOf(1));
  EXPECT_EQ(cache.Find(b, 7), nullptr);
  cache.Insert(b, 7, PageOf(2));
  EXPECT_EQ(cache.Find(a, 7)->size(), 1u);
  cache.Forget(a, 8);
  EXPECT_EQ(cache.Find(a, 7), nullptr);
  EXPECT_EQ(cache.Find(b, 7)->size(), 2u);
  cache.Forget(b, 8);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(PageCache, P1_APageInUseOutlivesItsPlace) {
  PageCache cache(1 << 20);
  const std::uint64_t file = cache.NewFile();
  cache.Insert(file, 0, PageOf(5));
  const Page held = cache.Find(file, 0);
  cache.Forget(file, 1);
  EXPECT_EQ(held->size(), 5u);
}

TEST(PageCache, P1_ServesSeveralThreads) {
  PageCache cache(100 << 10);
  const std::uint64_t file = cache.NewFile();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint32_t i = 0; i < 20000; ++i) {
        const std::uint32_t page = i * 7 % 100;
        if (const Page found = cache.Find(file, page)) {
          EXPECT_EQ(found->size(), page + 1000u);
        } else {
          cache.Insert(file, page, PageOf(page + 1000));
        }
        cache.GiveBack(cache.BorrowDecoder());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.bytes(), 100u << 10);
}

}  // namespace
}  // namespace stele::catalog
