#include "dedup/digest_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"

namespace stele::dedup {
namespace {

using catalog::CaptureId;

constexpr std::size_t kInMemory = 1'000;

// No two are alike, and they come in no order.
DigestTable::Short DigestOf(std::uint64_t number) { return number * 0x9e3779b97f4a7c15; }

CaptureId IdOf(std::uint64_t number) { return {200405, static_cast<std::uint32_t>(number)}; }

TEST(DigestTable, D7_FindsWhatWasAddedInMemoryAndInFilesOfEverySize) {
  io::MemoryFileSystem fs;
  const auto table = *DigestTable::Create(fs, "digests", kInMemory);
  // Files of three sizes: 64, 8 and 1 times what is in memory.
  constexpr std::uint64_t kCount = (64 + 8 + 1) * kInMemory + 500;
  for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_TRUE(table->Add(DigestOf(i), IdOf(i)));
  EXPECT_EQ(fs.List("digests")->size(), 3u);
  for (std::uint64_t i = 0; i < kCount; i += 97) ASSERT_EQ(*table->Find(DigestOf(i)), IdOf(i)) << i;
  ASSERT_EQ(*table->Find(DigestOf(kCount - 1)), IdOf(kCount - 1));
  for (std::uint64_t i = kCount; i < kCount + 1'000; ++i) ASSERT_FALSE(*table->Find(DigestOf(i)));
  EXPECT_FALSE(*table->Find(~DigestTable::Short{0}));
}

TEST(DigestTable, D7_OfOneDigestTheLastCounts) {
  io::MemoryFileSystem fs;
  const auto table = *DigestTable::Create(fs, "digests", kInMemory);
  for (std::uint32_t round = 0; round < 9; ++round) {
    for (std::uint64_t i = 0; i < kInMemory - 1; ++i) {
      ASSERT_TRUE(table->Add(DigestOf(i), {round, 1}));
    }
    ASSERT_EQ(*table->Find(DigestOf(5)), (CaptureId{round, 1}));
    ASSERT_TRUE(table->Add(DigestOf(1'000'000 + round), {round, 2}));
    ASSERT_EQ(*table->Find(DigestOf(5)), (CaptureId{round, 1}));
    ASSERT_EQ(*table->Find(DigestOf(1'000'000)), (CaptureId{0, 2}));
  }
  // Merged, they are there once.
  EXPECT_LT(io::ReadFile(fs, "digests/9")->size(), 2 * 16 * kInMemory);
}

TEST(DigestTable, D7_BeginsEmptyWhateverIsInItsFolderAndLeavesNothing) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectory("digests"));
  ASSERT_TRUE(io::ReplaceFile(fs, "digests/1", "of a run that was killed"));
  auto table = DigestTable::Create(fs, "digests", kInMemory);
  ASSERT_TRUE(table) << table.error().text;
  EXPECT_TRUE(fs.List("digests")->empty());
  EXPECT_FALSE(*(*table)->Find(DigestOf(1)));
  for (std::uint64_t i = 0; i < 2 * kInMemory; ++i) {
    ASSERT_TRUE((*table)->Add(DigestOf(i), IdOf(i)));
  }
  EXPECT_EQ(fs.List("digests")->size(), 2u);
  table->reset();
  EXPECT_TRUE(fs.List("digests")->empty());
}

TEST(DigestTable, D7_AThreadAsksWhileAnotherFills) {
  io::MemoryFileSystem fs;
  const auto table = *DigestTable::Create(fs, "digests", kInMemory);
  ASSERT_TRUE(table->Add(DigestOf(0), IdOf(0)));
  std::atomic<bool> filled = false;
  std::thread asks([&] {
    while (!filled) {
      ASSERT_EQ(*table->Find(DigestOf(0)), IdOf(0));
    }
  });
  for (std::uint64_t i = 1; i < 20 * kInMemory; ++i) {
    ASSERT_TRUE(table->Add(DigestOf(i), IdOf(i)));
  }
  filled = true;
  asks.join();
}

TEST(DigestTable, D7_EveryFailureOfTheDiskIsTold) {
  // Fills it until something is wrong. False: nothing was.
  const auto fails = [](io::FileSystem& fs) {
    const auto table = DigestTable::Create(fs, "digests", kInMemory);
    if (!table) return true;
    for (std::uint64_t i = 0; i < 8 * kInMemory; ++i) {
      if (!(*table)->Add(DigestOf(i), IdOf(i))) return true;
    }
    return !(*table)->Find(DigestOf(1));
  };
  int fail_at = 1;
  for (;; ++fail_at) {
    io::MemoryFileSystem fs;
    io::FaultFileSystem faults(fs, fail_at);
    if (!fails(faults)) break;
  }
  EXPECT_GT(fail_at, 40);
}

}  // namespace
}  // namespace stele::dedup
