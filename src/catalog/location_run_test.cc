#include "catalog/location_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "catalog/location_memtable.h"
#include "catalog/location_merge.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "io/posix_file_system.h"
#include "io/random.h"
#include "util/test_paths.h"

namespace stele::catalog {
namespace {

const std::string kGoldenRun = SourcePath("src/catalog/golden/location-2.run");

// Sorted entries: most keys have few captures, some very many, some are long.
class EntryMaker {
 public:
  explicit EntryMaker(std::uint64_t seed) : dice_(seed) {}

  std::uint64_t Below(std::uint64_t end) { return dice_.Next() % end; }

  std::string_view AnyKey() {
    const std::uint64_t host = Below(30);
    std::string key = fmt::format("org,example{})/{}", host, Below(50));
    if (Below(30) == 0) key += std::string(Below(500), 'x');
    if (key.size() > kLocationKeyMax) key.resize(kLocationKeyMax);
    return texts_.emplace_back(std::move(key));
  }
  LocationEntry Any() {
    LocationEntry entry;
    entry.key = Below(3) == 0 ? "org,example1)/often" : AnyKey();
    entry.time.milliseconds = static_cast<std::int64_t>(Below(1 << 30)) * 1000 - 5000;
    if (Below(100) == 0) entry.time = {entry.time.milliseconds * 100000};
    entry.id = {static_cast<std::uint32_t>(200400 + Below(5)),
                static_cast<std::uint32_t>(Below(3) == 0 ? dice_.Next() : Below(1000))};
    return entry;
  }
  std::vector<LocationEntry> Make(std::size_t count) {
    std::set<LocationEntry> entries;
    while (entries.size() < count) entries.insert(Any());
    return {entries.begin(), entries.end()};
  }

 private:
  io::SeededRandom dice_;
  std::deque<std::string> texts_;
};

Status Write(io::FileSystem& fs, const std::string& path,
             const std::vector<LocationEntry>& entries) {
  auto run = LocationRunWriter::Create(fs, path);
  if (!run) return run.error();
  for (const LocationEntry& entry : entries) {
    if (const Status status = (*run)->Add(entry); !status) return status;
  }
  const Result<LocationRunTotals> totals = (*run)->Finish();
  return totals ? Status() : totals.error();
}

// Seeks both ways, to entries and between them, and walks on.
void ExpectCursorFinds(LocationCursor& cursor, const std::vector<LocationEntry>& entries,
                       EntryMaker& maker) {
  for (int i = 0; i < 2000; ++i) {
    LocationEntry at = maker.Below(2) == 0 && !entries.empty()
                           ? entries[maker.Below(entries.size())]
                           : maker.Any();
    if (maker.Below(4) == 0) ++at.time.milliseconds;
    auto expected = std::lower_bound(entries.begin(), entries.end(), at);
    LocationCursor::Move move = cursor.Seek(at);
    for (std::uint64_t steps = maker.Below(300);; --steps) {
      ASSERT_TRUE(move) << move.error().text;
      ASSERT_EQ(*move == nullptr, expected == entries.end());
      if (*move == nullptr) break;
      ASSERT_EQ(**move, *expected);
      if (steps == 0) break;
      move = cursor.Next();
      ++expected;
    }
    const LocationCursor::Move back = cursor.SeekBack(at);
    ASSERT_TRUE(back);
    const auto behind = std::upper_bound(entries.begin(), entries.end(), at);
    ASSERT_EQ(*back == nullptr, behind == entries.begin());
    if (*back != nullptr) {
      ASSERT_EQ(**back, *std::prev(behind));
    }
  }
}

TEST(LocationRun, P2_CursorsFindEveryEntryBothWays) {
  for (const std::size_t count : {0, 1, 2, 17, 130, 5000}) {
    io::MemoryFileSystem disk;
    PageCache cache(1 << 20);
    EntryMaker maker(count);
    const std::vector<LocationEntry> entries = maker.Make(count);
    ASSERT_TRUE(Write(disk, "run", entries));
    const auto run = LocationRun::Open(disk, "run", cache);
    ASSERT_TRUE(run) << run.error().text;
    EXPECT_EQ((*run)->totals().entries, count);
    for (const auto reading : {LocationRun::Reading::kAgain, LocationRun::Reading::kOnce}) {
      ExpectCursorFinds(*(*run)->NewCursor(reading), entries, maker);
    }
  }
}

TEST(LocationRun, P2_AUrlWithVeryManyCapturesIsSearchedByTime) {
  io::MemoryFileSystem disk;
  PageCache cache(1 << 24);
  std::vector<LocationEntry> entries;
  for (std::uint32_t i = 0; i < 100000; ++i) {
    entries.push_back({"org,example)/", {std::int64_t{i} * 60000}, {200405, i}});
  }
  ASSERT_TRUE(Write(disk, "run", entries));
  const auto run = LocationRun::Open(disk, "run", cache);
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)->totals().keys, 1u);
  ASSERT_GT((*run)->file().pages(), 10u);
  const auto cursor = (*run)->NewCursor(LocationRun::Reading::kAgain);
  const LocationCursor::Move move =
      cursor->SeekBack({"org,example)/", {60000ll * 54321 + 59999}, LastOf("").id});
  ASSERT_TRUE(move);
  EXPECT_EQ((*move)->id.serial, 54321u);
  EXPECT_LE(cache.bytes(), 40000u) << "more than one page was read";
}

