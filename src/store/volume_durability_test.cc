// What volumes of both kinds have after their power went: a synced one everything that it has
// acknowledged, a buffered one everything up to its last sync, and of what came later some. Either
// way it is sound.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <thread>

#include "io/fault_file_system.h"
#include "store/container_test_lab.h"
#include "store/local_store.h"
#include "store/test_volume.h"
#include "util/test_stride.h"

namespace stele::store {
namespace {

using testing::IsEmpty;

constexpr std::chrono::hours kNever{1};

struct Case {
  VolumeKind kind;
  Durability durability;
};

std::string NameOf(const Case& of) {
  return fmt::format("{}_{}", of.kind == VolumeKind::kTree ? "tree" : "container",
                     DurabilityName(of.durability));
}
void PrintTo(const Case& of, std::ostream* out) { *out << NameOf(of); }

std::string ContentOf(int number) {
  return fmt::format("{} ", number) + NoiseOf(static_cast<std::size_t>(number) * 150, number);
}

// A volume that is open, until its disk goes.
struct Opened {
  std::unique_ptr<TreeVolume> tree;
  std::unique_ptr<ContainerVolume> container;

  explicit operator bool() const { return tree != nullptr || container != nullptr; }
  Volume& volume() {
    return tree != nullptr ? static_cast<Volume&>(*tree) : static_cast<Volume&>(*container);
  }
  Status Sync() { return tree != nullptr ? tree->Sync() : container->Sync(); }
};

// A disk with one volume.
class Machine {
 public:
  explicit Machine(const Case& of) : case_(of) {
    const bool is_tree = case_.kind == VolumeKind::kTree;
    const Status made =
        is_tree ? TreeVolume::Create(disk_, "v", {"v", "sha256", 3, 0, case_.durability})
                : ContainerVolume::Create(disk_, "v", {"v", "sha256", 0, case_.durability});
    EXPECT_TRUE(made) << made.error().text;
  }

  Opened Open(io::FileSystem& fs, std::chrono::milliseconds sync_delay = kNever) {
    Opened opened;
    if (case_.kind == VolumeKind::kTree) {
      TreeVolume::Options options;
      options.memory_bytes_max = 700;
      options.log.journal_bytes_max = 2000;
      options.sync_delay = sync_delay;
      auto volume = TreeVolume::Open(fs, "v", options);
      if (volume) opened.tree = *std::move(volume);
      if (!volume) error_ = volume.error().text;
      return opened;
    }
    ContainerVolume::Options options;
    options.memory_bytes_max = 700;
    options.log.container_bytes_max = 4000;
    options.log.copied_bytes_max = 1200;
    options.sync_delay = sync_delay;
    auto volume = ContainerVolume::Open({fs, clock_, random_}, "v",
                                        std::make_unique<BorrowedTable>(table_), options);
    if (volume) opened.container = *std::move(volume);
    if (!volume) error_ = volume.error().text;
    return opened;
  }
  Opened Open() { return Open(disk_); }

  // The rows of the table may have reached the disk or not.
  void Crash(io::Random& dice) {
    disk_.Crash(dice);
    if (dice.Next() % 2 == 0) table_.Crash();
  }

  io::MemoryFileSystem& disk() { return disk_; }
  const std::string& error() const { return error_; }

 private:
  const Case case_;
  io::MemoryFileSystem disk_;
  io::ManualClock clock_{Timestamp{1'700'000'000'000}};
  io::SeededRandom random_{1};
  MemoryBlockTable table_;
  std::string error_;
};

// A client that knows the count of each content at the last sync and what was done since.
class Client {
 public:
  explicit Client(Durability durability) : durability_(durability) {}

  static constexpr int kContents = 12;

