// Who refers to what, in both kinds of volumes.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "io/memory_file_system.h"
#include "store/container_test_lab.h"
#include "store/test_volume.h"

namespace stele::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A volume of a kind, which can be closed and opened again. Contents that begin with the same byte
// have the same signature.
class Lab {
 public:
  virtual ~Lab() = default;
  virtual Volume& volume() = 0;
  virtual void Reopen() = 0;
  virtual void LoseTables() = 0;
};

class TreeLab final : public Lab {
 public:
  TreeLab() : volume_(NewVolume(disk_, {}, Small())) {}
  Volume& volume() override { return *volume_; }
  void Reopen() override {
    volume_.reset();
    volume_ = OpenVolume(disk_, "v", Small());
  }
  void LoseTables() override {}

 private:
  static TreeVolume::Options Small() {
    TreeVolume::Options options = WeakOptions();
    options.log.journal_bytes_max = 2000;
    options.log.cached_entries_max = 20;
    return options;
  }
  io::MemoryFileSystem disk_;
  std::unique_ptr<TreeVolume> volume_;
};

class ContainersLab final : public Lab {
 public:
  ContainersLab() {
    lab_.shape = {"v", "weak", 0};
    lab_.options.signature = std::make_shared<WeakSignatures>();
    lab_.options.log.container_bytes_max = 5000;
    volume_ = lab_.Make();
  }
  Volume& volume() override { return *volume_; }
  void Reopen() override {
    volume_.reset();
    volume_ = lab_.Open();
  }
  void LoseTables() override {
    volume_.reset();
    EXPECT_TRUE(lab_.table.Clear());
    volume_ = lab_.Open();
  }

 private:
  ContainerLab lab_;
  std::unique_ptr<ContainerVolume> volume_;
};

class VolumeOwners : public testing::TestWithParam<bool> {
 protected:
  VolumeOwners() {
    if (GetParam()) {
      lab_ = std::make_unique<ContainersLab>();
    } else {
      lab_ = std::make_unique<TreeLab>();
    }
  }
  Volume& volume() { return lab_->volume(); }

  Result<Stored> Add(const std::string& content, const Operation& operation,
                     StoreMode mode = StoreMode::kCompare) {
    io::MemorySource source(content);
    const StoreRequest request{WeakSignatures().Of(content), content.size(), mode, "", operation};
    return volume().Store(request, source);
  }

  std::vector<ListedBlock> ListAll(const std::string& owner, std::size_t page_limit) {
    std::vector<ListedBlock> all;
    ListRequest request{std::nullopt, page_limit, owner};
    for (;;) {
      const Result<std::vector<ListedBlock>> page = volume().List(request);
      EXPECT_TRUE(page) << page.error().text;
      if (!page) return all;
      all.insert(all.end(), page->begin(), page->end());
      if (page->size() < page_limit) return all;
      request.after = all.back().block;
    }
  }

  std::unique_ptr<Lab> lab_;
};

