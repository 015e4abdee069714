#include <gmock/gmock.h>

#include <atomic>
#include <set>
#include <thread>

#include "io/memory_file_system.h"
#include "store/test_volume.h"

namespace stele::store {
namespace {

constexpr int kThreads = 32;

// Runs `work(thread)` on all threads at once.
template <typename Work>
void InParallel(const Work& work) {
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

Operation Op(int thread, int number) {
  return {"owner-" + std::to_string(thread), std::to_string(number)};
}

// Settling the journal often, with colliding contents, some of them by way of files.
TreeVolume::Options BusyOptions() {
  TreeVolume::Options options = WeakOptions();
  options.memory_bytes_max = 20;
  options.log.journal_bytes_max = 2000;
  options.log.cached_entries_max = 10;
  return options;
}

std::string ContentOf(int number) {
  return std::string(1, static_cast<char>('a' + number % 5)) + std::string(number, '.') +
         std::to_string(number);
}

TEST(TreeVolumeThreads, W8_OneBlockForEachDistinctContent) {
  constexpr int kContents = 40;
  io::MemoryFileSystem fs;
  auto volume = NewVolume(fs, {}, BusyOptions());
  std::vector<std::set<std::string>> keys(kThreads);
  InParallel([&](int thread) {
    for (int i = 0; i < kContents; ++i) {
      const std::string content = ContentOf((i + thread) % kContents);
      const auto stored = Put(*volume, content, Op(thread, i), StoreMode::kCompare);
      ASSERT_TRUE(stored) << stored.error().text;
      EXPECT_EQ(Get(*volume, stored->key), content);
      keys[static_cast<std::size_t>(thread)].insert(stored->key.Text());
    }
  });
  EXPECT_EQ(volume->Stats()->blocks, static_cast<std::uint64_t>(kContents));
  EXPECT_EQ(volume->Stats()->references, static_cast<std::uint64_t>(kContents * kThreads));
  for (const auto& set : keys) EXPECT_EQ(set, keys[0]);
  for (const std::string& key : keys[0]) {
    EXPECT_EQ(ReferencesOf(*volume, *ContentKey::Parse(key)), static_cast<std::uint64_t>(kThreads));
  }
  EXPECT_THAT(Findings(*volume), testing::IsEmpty());
}

TEST(TreeVolumeThreads, W6_StoresAndDeletesOfOneContentDoNotHarmEachOther) {
  constexpr int kRounds = 30;
  io::MemoryFileSystem fs;
  auto volume = NewVolume(fs, {}, BusyOptions());
  InParallel([&](int thread) {
    for (int i = 0; i < kRounds; ++i) {
      const std::string content = ContentOf(i % 3);
      const auto stored = Put(*volume, content, Op(thread, 2 * i), StoreMode::kCompare);
      ASSERT_TRUE(stored) << stored.error().text;
      EXPECT_EQ(Get(*volume, stored->key), content);
      const Status released = volume->Delete(stored->key, Op(thread, 2 * i + 1));
      ASSERT_TRUE(released) << released.error().text;
    }
  });
  EXPECT_EQ(volume->Stats()->blocks, 0u);
  EXPECT_EQ(volume->Stats()->references, 0u);
  EXPECT_EQ(volume->Stats()->stored_bytes, 0u);
  volume = nullptr;
  EXPECT_THAT(Findings(*OpenVolume(fs, "v", BusyOptions())), testing::IsEmpty());
}

TEST(TreeVolumeThreads, W9_TheCapacityHolds) {
  io::MemoryFileSystem fs;
  auto volume = NewVolume(fs, {.name = "v", .capacity_bytes = 20 * 200}, {});
  std::atomic<int> stored = 0;
  InParallel([&](int thread) {
    for (int i = 0; i < 10; ++i) {
      const std::string content = std::to_string(thread * 100 + i + 10000) + std::string(67, 'x');
      const auto result = Put(*volume, content, Op(thread, i), StoreMode::kRegular, "image/png");
      if (result) ++stored;
      if (!result) {
        EXPECT_EQ(result.error().code, ErrorCode::kFull);
      }
    }
  });
  EXPECT_EQ(volume->state(), VolumeState::kFull);
  EXPECT_LE(volume->Stats()->stored_bytes, 20u * 200u);
  EXPECT_EQ(volume->Stats()->blocks, static_cast<std::uint64_t>(stored.load()));
  EXPECT_THAT(Findings(*volume), testing::IsEmpty());
}

}  // namespace
}  // namespace stele::store
