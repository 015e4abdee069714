#include "store/container_batch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "io/random.h"

namespace stele::store {
namespace {

using Kind = LogEntry::Kind;

BlockTable::Changes RowsOf(const BlockTable& table) {
  BlockTable::Changes rows;
  EXPECT_TRUE(table.Scan("s", [&](std::string_view key, std::string_view value) {
    rows[std::string(key)] = value;
    return true;
  }));
  EXPECT_TRUE(table.Scan("!owner ", [&](std::string_view key, std::string_view value) {
    rows[std::string(key)] = value;
    return true;
  }));
  return rows;
}

// A volume's history: blocks of few numbers come, are referred to by some owners, released, and
// make room for others. Any record may have been copied to the end of the log by a compaction.
class History {
 public:
  explicit History(std::uint64_t seed) : dice_(seed) {
    for (int step = 0; step < 120; ++step) {
      const BlockId block{Signature(std::string(4, static_cast<char>('a' + Dice(3)))), Dice(2)};
      Living& living = LivingAt(block);
      if (living.references.empty()) {
        living.record_id = fmt::format("urn:uuid:{}", step);
        living.size = 100 + Dice(100);
        Refer(block, living, Kind::kBlock, step);
      } else if (Dice(2) == 0) {
        Refer(block, living, Kind::kReference, step);
      } else {
        const auto released =
            std::next(living.references.begin(), static_cast<int>(Dice(living.references.size())));
        Add(block, living, Kind::kRelease, released->first, step);
        living.references.erase(released);
      }
      if (Dice(4) == 0) Copy(entries_[Dice(entries_.size())]);
    }
  }

  std::uint32_t Dice(std::size_t sides) { return static_cast<std::uint32_t>(dice_.Next() % sides); }
  const std::vector<LogEntry>& entries() const { return entries_; }

  std::vector<LogEntry> Shuffled() {
    std::vector<LogEntry> shuffled = entries_;
    for (int i = 0; i < 20; ++i) shuffled.push_back(entries_[Dice(entries_.size())]);
    for (std::size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[Dice(i)]);
    return shuffled;
  }

  // What a reader of the whole history knows.
  void Expect(const BlockIndex& index) const {
    BlockIndex::Usage usage;
    for (const auto& [name, living] : living_) {
      const BlockId block = *ParseBlockName(name);
      const auto row = index.Find(block);
      ASSERT_TRUE(row);
      ASSERT_EQ(row->has_value(), !living.references.empty());
      if (living.references.empty()) continue;
      EXPECT_EQ((*row)->references, living.references.size());
      EXPECT_EQ((*row)->record_id, living.record_id);
      EXPECT_EQ((*row)->size, living.size);
      EXPECT_EQ((*row)->location, living.location);
      for (const char* owner : {"me", "you"}) {
        EXPECT_EQ(*index.CountOf(block, owner), living.references.count(owner));
      }
      ++usage.blocks;
      usage.references += living.references.size();
      usage.content_bytes += living.size;
      if (block.overflow > 0) ++usage.overflow_blocks;
    }
    EXPECT_EQ(index.usage(), usage);
  }

 private:
  struct Living {
    std::string record_id;
    std::uint64_t size = 0;
    RecordLocation location;
    std::multimap<std::string, int> references;  // owner and operation
  };

  Living& LivingAt(const BlockId& block) {
    return living_[BlockName(block.signature, block.overflow)];
  }

  void Refer(const BlockId& block, Living& living, Kind kind, int step) {
    const std::string owner = Dice(2) == 0 ? "me" : "you";
    Add(block, living, kind, owner, step);
    living.references.emplace(owner, step);
  }

  void Add(const BlockId& block, Living& living, Kind kind, const std::string& owner, int step) {
    const std::uint64_t size = kind == Kind::kBlock ? living.size : 0;
    Place({kind, block, {owner, fmt::format("o{}", step)}, living.record_id, size, {}});
  }

  void Copy(LogEntry entry) { Place(std::move(entry)); }

  void Place(LogEntry entry) {
    if (Dice(10) == 0) end_ = {end_.container + 1, 0};
    entry.location = {end_.container, end_.offset, 10 + Dice(10)};
    end_ = entry.location.end();
    Living& living = LivingAt(entry.block);
    if (entry.kind == Kind::kBlock && entry.record_id == living.record_id) {
      living.location = entry.location;
    }
    entries_.push_back(std::move(entry));
  }

  io::SeededRandom dice_;
  LogPosition end_{1, 0};
  std::map<std::string, Living> living_;
  std::vector<LogEntry> entries_;
};

void ApplyInGroups(BlockIndex& index, History& history, std::span<const LogEntry> entries) {
  while (!entries.empty()) {
    const std::size_t count = 1 + history.Dice(std::min<std::size_t>(entries.size(), 30));
    ASSERT_TRUE(index.Apply(entries.first(count), {9, 9}));
    entries = entries.subspan(count);
  }
}

TEST(IndexBatch, W4_TheSameRecordsInAnyOrderAndTwiceMakeTheSameRows) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    History history(seed);
    MemoryBlockTable in_order;
    BlockIndex whole(in_order);
    ASSERT_TRUE(whole.Load());
    ApplyInGroups(whole, history, history.entries());
    history.Expect(whole);
    for (int round = 0; round < 3; ++round) {
      MemoryBlockTable table;
      BlockIndex index(table);
      ASSERT_TRUE(index.Load());
      ApplyInGroups(index, history, history.Shuffled());
      history.Expect(index);
      ASSERT_EQ(RowsOf(table), RowsOf(in_order));
      BlockIndex::Auditor auditor;
      auditor.block = [](const BlockIndex::AuditedBlock& block) {
        const auto references = static_cast<std::int64_t>(block.row.references);
        EXPECT_EQ(block.by_operations, references);
        EXPECT_EQ(block.by_owners, references);
      };
      auditor.owner = [](const BlockIndex::AuditedOwner& owner) {
        EXPECT_EQ(owner.kept, owner.found);
      };
      ASSERT_TRUE(index.Audit(4, auditor));
    }
  }
}

}  // namespace
}  // namespace stele::store
