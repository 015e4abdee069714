// A catalog on a real disk: adding durably, size, and the questions that are asked most. The number
// of captures is STELE_BENCH_CAPTURES, or few.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "catalog/catalog.h"
#include "io/posix_file_system.h"
#include "io/random.h"
#include "util/check.h"

namespace stele::catalog {
namespace {

std::uint64_t CaptureCount() {
  const char* count = ::getenv("STELE_BENCH_CAPTURES");
  return count == nullptr ? 20000 : std::strtoull(count, nullptr, 10);
}

// Monthly crawls of the same sites, 32 hosts at a time: about ten captures for each URL, a third of
// them unchanged; and one URL that has a fortieth of all captures.
class Crawls {
 public:
  explicit Crawls(std::uint64_t captures)
      : urls_(std::max<std::uint64_t>(captures / 10, 32)), dice_(1) {}

  static constexpr std::string_view kOften = "https://www.often.example/status";

  std::string Url(std::uint64_t number) const {
    const std::uint64_t host = number % 32 + number / 32 / 300 * 32;
    const std::uint64_t path = number / 32 % 300;
    const std::uint64_t mix = (host * 7919 + path) * 0x9E37'79B9'7F4A'7C15;
    static constexpr const char* kWords[] = {"news", "about",   "products", "images",
                                             "2014", "archive", "people",   "download"};
    static constexpr const char* kEndings[] = {".html", "/", ".jpg", ".css", ".js", ".png"};
    return fmt::format("https://www.{}{}.example.{}/{}/{}-{}{}", kWords[host % 8], host,
                       host % 3 == 0 ? "org" : "com", kWords[mix >> 40 & 7], kWords[mix >> 50 & 7],
                       mix >> 32 & 0xFFFFF, kEndings[mix >> 60 & 3]);
  }

  // Which URL is visited at this place of a crawl: 32 hosts at a time, both in another order each
  // month.
  std::uint64_t Visited(std::uint64_t place, std::uint64_t month) const {
    const std::uint64_t groups = urls_ / 32 / 300;
    const std::uint64_t group = place / 32 / 300;
    if (group >= groups) return place;
    const std::uint64_t path = (place / 32 % 300 * 7 + month * 11) % 300;
    return ((group + month * 5) % groups * 300 + path) * 32 + (place + month) % 32;
  }

  // The next ones, in the order of the crawl.
  void Next(std::size_t count, std::vector<std::string>& urls, std::vector<Capture>& captures) {
    urls.resize(count);
    captures.resize(count);
    for (std::size_t i = 0; i < count; ++i, ++made_) {
      const bool often = made_ % 40 == 0;
      const std::uint64_t place = made_ % urls_;
      const std::uint64_t number = Visited(place, made_ / urls_);
      urls[i] = often ? std::string(kOften) : Url(number);
      Capture& capture = captures[i] = {};
      const auto month = static_cast<std::int64_t>(made_ / urls_);
      capture.time.milliseconds = 1388534400000 + month * 30 * 86400000ll +
                                  static_cast<std::int64_t>(place * 7 + dice_.Next() % 7);
      capture.id = {BatchOf(capture.time), static_cast<std::uint32_t>(made_)};
      capture.status = number % 17 == 0 ? 404 : 200;
      if (number % 3 == 0) capture.flags = kPage;
      capture.run = static_cast<std::uint32_t>(month);
      capture.type = number % 3 == 0 ? "text/html" : "image/jpeg";
      capture.length = 1000 + dice_.Next() % 60000;
      const std::uint64_t record = 500 + capture.length / 4 + dice_.Next() % 500;
      capture.place = {static_cast<std::uint32_t>(made_ / 100000), offset_, record};
      offset_ += record;
      const bool same = (number * 31 + static_cast<std::uint64_t>(month)) % 3 == 0;
      io::SeededRandom content(number * 1000 + static_cast<std::uint64_t>(month - (same ? 1 : 0)));
      if (same && month > 0) {
        capture.flags |= kRevisit;
      } else {
        capture.sha256.emplace();
        for (char& byte : *capture.sha256) byte = static_cast<char>(content.Next());
      }
      if (number % 3 == 0) capture.text_digest = content.Next();
      capture.url = urls[i];
    }
  }

 private:
  const std::uint64_t urls_;
  io::SeededRandom dice_;
  std::uint64_t made_ = 0;
  std::uint64_t offset_ = 0;
};

// A catalog of CaptureCount() captures, made once.
class Filled {
 public:
  Filled() : directory_(std::filesystem::temp_directory_path() / "stele_catalog_bench") {
    std::filesystem::remove_all(directory_);
    Result<std::unique_ptr<Catalog>> opened = Catalog::Open(fs_, directory_, cache_);
    Check(opened.ok());
    catalog_ = std::move(*opened);
  }
  ~Filled() {
    catalog_.reset();
    std::filesystem::remove_all(directory_);
  }