  // False at the first error.
  bool Act(Opened& opened, io::Random& dice) {
    const int number = static_cast<int>(dice.Next() % kContents);
    const bool deletes = CountNow(number) > 0 && dice.Next() % 5 < 2;
    const Operation operation{"me", fmt::format("{}", ++operations_)};
    Result<Stored> stored = Error{ErrorCode::kNotFound, ""};
    Status done;
    if (deletes) {
      done = opened.volume().Delete(KeyOf(number), operation);
    } else {
      const std::string content = ContentOf(number);
      io::MemorySource source(content);
      stored = opened.volume().Store(
          {KeyOf(number).signature, content.size(), StoreMode::kRegular, "image/png", operation},
          source);
      if (!stored) done = stored.error();
    }
    since_.push_back({number, deletes ? -1 : 1, done.ok()});
    if (durability_ == Durability::kSynced && done) Synced();
    return done.ok();
  }
  void Synced() {
    for (const Change& change : since_) {
      if (change.acknowledged) counts_[change.number] += change.difference;
    }
    since_.clear();
  }
  // Takes what is there for granted from now on, once it has been found to be possible.
  void Verify(Volume& volume) {
    std::uint64_t references = 0;
    std::uint64_t blocks = 0;
    for (int number = 0; number < kContents; ++number) {
      const Result<BlockInfo> info = volume.Stat(KeyOf(number));
      const int count = info ? static_cast<int>(info->references) : 0;
      int lowest = counts_[number];
      int highest = counts_[number];
      for (const Change& change : since_) {
        if (change.number != number) continue;
        (change.difference > 0 ? highest : lowest) += change.difference;
      }
      EXPECT_GE(count, lowest) << number;
      EXPECT_LE(count, highest) << number;
      counts_[number] = count;
      references += static_cast<std::uint64_t>(count);
      blocks += count > 0 ? 1 : 0;
      if (count > 0) {
        EXPECT_TRUE(Get(volume, KeyOf(number)) == ContentOf(number)) << number;
      }
    }
    since_.clear();
    EXPECT_EQ(volume.Stats()->references, references);
    EXPECT_EQ(volume.Stats()->blocks, blocks);
    // Crashes may leave blocks of a tree that nobody refers to.
    EXPECT_TRUE(volume.Verify({[](const Finding& finding) {
      EXPECT_EQ(finding.code, ErrorCode::kInvalid) << finding.where << ": " << finding.text;
    }}));
    EXPECT_TRUE(volume.Compact({}));
    EXPECT_THAT(Findings(volume), IsEmpty());
  }

 private:
  struct Change {
    int number;
    int difference;
    bool acknowledged;
  };

  static ContentKey KeyOf(int number) { return {"v", Sha256Signatures().Of(ContentOf(number)), 0}; }
  int CountNow(int number) {
    int count = counts_[number];
    for (const Change& change : since_) {
      if (change.number == number && change.acknowledged) count += change.difference;
    }
    return count;
  }

  const Durability durability_;
  int operations_ = 0;
  std::map<int, int> counts_;
  std::vector<Change> since_;
};

class VolumeDurability : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Volumes, VolumeDurability,
                         testing::Values(Case{VolumeKind::kTree, Durability::kSynced},
                                         Case{VolumeKind::kTree, Durability::kBuffered},
                                         Case{VolumeKind::kContainer, Durability::kSynced},
                                         Case{VolumeKind::kContainer, Durability::kBuffered}),
                         [](const auto& of) { return NameOf(of.param); });

TEST_P(VolumeDurability, W4_WhatWasSyncedSurvivesPowerCutsAndTheRestIsSound) {
  for (std::uint64_t seed = 0; seed < 40; seed += kTestStride) {
    io::SeededRandom dice(seed);
    Machine machine(GetParam());
    Client client(GetParam().durability);
    for (int cut = 0; cut < 6; ++cut) {
      SCOPED_TRACE(fmt::format("seed {} cut {}", seed, cut));
      {
        io::FaultFileSystem faults(machine.disk(), 1 + static_cast<int>(dice.Next() % 600));
        Opened opened = machine.Open(faults);
        for (int i = 0; opened && i < 40; ++i) {
          if (!client.Act(opened, dice)) break;
          if (dice.Next() % 10 > 0) continue;
          if (!opened.Sync()) break;
          client.Synced();
        }
        faults.FailFromNowOn();
      }
      machine.Crash(dice);
      Opened opened = machine.Open();
      ASSERT_TRUE(opened) << machine.error();
      client.Verify(opened.volume());
      ASSERT_TRUE(opened.Sync());
      if (HasFailure()) return;
    }
  }
}

// Fails the n-th operation of the disk, for every n.
TEST_P(VolumeDurability, W4_WhatWasSyncedSurvivesEveryFailure) {
  for (int fail_at = 1;; fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    io::SeededRandom dice(7);
    Machine machine(GetParam());
    Client client(GetParam().durability);
    bool finished = false;
    {
      io::FaultFileSystem faults(machine.disk(), fail_at);
      Opened opened = machine.Open(faults);
      for (int i = 0; opened && i < 30 && client.Act(opened, dice); ++i) {
        finished = i == 29;
        if (i % 7 != 6) continue;
        if (!opened.Sync()) break;
        client.Synced();
      }
      finished = finished && !faults.Fails();
    }
    machine.Crash(dice);
    Opened opened = machine.Open();
    ASSERT_TRUE(opened) << machine.error();
    client.Verify(opened.volume());
    if (HasFailure() || finished) break;
    ASSERT_LT(fail_at, 3000);
  }
}

TEST_P(VolumeDurability, W4_ClosingAndTheBackgroundSync) {
  io::SeededRandom dice(3);
  for (const bool closes : {true, false}) {
    SCOPED_TRACE(closes);
    Machine machine(GetParam());
    Client client(GetParam().durability);
    Opened opened = machine.Open(machine.disk(), closes ? kNever : std::chrono::milliseconds(1));
    const auto mark = [&] {
      const Result<std::string> text = io::ReadFile(machine.disk(), "v/synced");
      return text ? *text : std::string();
    };
    const std::string before = mark();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(client.Act(opened, dice));
    if (closes) {
      opened = {};
    } else if (GetParam().durability == Durability::kBuffered) {
      while (mark() == before) std::this_thread::yield();
      ASSERT_TRUE(opened.Sync());
    }
    client.Synced();
    machine.Crash(dice);
    opened = machine.Open();
    ASSERT_TRUE(opened) << machine.error();
    client.Verify(opened.volume());
  }
}

class BufferedVolume : public testing::TestWithParam<VolumeKind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, BufferedVolume,
                         testing::Values(VolumeKind::kTree, VolumeKind::kContainer),
                         testing::PrintToStringParamName());