TEST(LocationMemtable, P2_PartsHaveEveryEntryOnceAndInOrder) {
  EntryMaker maker(3);
  std::vector<LocationEntry> entries;
  for (int i = 0; i < 3000; ++i) entries.push_back(maker.Any());
  LocationMemtable table;
  LocationMemtable::Parts old_parts;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    table.Add(entries[i]);
    if (maker.Below(10) != 0) continue;
    const LocationMemtable::Parts parts = table.Sorted();
    EXPECT_LE(parts.size(), 14u);
    if (i % 7 == 0) old_parts = parts;
  }
  EXPECT_FALSE(old_parts.empty());
  for (const LocationEntry& entry : entries) table.Add(entry);  // all a second time
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  MergedLocations merged;
  const LocationMemtable::Parts parts = table.Sorted();
  for (const auto& part : parts) merged.Add(part->NewCursor());
  ExpectCursorFinds(merged, entries, maker);
}

TEST(LocationMerge, P3_HiddenBatchesAreLeftOut) {
  EntryMaker maker(4);
  const std::vector<LocationEntry> a = maker.Make(1000);
  const std::vector<LocationEntry> b = maker.Make(1000);
  const auto part_a = SortedEntries::Sort(a);
  const auto part_b = SortedEntries::Sort(b);
  MergedLocations merged;
  merged.Add(part_a->NewCursor(), {200401, 200403});
  merged.Add(part_b->NewCursor());
  std::set<LocationEntry> expected(b.begin(), b.end());
  for (const LocationEntry& entry : a) {
    if (entry.id.batch != 200401 && entry.id.batch != 200403) expected.insert(entry);
  }
  LocationCursor::Move move = merged.Seek(FirstOf(""));
  for (const LocationEntry& entry : expected) {
    ASSERT_TRUE(move && *move != nullptr);
    EXPECT_EQ(**move, entry);
    move = merged.Next();
  }
  EXPECT_EQ(*move, nullptr);
  // Back to entries of the same key, whatever hides between.
  for (const LocationEntry& at : a) {
    const LocationCursor::Move back = merged.SeekBack(at);
    ASSERT_TRUE(back);
    auto behind = expected.upper_bound(at);
    if (behind == expected.begin() || (*std::prev(behind)).key != at.key) continue;
    ASSERT_NE(*back, nullptr);
    EXPECT_EQ(**back, *std::prev(behind));
  }
}

TEST(LocationRun, P3_AFailingDiskLeavesNoHalfRun) {
  EntryMaker maker(5);
  const std::vector<LocationEntry> entries = maker.Make(300);
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    io::FaultFileSystem fs(disk, fail_at);
    const Status written = Write(fs, "run", entries);
    disk.Crash();
    PageCache cache(1 << 20);
    const auto run = LocationRun::Open(disk, "run", cache);
    if (run) {
      EXPECT_EQ((*run)->totals().entries, entries.size());
    } else {
      EXPECT_FALSE(written);
      EXPECT_EQ(run.error().code, ErrorCode::kNotFound);
    }
    if (written) break;
  }
}

TEST(LocationRun, P1_TheGoldenRunIsRead) {
  io::PosixFileSystem files;
  EntryMaker maker(6);
  const std::vector<LocationEntry> entries = maker.Make(1000);
  const std::string made = testing::TempDir() + "location-2.run";
  ASSERT_TRUE(Write(files, made, entries));
  PageCache cache(1 << 20);
  const auto golden = LocationRun::Open(files, kGoldenRun, cache);
  ASSERT_TRUE(golden) << "what is written now is in " << made;
  ExpectCursorFinds(*(*golden)->NewCursor(LocationRun::Reading::kAgain), entries, maker);
  const auto now = LocationRun::Open(files, made, cache);
  EXPECT_EQ((*now)->file().summary(), (*golden)->file().summary());
  ASSERT_EQ((*now)->file().pages(), (*golden)->file().pages());
  for (std::uint32_t page = 0; page < (*now)->file().pages(); ++page) {
    EXPECT_EQ(**(*now)->file().Read(page), **(*golden)->file().Read(page));
    EXPECT_EQ((*now)->file().index().first_key(page), (*golden)->file().index().first_key(page));
  }
}

}  // namespace
}  // namespace stele::catalog
