// The state of an archive at a moment in the middle of its history: from a segment of persistent
// trees, and by going through a sorted array of all captures. The argument is the number of
// captures of each URL. Rates are keys of the answer in a second.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>
#include <optional>

#include "catalog/location_run.h"
#include "catalog/pisa_cursor.h"
#include "catalog/pisa_segment.h"
#include "catalog/pisa_segment_writer.h"
#include "io/memory_file_system.h"
#include "io/random.h"
#include "util/check.h"

namespace stele::catalog {
namespace {

constexpr std::uint32_t kUrls = 20000;
constexpr std::int64_t kYear = 365ll * 24 * 3600 * 1000;
constexpr Timestamp kFirst{1072915200000};  // 2004
// A segment is closed when there are so many captures for each live key.
constexpr std::int64_t kCapturesPerSegment = 3;

struct Capture {
  std::uint32_t url;
  Timestamp time;
  CaptureId id;
};

struct History {
  std::vector<std::string> urls;  // ascending
  std::vector<Capture> captures;  // by URL and time
  Timestamp middle;
};

// Every URL again and again, each time at any moment of the round.
History MakeHistory(std::int64_t captures_per_url) {
  History history;
  io::SeededRandom dice(1);
  for (std::uint32_t i = 0; i < kUrls; ++i) {
    history.urls.push_back(fmt::format("com,example{:03})/articles/{:04}/{:08x}.html", i / 100,
                                       i % 100, dice.Next() & 0xffffffff));
  }
  const std::int64_t round = 20 * kYear / 100;
  for (std::uint32_t url = 0; url < kUrls; ++url) {
    for (std::int64_t i = 0; i < captures_per_url; ++i) {
      const auto moment =
          static_cast<std::int64_t>(dice.Next() % static_cast<std::uint64_t>(round));
      const Timestamp time{kFirst.milliseconds + i * round + moment};
      const auto serial = static_cast<std::uint32_t>(i * kUrls + moment * kUrls / round);
      history.captures.push_back(
          {url, time, {static_cast<std::uint32_t>(200401 + i / 10), serial}});
    }
  }
  history.middle = Timestamp{kFirst.milliseconds + round * (captures_per_url + 1) / 2};
  return history;
}

const History& HistoryWith(std::int64_t captures_per_url) {
  static std::map<std::int64_t, History> histories;
  const auto found = histories.find(captures_per_url);
  if (found != histories.end()) return found->second;
  return histories.emplace(captures_per_url, MakeHistory(captures_per_url)).first->second;
}

void WriteSegment(io::FileSystem& fs, const History& history, const PisaSegmentOptions& options) {
  auto writer = PisaSegmentWriter::Create(fs, "segment", options);
  Check(writer.ok());
  for (const Capture& one : history.captures) {
    if (one.time >= options.end) continue;
    const Status added = (*writer)->Add(history.urls[one.url], one.time, one.id);
    Check(added.ok());
  }
  const Status finished = (*writer)->Finish();
  Check(finished.ok());
}

// The segment in which the middle of the history is.
PisaSegmentOptions MiddleSegment(const History& history) {
  const std::int64_t span = kCapturesPerSegment * (20 * kYear / 100);
  const std::int64_t before = (history.middle.milliseconds - kFirst.milliseconds) / span * span;
  PisaSegmentOptions options;
  options.first.milliseconds = kFirst.milliseconds + before;
  options.end.milliseconds = options.first.milliseconds + span;
  return options;
}

void ReadState(benchmark::State& state, const PisaSegmentOptions& options,
               std::size_t cache_bytes) {
  const History& history = HistoryWith(state.range(0));
  io::MemoryFileSystem disk;
  WriteSegment(disk, history, options);
  PageCache cache(cache_bytes);
  const auto segment = PisaSegment::Open(disk, "segment", cache);
  Check(segment.ok());
  std::uint64_t keys = 0;
  for (auto _ : state) {
    PisaCursor cursor(**segment, StateAt(history.middle));
    std::uint64_t sum = 0;
    while (*cursor.Next()) {
      sum += cursor.capture().serial + cursor.key().size();
      ++keys;
    }
    benchmark::DoNotOptimize(sum);
  }
  const PisaSegmentSummary& summary = (*segment)->summary();
  state.SetItemsProcessed(static_cast<std::int64_t>(keys));
  state.counters["bytes/capture"] =
      static_cast<double>((*segment)->bytes()) / static_cast<double>(summary.captures);
}

// Rolled segments, pages read and decompressed each time.
void BM_StateFromDisk(benchmark::State& state) {
  ReadState(state, MiddleSegment(HistoryWith(state.range(0))), 0);
}
BENCHMARK(BM_StateFromDisk)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

// Rolled segments, pages in the cache.
void BM_StateFromCache(benchmark::State& state) {
  ReadState(state, MiddleSegment(HistoryWith(state.range(0))), 256 << 20);
}
BENCHMARK(BM_StateFromCache)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

// One segment for the whole history.
void BM_StateFromOneSegment(benchmark::State& state) { ReadState(state, {}, 256 << 20); }
BENCHMARK(BM_StateFromOneSegment)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

// Goes through all captures in the order of keys; `key_of` says what is compared.
template <typename Item, typename KeyOf>
void ScanForState(benchmark::State& state, const std::vector<Item>& captures, Timestamp middle,
                  const KeyOf& key_of) {
  std::uint64_t keys = 0;
  for (auto _ : state) {
    std::uint64_t sum = 0;
    const Item* newest = nullptr;
    const auto give = [&] {
      if (newest == nullptr) return;
      sum += newest->id.serial;
      ++keys;
    };
    for (const Item& one : captures) {
      if (newest != nullptr && key_of(*newest) != key_of(one)) {
        give();
        newest = nullptr;
      }
      if (one.time <= middle) newest = &one;
    }
    give();
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(keys));
}

// What a sorted file of captures has, as it would be in memory: each with its key.
struct Record {
  std::string key;
  Timestamp time;
  CaptureId id;
};

void BM_StateFromSortedArray(benchmark::State& state) {
  const History& history = HistoryWith(state.range(0));
  std::vector<Record> records;
  for (const Capture& one : history.captures) {
    records.push_back({history.urls[one.url], one.time, one.id});
  }
  ScanForState(state, records, history.middle,
               [](const Record& one) -> const std::string& { return one.key; });
}
BENCHMARK(BM_StateFromSortedArray)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

// The same when each key is a number, and nothing but numbers is read: no file is that simple.
void BM_StateFromSortedNumbers(benchmark::State& state) {
  const History& history = HistoryWith(state.range(0));
  ScanForState(state, history.captures, history.middle, [](const Capture& one) { return one.url; });
}
BENCHMARK(BM_StateFromSortedNumbers)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

// A sorted run of all captures, from end to end: what there is without persistent trees.
void ScanRun(benchmark::State& state, std::size_t cache_bytes) {
  const History& history = HistoryWith(state.range(0));
  io::MemoryFileSystem disk;
  auto writer = LocationRunWriter::Create(disk, "run");
  Check(writer.ok());
  for (const Capture& one : history.captures) {
    const Status added = (*writer)->Add({history.urls[one.url], one.time, one.id});
    Check(added.ok());
  }
  Check((*writer)->Finish().ok());
  PageCache cache(cache_bytes);
  const auto run = LocationRun::Open(disk, "run", cache);
  Check(run.ok());
  std::uint64_t keys = 0;
  for (auto _ : state) {
    const auto cursor = (*run)->NewCursor(LocationRun::Reading::kAgain);
    std::uint64_t sum = 0;
    std::string key;
    std::optional<CaptureId> newest;
    const auto give = [&] {
      if (!newest) return;
      sum += newest->serial;
      ++keys;
    };
    for (auto move = cursor->Seek(FirstOf("")); *move != nullptr; move = cursor->Next()) {
      const LocationEntry& one = **move;
      if (one.key != key) {
        give();
        newest.reset();
        key = one.key;
      }
      if (one.time <= history.middle) newest = one.id;
    }
    give();
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(keys));
}

void BM_StateFromSortedRunOnDisk(benchmark::State& state) { ScanRun(state, 0); }
BENCHMARK(BM_StateFromSortedRunOnDisk)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

void BM_StateFromSortedRunInCache(benchmark::State& state) { ScanRun(state, 256 << 20); }
BENCHMARK(BM_StateFromSortedRunInCache)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

void BM_BuildSegment(benchmark::State& state) {
  const History& history = HistoryWith(state.range(0));
  const PisaSegmentOptions options = MiddleSegment(history);
  for (auto _ : state) {
    io::MemoryFileSystem disk;
    WriteSegment(disk, history, options);
  }
  state.SetItemsProcessed(state.iterations() * kUrls * (kCapturesPerSegment + 1));
}
BENCHMARK(BM_BuildSegment)->Arg(10)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stele::catalog
