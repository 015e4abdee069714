#include "store/container_index.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace stele::store {
namespace {

using Kind = LogEntry::Kind;

LogEntry Entry(Kind kind, char signature, std::string id, std::uint64_t offset,
               std::string owner = "me") {
  const std::uint64_t size = kind == Kind::kBlock ? 100 : 0;
  return {kind,
          {Signature(std::string(4, signature)), 0},
          {std::move(owner), std::move(id)},
          "urn:uuid:1",
          size,
          {1, offset, 10}};
}

std::vector<LogEntry> SomeEntries() {
  return {Entry(Kind::kBlock, 'a', "1", 0),         Entry(Kind::kReference, 'a', "2", 10, "you"),
          Entry(Kind::kBlock, 'b', "3", 20),        Entry(Kind::kRelease, 'b', "4", 30),
          Entry(Kind::kReference, 'a', "5", 40),    Entry(Kind::kRelease, 'a', "6", 50),
          Entry(Kind::kReference, 'c', "7", 60),    Entry(Kind::kRelease, 'd', "8", 70),
          Entry(Kind::kRelease, 'a', "9", 80, "it")};
}

BlockTable::Changes RowsOf(const BlockTable& table) {
  BlockTable::Changes rows;
  EXPECT_TRUE(table.Scan("", [&](std::string_view key, std::string_view value) {
    rows[std::string(key)] = value;
    return true;
  }));
  return rows;
}

TEST(BlockIndex, CountsReferencesOfOwners) {
  MemoryBlockTable table;
  BlockIndex index(table);
  ASSERT_TRUE(index.Load());
  ASSERT_TRUE(index.Apply(SomeEntries(), {1, 90}));
  const BlockId a{Signature("aaaa"), 0};
  EXPECT_EQ((*index.Find(a))->references, 2u);
  EXPECT_EQ((*index.Find(a))->location, (RecordLocation{1, 0, 10}));
  EXPECT_EQ(*index.CountOf(a, "me"), 1u);
  EXPECT_EQ(*index.CountOf(a, "you"), 1u);
  EXPECT_EQ(*index.CountOf(a, "it"), 0u);  // a release without its reference takes nothing
  EXPECT_FALSE(*index.Find({Signature("bbbb"), 0}));
  EXPECT_EQ((*index.Find({Signature("cccc"), 0}))->location.length, 0u);  // its record is missing
  EXPECT_EQ(*index.FindOperation(a.signature, BlockIndex::Act::kReference, {"you", "2"}), 0u);
  EXPECT_FALSE(*index.FindOperation(a.signature, BlockIndex::Act::kRelease, {"you", "2"}));
  EXPECT_EQ(index.usage(), (BlockIndex::Usage{2, 3, 100}));
}

TEST(BlockIndex, EntriesInAnyGroupsAndTwiceMakeTheSameRows) {
  MemoryBlockTable once;
  BlockIndex whole(once);
  ASSERT_TRUE(whole.Load());
  ASSERT_TRUE(whole.Apply(SomeEntries(), {1, 90}));
  MemoryBlockTable twice;
  for (int round = 0; round < 2; ++round) {
    BlockIndex single(twice);
    ASSERT_TRUE(single.Load());
    for (const LogEntry& entry : SomeEntries()) {
      ASSERT_TRUE(single.Apply(std::span(&entry, 1), {1, 90}));
    }
  }
  EXPECT_EQ(RowsOf(twice), RowsOf(once));
}

TEST(BlockIndex, ATableOfAnotherFormatIsMadeAnew) {
  MemoryBlockTable table;
  ASSERT_TRUE(table.Write({{"!format", "something else"}, {"s1234", "row"}}));
  BlockIndex index(table);
  ASSERT_TRUE(index.Load());
  EXPECT_EQ(index.position(), LogPosition{});
  EXPECT_FALSE(RowsOf(table).contains("s1234"));
}

TEST(RocksBlockTable, KeepsWhatTheTableInMemoryKeeps) {
  const std::string directory = testing::TempDir() + "stele_rocks_table_test";
  std::filesystem::remove_all(directory);
  MemoryBlockTable memory;
  for (int round = 0; round < 2; ++round) {
    const auto rocks = OpenRocksBlockTable(directory);
    ASSERT_TRUE(rocks) << rocks.error().text;
    EXPECT_EQ(OpenRocksBlockTable(directory).error().code, ErrorCode::kBusy);
    EXPECT_EQ(RowsOf(**rocks), RowsOf(memory));
    for (BlockTable* table : std::initializer_list<BlockTable*>{rocks->get(), &memory}) {
      BlockIndex index(*table);
      ASSERT_TRUE(index.Load());
      ASSERT_TRUE(index.Apply(SomeEntries(), {1, 90}));
      ASSERT_TRUE(index.Flush());
    }
    EXPECT_EQ(RowsOf(**rocks), RowsOf(memory));
    EXPECT_EQ(*(*rocks)->Get("!format"), *memory.Get("!format"));
    EXPECT_FALSE(*(*rocks)->Get("none"));
  }
  const auto rocks = OpenRocksBlockTable(directory);
  ASSERT_TRUE((*rocks)->Clear());
  EXPECT_TRUE(RowsOf(**rocks).empty());
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace stele::store
