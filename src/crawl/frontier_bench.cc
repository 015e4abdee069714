// What a frontier costs that has many URLs on many hosts: time for each URL that is added, taken
// and finished, and the memory of the process. STELE_FRONTIER_URLS=10000000 for the large one.
#include "crawl/frontier.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "util/check.h"

namespace stele::crawl {
namespace {

constexpr std::uint64_t kHostsMax = 100'000;

std::uint64_t Urls() {
  const char* text = std::getenv("STELE_FRONTIER_URLS");
  return text == nullptr ? 20'000 : std::strtoull(text, nullptr, 10);
}

// Of this process, in MB.
double Resident() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

// Of that, what was allocated and not freed yet; malloc keeps the rest.
double Allocated() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / 1e6;
}

// The most that it ever was.
double MostResident() {
  rusage usage{};
  Check(::getrusage(RUSAGE_SELF, &usage) == 0);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

std::string HostName(std::uint64_t number) { return fmt::format("host{}.example.org", number); }

Candidate UrlAt(std::uint64_t number, std::uint64_t hosts) {
  Candidate candidate;
  candidate.url = fmt::format("http://{}/articles/{}/page-{}.html", HostName(number % hosts),
                              number % 977, number);
  candidate.via = fmt::format("http://{}/", HostName(number % hosts));
  candidate.hops = "LL";
  candidate.source = candidate.via;
  return candidate;
}

void FillAndTake(benchmark::State& state) {
  const std::uint64_t urls = Urls();
  const std::uint64_t hosts = std::min(kHostsMax, urls / 10);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("stele-frontier-bench-{}", ::getpid());
  double filled = 0, filled_allocated = 0, taken_all = 0, taken_allocated = 0;
  double trimmed = 0, again = 0;
  for (auto _ : state) {
    std::filesystem::remove_all(folder);
    {
      auto table = store::OpenDurableRocksTable(folder);
      Check(table.ok());
      auto frontier = Frontier::Open(**table, {});
      Check(frontier.ok());
      for (std::uint64_t i = 0; i < urls; ++i) Check((*frontier)->Add(UrlAt(i, hosts)).ok());
      Check((*frontier)->Commit().ok());
      filled = Resident();
      filled_allocated = Allocated();
      // By turns, as polite crawls do.
      for (std::uint64_t i = 0; i < urls / 10; ++i) {
        const std::string host = HostName(i % hosts);
        const auto taken = (*frontier)->Take(host);
        Check(taken.ok() && taken->has_value());
        Check((*frontier)->FirstIsPage(host).ok());
        (*frontier)->Finish(**taken);
        if (i % 1000 == 0) Check((*frontier)->Commit().ok());
      }
      Check((*frontier)->Commit().ok());
      taken_all = Resident();
      taken_allocated = Allocated();
      // As a crawl does each minute.
      ::malloc_trim(0);
      trimmed = Resident();
    }
    // As a process has it that begins here.
    ::malloc_trim(0);
    auto table = store::OpenDurableRocksTable(folder);
    Check(table.ok());
    auto frontier = Frontier::Open(**table, {});
    Check(frontier.ok() && (*frontier)->waiting() == urls - urls / 10);
    again = Resident();
  }
  std::filesystem::remove_all(folder);
  state.SetItemsProcessed(static_cast<std::int64_t>(urls) * state.iterations());
  state.counters["urls"] = static_cast<double>(urls);
  state.counters["hosts"] = static_cast<double>(hosts);
  state.counters["filled_MB"] = filled;
  state.counters["filled_allocated_MB"] = filled_allocated;
  state.counters["taken_MB"] = taken_all;
  state.counters["taken_allocated_MB"] = taken_allocated;
  state.counters["trimmed_MB"] = trimmed;
  state.counters["again_MB"] = again;
  state.counters["most_MB"] = MostResident();
}
BENCHMARK(FillAndTake)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stele::crawl