TEST_P(VolumeOwners, ReferAddsOneReferenceToExactlyThisBlock) {
  const ContentKey first = Add("a1", {"one", "1"})->key;
  const ContentKey second = Add("a2", {"one", "2"})->key;
  ASSERT_EQ(second.overflow, 1u);
  EXPECT_TRUE(volume().Refer(second, {"two", "1"}));
  EXPECT_TRUE(volume().Refer(second, {"two", "1"}));
  EXPECT_EQ(ReferencesOf(volume(), second), 2u);
  EXPECT_EQ(ReferencesOf(volume(), first), 1u);
  EXPECT_EQ(*volume().Held(second, "two"), 1u);
  EXPECT_EQ(*volume().Held(second, "three"), 0u);
  EXPECT_EQ(*volume().Held({"v", first.signature, 7}, "two"), 0u);
  const auto refused = volume().Refer({"v", first.signature, 7}, {"two", "3"});
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(volume().Refer(second, {"two", "no id"}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(volume().Refer({"w", first.signature, 0}, {"two", "4"}).error().code,
            ErrorCode::kInvalid);
  ASSERT_TRUE(volume().SetState(VolumeState::kReadOnly));
  EXPECT_TRUE(volume().Refer(first, {"two", "5"}));
  ASSERT_TRUE(volume().SetState(VolumeState::kFrozen));
  EXPECT_EQ(volume().Refer(first, {"two", "6"}).error().code, ErrorCode::kFull);
  EXPECT_EQ(ReferencesOf(volume(), first), 2u);
}

TEST_P(VolumeOwners, OperationsOfABlockAreListedInOrder) {
  using Kind = BlockOperation::Kind;
  const ContentKey key = Add("a", {"two", "1"})->key;
  ASSERT_TRUE(Add("a2", {"two", "other"}));
  ASSERT_TRUE(volume().Refer(key, {"one", "9"}));
  ASSERT_TRUE(volume().Refer(key, {"one", "10"}));
  ASSERT_TRUE(volume().Delete(key, {"one", "3"}));
  const std::vector<BlockOperation> wanted = {{Kind::kReference, {"one", "10"}},
                                              {Kind::kReference, {"one", "9"}},
                                              {Kind::kReference, {"two", "1"}},
                                              {Kind::kRelease, {"one", "3"}}};
  for (const bool reopened : {false, true}) {
    if (reopened) lab_->Reopen();
    EXPECT_EQ(*volume().Operations(key, std::nullopt, 100), wanted);
    EXPECT_THAT(*volume().Operations(key, wanted[0], 2), ElementsAre(wanted[1], wanted[2]));
    EXPECT_THAT(*volume().Operations(key, wanted[3], 2), IsEmpty());
    EXPECT_THAT(*volume().Operations({"v", key.signature, 9}, std::nullopt, 2), IsEmpty());
  }
}

// Compared with a model that knows everything, over openings and lost tables.
TEST_P(VolumeOwners, ListsAndSumsAreThoseOfAModel) {
  io::SeededRandom random(7);
  std::map<ContentKey, std::pair<std::string, std::map<std::string, std::uint64_t>>> model;
  for (int i = 0; i < 600; ++i) {
    const std::string owner(1, static_cast<char>('p' + random.Next() % 3));
    const Operation operation{owner, std::to_string(i)};
    const std::uint64_t choice = random.Next() % 10;
    auto at = model.begin();
    if (!model.empty()) std::advance(at, random.Next() % model.size());
    if (choice < 4 || model.empty()) {
      const std::string content(1 + random.Next() % 3, static_cast<char>('a' + random.Next() % 9));
      const Result<Stored> stored = Add(content, operation);
      ASSERT_TRUE(stored) << stored.error().text;
      auto& [bytes, owners] = model[stored->key];
      bytes = content;
      ++owners[owner];
    } else if (choice < 6) {
      ASSERT_TRUE(volume().Refer(at->first, operation));
      ++at->second.second[owner];
    } else {
      auto& owners = at->second.second;
      const Status deleted = volume().Delete(at->first, operation);
      ASSERT_EQ(deleted.ok(), owners.contains(owner));
      if (deleted && --owners[owner] == 0) owners.erase(owner);
      if (owners.empty()) model.erase(at);
    }
    if (i % 100 == 50) lab_->Reopen();
    if (i % 200 == 150) lab_->LoseTables();
    if (i % 20 != 0) continue;
    std::map<std::string, OwnerUsage> usage;
    std::map<std::string, std::vector<ListedBlock>> listed;
    for (const auto& [key, block] : model) {
      const auto& [bytes, owners] = block;
      std::uint64_t total = 0;
      for (const auto& [name, count] : owners) {
        OwnerUsage& sum = usage[name];
        sum = {name, sum.references + count, sum.content_bytes + count * bytes.size()};
        listed[name].push_back({{key.signature, key.overflow}, bytes.size(), count});
        EXPECT_EQ(*volume().Held(key, name), count);
        total += count;
      }
      listed[""].push_back({{key.signature, key.overflow}, bytes.size(), total});
    }
    std::vector<OwnerUsage> sums;
    for (const auto& [name, sum] : usage) {
      sums.push_back(sum);
      EXPECT_EQ(*volume().UsageOf(name), sum);
    }
    EXPECT_EQ(*volume().Owners(), sums);
    for (const auto& [name, blocks] : listed) {
      EXPECT_EQ(ListAll(name, 1 + random.Next() % 7), blocks) << name;
      EXPECT_EQ(ListAll(name, 1000), blocks) << name;
    }
    EXPECT_THAT(Findings(volume()), IsEmpty());
  }
  EXPECT_EQ(*volume().UsageOf("nobody"), (OwnerUsage{"nobody", 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(Kinds, VolumeOwners, testing::Bool(), [](const auto& kind) {
  return std::string(kind.param ? "Container" : "Tree");
});

// The sums at the begin of the journal are wrong, though the line is whole.
TEST(TreeVolumeOwners, WrongSumsAreFound) {
  io::MemoryFileSystem disk;
  {
    const auto volume = NewVolume(disk, {}, WeakOptions());
    ASSERT_TRUE(Put(*volume, "a", {"one", "1"}));
    ASSERT_TRUE(Put(*volume, "a", {"one", "2"}));
  }
  OpenVolume(disk, "v", WeakOptions());  // settles the journal
  const std::string good = *io::ReadFile(disk, "v/journal");
  {
    const auto other = NewVolume(disk, {.name = "w"}, WeakOptions());
    ASSERT_TRUE(Put(*other, "abc", {"one", "1"}));
    ASSERT_TRUE(Put(*other, "abc", {"one", "2"}));
  }
  OpenVolume(disk, "w", WeakOptions());
  const std::string wrong = *io::ReadFile(disk, "w/journal");
  ASSERT_NE(good, wrong);
  ASSERT_TRUE(io::ReplaceFile(disk, "v/journal", wrong));
  EXPECT_THAT(Findings(*OpenVolume(disk, "v", WeakOptions())),
              ElementsAre("v/journal: owner one counts 2 references to 6 bytes, but has 2 to 2"));
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] ^= 1;
    ASSERT_TRUE(io::ReplaceFile(disk, "v/journal", bad));
    EXPECT_FALSE(TreeVolume::Open(disk, "v", WeakOptions())) << at;
  }
}

// A reference came before the record of its block, which had been lost and is found.
TEST(BlockIndex, TheSizeOfABlockThatIsFoundCountsForAllItsOwners) {
  MemoryBlockTable table;
  BlockIndex index(table);
  ASSERT_TRUE(index.Load());
  const auto entry = [](LogEntry::Kind kind, std::string owner, std::string id) {
    return LogEntry{kind,
                    {Signature("aaaa"), 0},
                    {std::move(owner), std::move(id)},
                    "urn:uuid:1",
                    kind == LogEntry::Kind::kBlock ? 100u : 0u,
                    {1, 0, 10}};
  };
  using Kind = LogEntry::Kind;
  ASSERT_TRUE(index.Apply(
      std::vector{entry(Kind::kReference, "one", "1"), entry(Kind::kReference, "one", "2"),
                  entry(Kind::kReference, "two", "3")},
      {1, 10}));
  EXPECT_EQ(*index.UsageOf("one"), (OwnerUsage{"one", 2, 0}));
  ASSERT_TRUE(index.Apply(
      std::vector{entry(Kind::kRelease, "two", "4"), entry(Kind::kReference, "three", "5"),
                  entry(Kind::kBlock, "two", "6")},
      {1, 20}));
  EXPECT_THAT(*index.Owners(), ElementsAre(OwnerUsage{"one", 2, 200}, OwnerUsage{"three", 1, 100},
                                           OwnerUsage{"two", 1, 100}));
}

}  // namespace
}  // namespace stele::store
