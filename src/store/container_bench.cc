// A container volume on the disk of the temporary directory, with RocksDB: every operation synced.
// Pages and signatures are made before the clock runs; `cpu_us` is what all threads of the process
// burn for one operation, `syncs` how often the disk is asked for it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <random>
#include <thread>

#include "io/posix_file_system.h"
#include "store/container_volume.h"

namespace stele::store {
namespace {

// The size of the pages in the Webstore paper.
constexpr std::size_t kPageBytes = 19'200;

// Shrinks to a third, as web pages do.
std::string MakeTemplate() {
  std::mt19937 dice(1);
  std::vector<std::string> words;
  for (int i = 0; i < 1500; ++i) {
    std::string word;
    for (unsigned left = 2 + dice() % 8; left > 0; --left) {
      word += static_cast<char>('a' + dice() % 26);
    }
    words.push_back(word);
  }
  std::string page;
  while (page.size() < kPageBytes) {
    const std::string& word = words[std::min(dice() % words.size(), dice() % words.size())];
    page += dice() % 6 > 0 ? word + ' '
                           : fmt::format("<a href=\"/{}.html\">{}</a></p>\n<p>", word, word);
  }
  page.resize(kPageBytes);
  return page;
}

// Page `number`: nowhere the same 200 bytes as another.
std::string PageOf(std::uint64_t number) {
  static const std::string kTemplate = MakeTemplate();
  std::string page = kTemplate;
  for (std::size_t at = 0; at + 8 < page.size(); at += 200) {
    fmt::format_to_n(page.data() + at, 8, "{:08x}", static_cast<std::uint32_t>(number + at));
  }
  return page;
}

double CpuMicroseconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) { return 1e6 * double(t.tv_sec) + double(t.tv_usec); };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

class ContainerBench : public benchmark::Fixture {
 public:
  // Called by every thread; they meet before their loops.
  void SetUp(benchmark::State& state) override {
    if (state.thread_index() != 0) return;
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directory(directory_);
    const std::string path = directory_ + "/volume";
    auto table = OpenRocksBlockTable(directory_ + "/table");
    if (!table || !ContainerVolume::Create(fs_, path, {"bench", "sha256", 0})) std::abort();
    auto volume = ContainerVolume::Open({fs_, clock_, random_}, path, *std::move(table), {});
    if (!volume) std::abort();
    volume_ = *std::move(volume);
    page_ = 0;
    for (std::uint64_t page = signatures_.size(); page < kPages; ++page) {
      signatures_.push_back(volume_->signature().Of(PageOf(page)));
    }
    std::vector<std::thread> writers;
    for (int i = 0; i < 20; ++i) {
      writers.emplace_back([this] {
        for (std::uint64_t page = page_++; page < kOldPages; page = page_++) Store(page);
      });
    }
    for (std::thread& writer : writers) writer.join();
    page_ = kOldPages;
    syncs_ = volume_->syncs();
    cpu_us_ = CpuMicroseconds();
  }
  void TearDown(benchmark::State& state) override {
    if (state.thread_index() != 0) return;
    volume_.reset();
    std::filesystem::remove_all(directory_);
  }

 protected:
  static constexpr std::uint64_t kOldPages = 1000;
  static constexpr std::uint64_t kPages = 40'000;

  void Store(std::uint64_t page) {
    if (page >= kPages) std::abort();
    const std::string content = PageOf(page);
    io::MemorySource source(content);
    const std::string id = std::to_string(++operation_);
    const auto stored = volume_->Store(
        {signatures_[page], content.size(), StoreMode::kRegular, "text/html", {"bench", id}},
        source);
    if (!stored) std::abort();
  }
  ContentKey KeyOf(std::uint64_t page) const { return {"bench", signatures_[page], 0}; }

  // Called by every thread behind its loop; what one of them reports is what all have done.
  void Report(benchmark::State& state) {
    state.SetItemsProcessed(state.iterations());
    if (state.thread_index() != 0) return;
    const auto operations = double(state.iterations()) * state.threads();
    state.counters["cpu_us"] = (CpuMicroseconds() - cpu_us_) / operations;
    state.counters["syncs"] = double(volume_->syncs() - syncs_) / operations;
  }

  const std::string directory_ =
      (std::filesystem::temp_directory_path() / fmt::format("stele_bench_{}", ::getpid())).string();
  io::PosixFileSystem fs_;
  io::SystemClock clock_;
  io::SystemRandom random_;
  std::unique_ptr<ContainerVolume> volume_;
  std::vector<Signature> signatures_;
  std::atomic<std::uint64_t> operation_ = 0;
  std::atomic<std::uint64_t> page_ = 0;
  std::uint64_t syncs_ = 0;
  double cpu_us_ = 0;
};

BENCHMARK_DEFINE_F(ContainerBench, StoreNew)(benchmark::State& state) {
  for (auto step : state) Store(page_++);
  Report(state);
}

// As over the network: a duplicate is found by its signature, and no byte of it is read.
BENCHMARK_DEFINE_F(ContainerBench, StoreDuplicates)(benchmark::State& state) {
  std::uint64_t page = static_cast<std::uint64_t>(state.thread_index()) * 29;
  for (auto step : state) {
    const std::string id = std::to_string(++operation_);
    const auto found = volume_->Reference({signatures_[++page % kOldPages],
                                           kPageBytes,
                                           StoreMode::kRegular,
                                           "text/html",
                                           {"bench", id}});
    if (!found || found->outcome != Lookup::Outcome::kReferenced) std::abort();
  }
  Report(state);
}

// Each page has as many references as are deleted of it.
BENCHMARK_DEFINE_F(ContainerBench, Delete)(benchmark::State& state) {
  const auto threads = static_cast<std::uint64_t>(state.threads());
  auto page = static_cast<std::uint64_t>(state.thread_index());
  if (state.thread_index() == 0) {
    for (benchmark::IterationCount i = 0; i < state.max_iterations * state.threads(); ++i) {
      const std::string id = std::to_string(++operation_);
      const Signature& signature = signatures_[i % kOldPages];
      if (!volume_->Reference({signature, kPageBytes, StoreMode::kRegular, "", {"bench", id}})) {
        std::abort();
      }
    }
    syncs_ = volume_->syncs();
    cpu_us_ = CpuMicroseconds();
  }
  for (auto step : state) {
    const std::string id = std::to_string(++operation_);
    if (!volume_->Delete(KeyOf(page % kOldPages), {"bench", id})) std::abort();
    page += threads;
  }
  Report(state);
}

BENCHMARK_DEFINE_F(ContainerBench, Retrieve)(benchmark::State& state) {
  auto page = static_cast<std::uint64_t>(state.thread_index()) * 29;
  std::string room(64 << 10, '\0');
  for (auto step : state) {
    const auto source = volume_->Retrieve(KeyOf(++page % kOldPages));
    while (*(*source)->Read(room) > 0) {
    }
  }
  Report(state);
}

void Run(benchmark::internal::Benchmark* bench) {
  for (const int threads : {1, 16, 32}) bench->Threads(threads);
  bench->UseRealTime();
}
BENCHMARK_REGISTER_F(ContainerBench, StoreNew)->Apply(Run);
BENCHMARK_REGISTER_F(ContainerBench, StoreDuplicates)->Apply(Run);
BENCHMARK_REGISTER_F(ContainerBench, Delete)->Apply(Run);
BENCHMARK_REGISTER_F(ContainerBench, Retrieve)->Apply(Run);

}  // namespace
}  // namespace stele::store