  std::uint64_t Bytes(const std::string& part) const {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / part)) {
      if (entry.is_regular_file()) bytes += entry.file_size();
    }
    return bytes;
  }

  io::PosixFileSystem fs_;
  PageCache cache_{64 << 20};
  const std::filesystem::path directory_;
  std::unique_ptr<Catalog> catalog_;
};

Filled& Example() {
  static Filled filled;
  return filled;
}

// Adds all captures, a thousand at a time, syncs each ten thousand, merges in a second thread.
void BM_Fill(benchmark::State& state) {
  for (auto _ : state) {
    Catalog& catalog = *Example().catalog_;
    std::atomic<bool> done = false;
    std::thread maintenance([&] {
      while (!done) {
        const Result<bool> worked = catalog.Maintain();
        Check(worked.ok());
        if (!*worked) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    Crawls crawls(CaptureCount());
    std::vector<std::string> urls;
    std::vector<Capture> captures;
    for (std::uint64_t made = 0; made < CaptureCount(); made += 1000) {
      state.PauseTiming();
      crawls.Next(1000, urls, captures);
      state.ResumeTiming();
      Check(catalog.Append(captures).ok());
      if (made % 10000 == 9000) Check(catalog.Sync().ok());
    }
    Check(catalog.Sync().ok());
    state.PauseTiming();
    done = true;
    maintenance.join();
    state.ResumeTiming();
    while (*catalog.Maintain()) {
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(CaptureCount()));
}
BENCHMARK(BM_Fill)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_Compact(benchmark::State& state) {
  for (auto _ : state) Check(Example().catalog_->Compact().ok());
  const auto count = static_cast<double>(CaptureCount());
  state.counters["row_bytes"] = static_cast<double>(Example().Bytes("captures")) / count;
  state.counters["index_bytes"] = static_cast<double>(Example().Bytes("location")) / count;
}
BENCHMARK(BM_Compact)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

// One URL and one moment at a time.
void BM_Nearest(benchmark::State& state, bool often) {
  const Crawls crawls(CaptureCount());
  const auto view = Example().catalog_->View();
  io::SeededRandom dice(2);
  for (auto _ : state) {
    LocationQuery query;
    query.what = SelectUrl(often ? std::string(Crawls::kOften)
                                 : crawls.Url(dice.Next() % (CaptureCount() / 10)));
    query.pick = LocationQuery::Pick::kNearest;
    query.from.milliseconds =
        1388534400000 + static_cast<std::int64_t>(dice.Next() % (300 * 86400000ull));
    LocationResults results = view->Find(std::move(query));
    benchmark::DoNotOptimize(results.Next());
  }
}
BENCHMARK_CAPTURE(BM_Nearest, AnyUrl, false);
BENCHMARK_CAPTURE(BM_Nearest, OneUrlWithVeryMany, true);

void BM_Row(benchmark::State& state) {
  const auto view = Example().catalog_->View();
  io::SeededRandom dice(3);
  std::vector<CaptureId> ids;
  CaptureScan scan = view->Scan({});
  for (Result<const Capture*> row = scan.Next(); *row != nullptr; row = scan.Next()) {
    if (dice.Next() % 10 == 0) ids.push_back((*row)->id);
  }
  for (auto _ : state) benchmark::DoNotOptimize(view->Get(ids[dice.Next() % ids.size()]));
}
BENCHMARK(BM_Row);

void BM_Scan(benchmark::State& state) {
  const auto view = Example().catalog_->View();
  std::int64_t rows = 0;
  for (auto _ : state) {
    CaptureScan scan = view->Scan({});
    for (Result<const Capture*> row = scan.Next(); *row != nullptr; row = scan.Next()) ++rows;
  }
  state.SetItemsProcessed(rows);
}
BENCHMARK(BM_Scan)->Unit(benchmark::kMillisecond);

void BM_Prefix(benchmark::State& state) {
  const auto view = Example().catalog_->View();
  std::int64_t entries = 0;
  for (auto _ : state) {
    LocationQuery query;
    query.what = SelectAll();
    LocationResults results = view->Find(std::move(query));
    while (*results.Next() != nullptr) ++entries;
  }
  state.SetItemsProcessed(entries);
}
BENCHMARK(BM_Prefix)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stele::catalog
