// A container volume on the disk of the temporary directory, with RocksDB: every operation synced.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "io/posix_file_system.h"
#include "store/container_volume.h"

namespace stele::store {
namespace {

// The size of the pages in the Webstore paper.
constexpr std::size_t kPageBytes = 19'200;

std::string PageOf(std::uint64_t number) {
  std::string page = fmt::format("<html>{}", number);
  for (std::uint64_t i = 0; page.size() < kPageBytes; ++i) {
    page += fmt::format("<p>paragraph {} of page</p>\n", (number + i) * 2654435761 % 100'003);
  }
  page.resize(kPageBytes);
  return page;
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
    for (std::uint64_t page = 0; page < kOldPages; ++page) Store(page);
  }
  void TearDown(benchmark::State& state) override {
    if (state.thread_index() != 0) return;
    volume_.reset();
    std::filesystem::remove_all(directory_);
  }

 protected:
  static constexpr std::uint64_t kOldPages = 100;

  void Store(std::uint64_t page) {
    const std::string content = PageOf(page);
    io::MemorySource source(content);
    const std::string id = std::to_string(++operation_);
    const Signature signature = volume_->signature().Of(content);
    const auto stored = volume_->Store(
        {signature, content.size(), StoreMode::kRegular, "text/html", {"bench", id}}, source);
    if (!stored) std::abort();
  }

  const std::string directory_ =
      (std::filesystem::temp_directory_path() / fmt::format("stele_bench_{}", ::getpid())).string();
  io::PosixFileSystem fs_;
  io::SystemClock clock_;
  io::SystemRandom random_;
  std::unique_ptr<ContainerVolume> volume_;
  std::atomic<std::uint64_t> operation_ = 0;
  std::atomic<std::uint64_t> page_ = kOldPages;
};

BENCHMARK_DEFINE_F(ContainerBench, StoreNew)(benchmark::State& state) {
  for (auto step : state) Store(page_++);
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_DEFINE_F(ContainerBench, StoreDuplicates)(benchmark::State& state) {
  std::uint64_t page = static_cast<std::uint64_t>(state.thread_index()) * 7;
  for (auto step : state) Store(++page % kOldPages);
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_DEFINE_F(ContainerBench, Retrieve)(benchmark::State& state) {
  const auto page = static_cast<std::uint64_t>(state.thread_index());
  const ContentKey key{"bench", Sha256Signatures().Of(PageOf(page)), 0};
  std::string room(64 << 10, '\0');
  for (auto step : state) {
    const auto source = volume_->Retrieve(key);
    while (*(*source)->Read(room) > 0) {
    }
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_REGISTER_F(ContainerBench, StoreNew)->Threads(1)->Threads(16)->UseRealTime();
BENCHMARK_REGISTER_F(ContainerBench, StoreDuplicates)->Threads(1)->Threads(16)->UseRealTime();
BENCHMARK_REGISTER_F(ContainerBench, Retrieve)->Threads(1)->Threads(16)->UseRealTime();

}  // namespace
}  // namespace stele::store
