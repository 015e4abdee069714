#include "dedup/key_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace stele::dedup {
namespace {

constexpr std::size_t kMuch = std::size_t{1} << 30;

std::string KeyAt(int number) { return "http://a.is/" + std::to_string(number); }

int PassedOf(const KeyFilter& filter, int begin, int end) {
  int passed = 0;
  for (int i = begin; i < end; ++i) passed += filter.MayHave(KeyAt(i)) ? 1 : 0;
  return passed;
}

TEST(KeyFilter, D7_WhatWasAddedPassesAndHardlyAnythingElse) {
  constexpr int kKeys = 10'000;
  KeyFilter filter(kKeys, kMuch);
  EXPECT_EQ(PassedOf(filter, 0, kKeys), 0);
  for (int i = 0; i < kKeys; ++i) filter.Add(KeyAt(i));
  EXPECT_EQ(PassedOf(filter, 0, kKeys), kKeys);
  EXPECT_LT(PassedOf(filter, kKeys, 2 * kKeys), kKeys / 300);
}

TEST(KeyFilter, D7_WhereItIsTooSmallNothingIsLost) {
  KeyFilter filter(10'000, 100);
  for (int i = 0; i < 10'000; ++i) filter.Add(KeyAt(i));
  EXPECT_EQ(PassedOf(filter, 0, 10'000), 10'000);
  KeyFilter none(0, 0);
  none.Add("x");
  EXPECT_TRUE(none.MayHave("x"));
}

TEST(KeyFilter, D7_ItGrowsWithItsKeysUpToItsBound) {
  constexpr int kKeys = 60'000;
  KeyFilter filter(1'000, kMuch);
  const std::size_t bytes = filter.bytes();
  for (int i = 0; i < kKeys; ++i) filter.Add(KeyAt(i));
  EXPECT_GT(filter.bytes(), 64 * bytes);
  EXPECT_LT(filter.bytes(), 80 * bytes);
  EXPECT_EQ(PassedOf(filter, 0, kKeys), kKeys);
  EXPECT_LT(PassedOf(filter, kKeys, 2 * kKeys), 3 * kKeys / 300);
  // Keys that it has do not make it grow.
  const std::size_t grown = filter.bytes();
  for (int i = 0; i < 20 * kKeys; ++i) filter.Add(KeyAt(i % kKeys));
  EXPECT_EQ(filter.bytes(), grown);

  KeyFilter bounded(1'000, 20'000);
  for (int i = 0; i < kKeys; ++i) bounded.Add(KeyAt(i));
  EXPECT_LE(bounded.bytes(), 20'000u);
  EXPECT_GT(bounded.bytes(), 19'900u);
  EXPECT_EQ(PassedOf(bounded, 0, kKeys), kKeys);
}

TEST(KeyFilter, D7_ManyThreadsFillIt) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2'000;
  // It grows meanwhile.
  KeyFilter filter(kEach / 4, kMuch);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&filter, t] {
      for (int i = t * kEach; i < (t + 1) * kEach; ++i) {
        filter.Add(KeyAt(i));
        EXPECT_TRUE(filter.MayHave(KeyAt(i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(PassedOf(filter, 0, kThreads * kEach), kThreads * kEach);
}

}  // namespace
}  // namespace stele::dedup
