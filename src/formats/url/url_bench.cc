#include <benchmark/benchmark.h>

#include "formats/url/surt.h"
#include "formats/url/url.h"

namespace stele::url {
namespace {

constexpr std::string_view kInputs[] = {
    "http://example.com/",
    "https://www.example.org/news/2014/06/10/some-longer-title-of-an-article.html",
    "https://en.wikipedia.org/w/index.php?title=Web_archiving&action=edit&section=3#Tools",
    "http://user:pass@static.images.example.co.uk:8080/a/b/../c/./image%20one.png?v=12",
};

void SetBytes(benchmark::State& state) {
  std::size_t bytes = 0;
  for (std::string_view input : kInputs) bytes += input.size();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(std::size(kInputs)));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void BM_Parse(benchmark::State& state) {
  for (auto _ : state) {
    for (std::string_view input : kInputs) benchmark::DoNotOptimize(Parse(input));
  }
  SetBytes(state);
}
BENCHMARK(BM_Parse);

void BM_SurtKey(benchmark::State& state) {
  for (auto _ : state) {
    for (std::string_view input : kInputs) benchmark::DoNotOptimize(SurtKey(input));
  }
  SetBytes(state);
}
BENCHMARK(BM_SurtKey);

void BM_ParseUnicodeHost(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(
        Parse("http://b\xC3\xBC"
              "cher.example/"));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ParseUnicodeHost);

void BM_Resolve(benchmark::State& state) {
  const Result<Url> base = Parse("https://www.example.org/news/2014/06/10/article.html?id=7");
  constexpr std::string_view kLinks[] = {"../images/logo.png", "/about/us", "?page=2", "#top"};
  for (auto _ : state) {
    for (std::string_view link : kLinks) benchmark::DoNotOptimize(Parse(link, &*base));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(std::size(kLinks)));
}
BENCHMARK(BM_Resolve);

}  // namespace
}  // namespace stele::url
