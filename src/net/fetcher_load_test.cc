// Large bodies, many of them, in little memory.
#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "net/test_fetch_lab.h"
#include "net/test_memory.h"
#include "net/test_peers.h"
#include "util/test_stride.h"

namespace stele::net {
namespace {

constexpr std::size_t kSize = (std::size_t{64} << 20) / kTestStride;

TEST(FetcherLoad, LargeBodiesNeedLittleMemory) {
  constexpr int kCount = 4;
  TestServer server([](Request&, ResponseWriter& response) {
    EXPECT_TRUE(response.SendFrom({}, std::make_unique<PatternSource>(kSize)));
  });
  FetchLab lab;
  ForgetPeak();
  const std::size_t before = PeakMemory();
  std::vector<std::future<FetchResult>> results;
  for (int i = 0; i < kCount; ++i) results.push_back(lab.Begin(FetchLab::To(server->port())));
  for (auto& one : results) {
    const FetchResult result = one.get();
    EXPECT_EQ(result.payload_length, kSize) << result.error;
    EXPECT_EQ(CountPattern(*result.OpenPayload()), kSize);
  }
  if (kMemoryIsOurs) {
    EXPECT_LT(PeakMemory() - before, kSize / 4);
  }
}

}  // namespace
}  // namespace stele::net
