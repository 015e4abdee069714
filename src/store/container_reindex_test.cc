// The table is thrown away and made again from the containers.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "io/posix_file_system.h"
#include "store/container_test_lab.h"

namespace stele::store {
namespace {

ContainerVolume::Options SmallContainers() {
  ContainerVolume::Options options;
  options.log.container_bytes_max = 4000;
  return options;
}

BlockTable::Changes RowsOf(const BlockTable& table) {
  BlockTable::Changes rows;
  EXPECT_TRUE(table.Scan("", [&](std::string_view key, std::string_view value) {
    rows[std::string(key)] = value;
    return true;
  }));
  return rows;
}

// Thirty contents of two owners, every second one deleted, and the space given back.
std::vector<ContentKey> Fill(ContainerVolume& volume) {
  std::vector<ContentKey> keys;
  for (int i = 0; i < 60; ++i) {
    const std::string owner = i % 3 == 0 ? "you" : "me";
    const auto stored = StoreContent(volume, NoiseOf(200, i % 30), fmt::format("s{}", i),
                                     StoreMode::kRegular, owner);
    EXPECT_TRUE(stored);
    keys.push_back(stored->key);
    if (i % 2 == 0) {
      EXPECT_TRUE(volume.Delete(stored->key, {owner, fmt::format("d{}", i)}));
    }
    if (i == 40) {
      EXPECT_TRUE(volume.Compact({}));
    }
  }
  return keys;
}

// What a client can ask.
std::string AnswersOf(ContainerVolume& volume, const std::vector<ContentKey>& keys) {
  std::string answers;
  for (const ContentKey& key : keys) {
    const Result<BlockInfo> info = volume.Stat(key);
    answers += fmt::format("{} {} {}\n", key.Text(), info ? info->references : 0,
                           info ? ReadContent(volume, key)->size() : 0);
  }
  const auto listed = volume.List({});
  for (const ListedBlock& block : *listed) {
    answers += fmt::format("{} {}\n", block.block.signature.Hex(), block.references);
  }
  const auto owners = volume.Owners();
  for (const OwnerUsage& owner : *owners) {
    answers += fmt::format("{} {} {}\n", owner.owner, owner.references, owner.content_bytes);
  }
  const VolumeStats stats = *volume.Stats();
  return answers + fmt::format("{} {} {} {}", stats.blocks, stats.references, stats.content_bytes,
                               stats.stored_bytes);
}

TEST(ContainerReindex, W4_ATableThatWasDeletedIsMadeAgainAndAnswersTheSame) {
  const std::string directory = testing::TempDir() + fmt::format("stele_reindex_{}", ::getpid());
  std::filesystem::remove_all(directory);
  std::filesystem::create_directory(directory);
  io::PosixFileSystem fs;
  io::SystemClock clock;
  io::SystemRandom random;
  ASSERT_TRUE(ContainerVolume::Create(fs, directory + "/v", {"tomba", "sha256", 0}));
  std::vector<ContentKey> keys;
  std::string answers;
  BlockTable::Changes rows;
  for (const bool again : {false, true}) {
    if (again) std::filesystem::remove_all(directory + "/table");
    auto table = OpenRocksBlockTable(directory + "/table");
    ASSERT_TRUE(table);
    BlockTable& rocks = **table;
    const auto volume = ContainerVolume::Open({fs, clock, random}, directory + "/v",
                                              *std::move(table), SmallContainers());
    ASSERT_TRUE(volume) << volume.error().text;
    if (!again) {
      keys = Fill(**volume);
      answers = AnswersOf(**volume, keys);
      rows = RowsOf(rocks);
    } else {
      EXPECT_EQ(AnswersOf(**volume, keys), answers);
      EXPECT_EQ(RowsOf(rocks), rows);
      EXPECT_TRUE(FindingsOf(**volume).empty());
    }
  }
  std::filesystem::remove_all(directory);
}

TEST(ContainerReindex, ATableThatSaysSomethingElseIsMadeAnewOnRequest) {
  ContainerLab lab;
  lab.options = SmallContainers();
  auto volume = lab.Make();
  const std::vector<ContentKey> keys = Fill(*volume);
  const std::string answers = AnswersOf(*volume, keys);
  const BlockTable::Changes rows = RowsOf(lab.table);
  volume.reset();
  BlockTable::Changes wrong;
  for (const auto& [key, value] : rows) {
    const bool is_block = key.starts_with('s') && key[33] == 'b';
    if (is_block && wrong.size() < 5) wrong[key] = std::nullopt;
  }
  ASSERT_FALSE(wrong.empty());
  ASSERT_TRUE(lab.table.Write(wrong));
  volume = lab.Open();
  EXPECT_TRUE(AnswersOf(*volume, keys) != answers);
  volume.reset();
  std::uint64_t done = 0;
  std::uint64_t all = 0;
  lab.options.reindex = true;
  lab.options.progress = [&](std::uint64_t done_bytes, std::uint64_t all_bytes) {
    EXPECT_GT(done_bytes, done);
    done = done_bytes;
    all = all_bytes;
  };
  volume = lab.Open();
  EXPECT_EQ(done, all);
  EXPECT_EQ(all, volume->Stats()->stored_bytes);
  EXPECT_EQ(AnswersOf(*volume, keys), answers);
  EXPECT_EQ(RowsOf(lab.table), rows);
}

TEST(ContainerReindex, DamageIsReported) {
  ContainerLab lab;
  lab.options = SmallContainers();
  std::vector<ContentKey> keys = Fill(*lab.Make());
  const std::string name = lab.Containers()[1];
  {
    auto file = lab.disk.OpenForUpdating("v/containers/" + name);
    ASSERT_TRUE((*file)->WriteAt(2000, "damage"));
  }
  EXPECT_TRUE(lab.Open()->damaged().empty());  // nothing was read
  lab.options.reindex = true;
  const auto volume = lab.Open();
  ASSERT_EQ(volume->damaged().size(), 1u);
  EXPECT_EQ(volume->damaged()[0].container, ContainerName::Parse(name)->serial);
}

// The record of a block holds one of its references, which goes when it is damaged.
TEST(ContainerReindex, W10_AContentThatWasRestoredHasAllItsReferencesAgain) {
  for (const bool first_comes_last : {false, true}) {
    ContainerLab lab;
    auto volume = lab.Make();
    const std::string content = NoiseOf(500, 1);
    const ContentKey key = StoreContent(*volume, content, first_comes_last ? "9" : "0")->key;
    for (const char* more : {"1", "2", "3"}) ASSERT_TRUE(StoreContent(*volume, content, more));
    ASSERT_TRUE(volume->Delete(key, {"me", "4"}));
    const std::string path = "v/containers/" + lab.Containers().front();
    const std::size_t at = io::ReadFile(lab.disk, path)->find(content);
    ASSERT_NE(at, std::string::npos);
    ASSERT_TRUE((*lab.disk.OpenForUpdating(path))->WriteAt(at, "#"));
    ASSERT_FALSE(ReadContent(*volume, key));
    io::MemorySource source(content);
    ASSERT_TRUE(volume->Restore(key, content.size(), source));
    EXPECT_EQ(volume->Stat(key)->references, 3u);
    volume.reset();
    ASSERT_TRUE(lab.table.Clear());
    volume = lab.Open();
    EXPECT_EQ(*ReadContent(*volume, key), content);
    EXPECT_EQ(volume->Stat(key)->references, 3u) << first_comes_last;
  }
}

}  // namespace
}  // namespace stele::store
