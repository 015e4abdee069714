#include <benchmark/benchmark.h>

#include <string>

#include "util/digest.h"
#include "util/rabin.h"

namespace stele {
namespace {

constexpr std::size_t kPageBytes = 20'000;

void BM_Digest(benchmark::State& state) {
  const std::string page(kPageBytes, 'x');
  Hasher hasher(static_cast<DigestAlgorithm>(state.range(0)));
  for (auto _ : state) {
    hasher.Update(page);
    benchmark::DoNotOptimize(hasher.Finish());
  }
  state.SetLabel(std::string(DigestName(static_cast<DigestAlgorithm>(state.range(0)))));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kPageBytes));
}
BENCHMARK(BM_Digest)
    ->Arg(static_cast<int>(DigestAlgorithm::kSha1))
    ->Arg(static_cast<int>(DigestAlgorithm::kSha256));

void BM_Rabin(benchmark::State& state) {
  const std::string page(kPageBytes, 'x');
  for (auto _ : state) benchmark::DoNotOptimize(RabinFingerprint(page));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kPageBytes));
}
BENCHMARK(BM_Rabin);

}  // namespace
}  // namespace stele
