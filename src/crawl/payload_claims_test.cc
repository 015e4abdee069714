#include "crawl/payload_claims.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

#include "crawl/visit.h"

namespace stele::crawl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(PayloadClaims, D2_OthersWaitUntilAClaimHasEnded) {
  std::vector<PayloadClaims::Waiting> again;
  PayloadClaims claims([&again](const PayloadClaims::Waiting& visit) { again.push_back(visit); });
  const url::Url url = *url::Parse("http://example.org/");
  const auto a = std::make_shared<Visit>(url);
  const auto b = std::make_shared<Visit>(url);
  const auto c = std::make_shared<Visit>(url);
  auto first = claims.TryClaim({'a'}, a);
  ASSERT_TRUE(first);
  EXPECT_FALSE(claims.TryClaim({'a'}, b));
  EXPECT_FALSE(claims.TryClaim({'a'}, c));
  EXPECT_TRUE(claims.TryClaim({'b'}, c));
  EXPECT_THAT(again, IsEmpty());
  first.reset();
  EXPECT_THAT(again, ElementsAre(b, c));
  EXPECT_TRUE(claims.TryClaim({'a'}, b));
  EXPECT_THAT(again, SizeIs(2));
}

TEST(PayloadClaims, D2_OfManyThreadsOneHasIt) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2'000;
  std::atomic<int> holders = 0;
  std::atomic<int> waited = 0;
  std::atomic<int> again = 0;
  PayloadClaims claims([&again](const PayloadClaims::Waiting&) { ++again; });
  const auto visit = std::make_shared<Visit>(*url::Parse("http://example.org/"));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const auto claim = claims.TryClaim({'a'}, visit);
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