TEST_P(BufferedVolume, W4_AFailedSyncEndsWritingUntilTheVolumeIsOpenedAgain) {
  io::SeededRandom dice(5);
  Machine machine({GetParam(), Durability::kBuffered});
  Client client(Durability::kBuffered);
  {
    io::FaultFileSystem faults(machine.disk(), 1'000'000);
    Opened opened = machine.Open(faults);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(client.Act(opened, dice));
    faults.FailFromNowOn();
    EXPECT_EQ(opened.Sync().error().code, ErrorCode::kIo);
    EXPECT_FALSE(client.Act(opened, dice));
  }
  machine.Crash(dice);
  Opened opened = machine.Open();
  ASSERT_TRUE(opened) << machine.error();
  client.Verify(opened.volume());
  EXPECT_TRUE(client.Act(opened, dice));
}

TEST(LocalDurability, W4_IsChangedWhileNobodyHasTheVolumeOpen) {
  io::MemoryFileSystem fs;
  io::ManualClock clock{Timestamp{1'700'000'000'000}};
  io::SeededRandom random(1);
  const LocalEnvironment environment{fs, clock, random};
  LocalStoreOptions options;
  options.open_table = [](const std::string&) -> Result<std::unique_ptr<BlockTable>> {
    return std::unique_ptr<BlockTable>(std::make_unique<MemoryBlockTable>());
  };
  for (const VolumeKind kind : {VolumeKind::kTree, VolumeKind::kContainer}) {
    const std::string name = kind == VolumeKind::kTree ? "t" : "c";
    ASSERT_TRUE(AddLocalVolume(fs, "s", {.kind = kind, .name = name}));
    const std::string file = "s/" + name + "/volume";
    const std::string before = *io::ReadFile(fs, file);
    ASSERT_TRUE(SetLocalDurability(environment, "s", name, Durability::kBuffered, options));
    EXPECT_EQ(*io::ReadFile(fs, file), before + "durability buffered\n");
    {
      const auto lock = fs.Lock("s/" + name + "/lock");
      EXPECT_EQ(
          SetLocalDurability(environment, "s", name, Durability::kSynced, options).error().code,
          ErrorCode::kBusy);
    }
    ASSERT_TRUE(SetLocalDurability(environment, "s", name, Durability::kSynced, options));
    EXPECT_EQ(*io::ReadFile(fs, file), before);
    EXPECT_FALSE(*fs.Exists("s/" + name + "/synced"));
  }
}

}  // namespace
}  // namespace stele::store
