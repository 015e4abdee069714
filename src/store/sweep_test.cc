#include "store/sweep.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "store/test_volume.h"

namespace stele::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const SweepRequest kRequest{"one", "sweep-1"};

std::string BlockOf(const ContentKey& key) { return BlockName(key.signature, key.overflow); }

std::string ListNow(Volume& volume) {
  io::StringSink list;
  EXPECT_TRUE(ListForSweep(volume, "one", list));
  return list.Take();
}

Result<Swept> SweepNow(Volume& volume, const std::string& listed, std::vector<ContentKey> keys) {
  std::sort(keys.begin(), keys.end());
  std::string kept;
  for (const ContentKey& key : keys) kept += BlockOf(key) + "\n";
  io::MemorySource listed_source(listed);
  io::MemorySource kept_source(kept);
  return Sweep(volume, kRequest, listed_source, kept_source);
}

TEST(Sweep, W6_TakesBackWhatIsNotClaimedAndNothingElse) {
  io::MemoryFileSystem fs;
  const auto volume = NewVolume(fs, {}, WeakOptions());
  const ContentKey kept = Put(*volume, "a", {"one", "1"})->key;
  const ContentKey dropped = Put(*volume, "a2", {"one", "2"})->key;
  const ContentKey shared = Put(*volume, "c", {"one", "3"})->key;
  const ContentKey deleted = Put(*volume, "d", {"one", "4"})->key;
  ASSERT_TRUE(volume->Refer(dropped, {"one", "5"}));
  ASSERT_TRUE(volume->Refer(shared, {"two", "1"}));
  ASSERT_TRUE(volume->Refer(deleted, {"one", "6"}));
  const std::string listed = ListNow(*volume);

  // What happens behind the list does not count.
  ASSERT_TRUE(volume->Refer(dropped, {"one", "7"}));
  ASSERT_TRUE(volume->Delete(deleted, {"one", "8"}));
  ASSERT_TRUE(volume->Refer(deleted, {"one", "9"}));
  const ContentKey later = Put(*volume, "e", {"one", "10"})->key;

  for (int attempt = 0; attempt < 2; ++attempt) {
    const Result<Swept> swept = SweepNow(*volume, listed, {kept, {"v", later.signature, 3}});
    ASSERT_TRUE(swept) << swept.error().text;
    EXPECT_EQ(swept->kept_blocks, 1u);
    EXPECT_EQ(swept->released_blocks, 3u);
    EXPECT_EQ(swept->released_references, 4u);
    EXPECT_EQ(*volume->Held(kept, "one"), 1u);
    EXPECT_EQ(*volume->Held(dropped, "one"), 1u);
    EXPECT_EQ(*volume->Held(shared, "one"), 0u);
    EXPECT_EQ(*volume->Held(shared, "two"), 1u);
    EXPECT_EQ(*volume->Held(deleted, "one"), 1u);
    EXPECT_EQ(*volume->Held(later, "one"), 1u);
  }
  EXPECT_THAT(Findings(*volume), IsEmpty());
}

TEST(Sweep, W6_CanBeInterruptedAnywhereAndRepeated) {
  for (int fail_at = 1;; ++fail_at) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    std::vector<ContentKey> keys;
    std::string listed;
    {
      const auto volume = NewVolume(disk, {}, WeakOptions());
      for (int i = 0; i < 6; ++i) {
        const std::string content(1, static_cast<char>('a' + i));
        keys.push_back(Put(*volume, content, {"one", std::to_string(i)})->key);
        ASSERT_TRUE(volume->Refer(keys.back(), {"one", "again"}));
        ASSERT_TRUE(volume->Refer(keys.back(), {"two", "too"}));
      }
      listed = ListNow(*volume);
    }
    const std::vector<ContentKey> kept = {keys[1], keys[4]};
    bool finished = false;
    {
      io::FaultFileSystem fs(disk, fail_at);
      const auto volume = TreeVolume::Open(fs, "v", WeakOptions());
      finished = volume.ok() && SweepNow(**volume, listed, kept).ok();
    }
    disk.Crash();
    const auto volume = OpenVolume(disk, "v", WeakOptions());
    const Result<Swept> swept = SweepNow(*volume, listed, kept);
    ASSERT_TRUE(swept) << swept.error().text;
    EXPECT_EQ(swept->released_references, 8u);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(*volume->Held(keys[i], "one"), i == 1 || i == 4 ? 2u : 0u);
      EXPECT_EQ(*volume->Held(keys[i], "two"), 1u);
    }
    if (finished) break;
    ASSERT_LT(fail_at, 500);
  }
}

TEST(Sweep, W6_ListsThatCannotBeReadAreRefused) {
  io::MemoryFileSystem fs;
  const auto volume = NewVolume(fs, {}, WeakOptions());
  for (const auto& [listed, kept, text] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"CCCCCCCC 1 0\n", "BBBBBBBB\nAAAAAAAA\n", "kept, line 2"},
           {"AAAAAAAA 1 0\n", "AAAAAAAA", "kept, line 1"},
           {"AAAAAAAA 1 0\n", "AAAAAAAA 1\n", "kept, line 1"},
           {"AAAAAAAA 1 0\nAAAAAAAA 1 0\n", "", "held, line 2"},
           {"AAAAAAAA 1\n", "", "held, line 1"},
           {"AAAAAAAA 1 2\n", "", "held, line 1"},
           {"rubbish\n", "", "held, line 1"},
           {std::string(1000, 'A') + "\n", "", "too long"}}) {
    io::MemorySource listed_source(listed);
    io::MemorySource kept_source(kept);
    const Result<Swept> swept = Sweep(*volume, kRequest, listed_source, kept_source);
    ASSERT_FALSE(swept) << listed << kept;
    EXPECT_EQ(swept.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(swept.error().text, HasSubstr(text));
  }
  io::MemorySource nothing("");
  EXPECT_FALSE(Sweep(*volume, {"one", std::string(33, 'x')}, nothing, nothing));
  EXPECT_FALSE(Sweep(*volume, {"", "x"}, nothing, nothing));
}

}  // namespace
}  // namespace stele::store
