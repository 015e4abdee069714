#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "io/posix_file_system.h"
#include "store/tree_volume.h"
#include "util/check.h"

// Operations of a tree volume on a real disk, everything synced, by one client and by many. Each
// benchmark works on contents of its own.
namespace stele::store {
namespace {

constexpr std::size_t kPageBytes = 19'200;  // the mean of the Webstore paper's pages

class Bench {
 public:
  Bench() : directory_(std::filesystem::temp_directory_path() / "stele-bench-XXXXXX") {
    Check(::mkdtemp(directory_.data()) != nullptr);
    const std::string path = directory_ + "/v";
    Check(TreeVolume::Create(fs_, path, {.name = "v", .depth = 2}).ok());
    Result<std::unique_ptr<TreeVolume>> volume = TreeVolume::Open(fs_, path, {});
    Check(volume.ok());
    volume_ = *std::move(volume);
  }
  ~Bench() {
    volume_ = nullptr;
    std::filesystem::remove_all(directory_);
  }

  // A page that nobody has stored yet.
  std::string NewPage() {
    std::uint64_t dice = ++pages_ * 2 + 1;
    std::string page = std::to_string(dice);
    while (page.size() < kPageBytes) {
      dice = dice * 6364136223846793005u + 1442695040888963407u;
      page += "<p>word" + std::to_string(dice >> 54);
    }
    page.resize(kPageBytes);
    return page;
  }
  Operation NewOperation() { return {"bench", std::to_string(++operations_)}; }

  ContentKey Put(const std::string& page) {
    io::MemorySource source(page);
    const Result<Stored> stored = volume_->Store({volume_->signature().Of(page), page.size(),
                                                  StoreMode::kRegular, "text/html", NewOperation()},
                                                 source);
    Check(stored.ok());
    return stored->key;
  }
  void Get(const ContentKey& key) {
    Result<std::unique_ptr<io::Source>> content = volume_->Retrieve(key);
    Check(content.ok());
    std::string room(64 << 10, '\0');
    for (;;) {
      const Result<std::size_t> read = (*content)->Read(room);
      Check(read.ok());
      if (*read == 0) return;
    }
  }
  void Delete(const ContentKey& key) { Check(volume_->Delete(key, NewOperation()).ok()); }

 private:
  io::PosixFileSystem fs_;
  std::string directory_;
  std::unique_ptr<TreeVolume> volume_;
  std::atomic<std::uint64_t> pages_ = 0;
  std::atomic<std::uint64_t> operations_ = 0;
};

// Benchmarks are functions without arguments of their own; this is what they share.
Bench& TheBench() {
  static Bench bench;
  return bench;
}

void StoreNew(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    const std::string page = TheBench().NewPage();
    state.ResumeTiming();
    TheBench().Put(page);
  }
  state.SetItemsProcessed(state.iterations());
}

void StoreDuplicate(benchmark::State& state) {
  const std::string page = TheBench().NewPage();
  TheBench().Put(page);
  for (auto _ : state) TheBench().Put(page);
  state.SetItemsProcessed(state.iterations());
}

void Retrieve(benchmark::State& state) {
  const ContentKey key = TheBench().Put(TheBench().NewPage());
  for (auto _ : state) TheBench().Get(key);
  state.SetItemsProcessed(state.iterations());
}

void DeleteLast(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    const ContentKey key = TheBench().Put(TheBench().NewPage());
    state.ResumeTiming();
    TheBench().Delete(key);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(StoreNew)->UseRealTime()->Threads(1)->Threads(16);
BENCHMARK(StoreDuplicate)->UseRealTime()->Threads(1)->Threads(16);
BENCHMARK(Retrieve)->UseRealTime()->Threads(1)->Threads(16);
BENCHMARK(DeleteLast)->UseRealTime()->Threads(1)->Threads(16);

}  // namespace
}  // namespace stele::store
