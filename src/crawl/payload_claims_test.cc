#include "crawl/payload_claims.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace stele::crawl {
namespace {

TEST(PayloadClaims, D2_OthersWaitUntilAClaimHasEnded) {
  PayloadClaims claims;
  int again = 0;
  const auto count = [&again] { ++again; };
  auto first = claims.TryClaim({'a'}, count);
  ASSERT_TRUE(first);
  EXPECT_FALSE(claims.TryClaim({'a'}, count));
  EXPECT_FALSE(claims.TryClaim({'a'}, count));
  EXPECT_TRUE(claims.TryClaim({'b'}, count));
  EXPECT_EQ(again, 0);
  first.reset();
  EXPECT_EQ(again, 2);
  EXPECT_TRUE(claims.TryClaim({'a'}, count));
  EXPECT_EQ(again, 2);
}

TEST(PayloadClaims, D2_OfManyThreadsOneHasIt) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2'000;
  PayloadClaims claims;
  std::atomic<int> holders = 0;
  std::atomic<int> waited = 0;
  std::atomic<int> again = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const auto claim = claims.TryClaim({'a'}, [&again] { ++again; });
        if (!claim) ++waited;
        if (!claim) continue;
        EXPECT_EQ(++holders, 1);
        --holders;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(again, waited);
}

}  // namespace
}  // namespace stele::crawl
