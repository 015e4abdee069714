// Containers are compacted: in peace, under load, and on a disk that fails or loses power.
#include "store/container_compact.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "io/fault_file_system.h"
#include "store/container_test_lab.h"
#include "util/test_stride.h"

namespace stele::store {
namespace {

ContainerVolume::Options SmallContainers() {
  ContainerVolume::Options options;
  options.log.container_bytes_max = 4000;
  options.log.copied_bytes_max = 3000;
  options.memory_bytes_max = 1000;
  return options;
}

std::string ContentOf(int number) {
  return NoiseOf(number % 7 == 6 ? 3500 : 300 + static_cast<std::size_t>(number) * 7, number);
}

// Rows that say something about contents; the position is where it is.
BlockTable::Changes RowsOf(const BlockTable& table) {
  BlockTable::Changes rows;
  EXPECT_TRUE(table.Scan("", [&](std::string_view key, std::string_view value) {
    if (key != "!position") rows[std::string(key)] = value;
    return true;
  }));
  return rows;
}

// Contents with their true counts. One operation at most got no answer.
class Ledger {
 public:
  // Stores twenty contents, some of them several times, and deletes two thirds. True: all done.
  bool Fill(ContainerVolume& volume) {
    for (int i = 0; i < 30; ++i) {
      if (!Store(volume, i % 20)) return false;
    }
    for (int i = 0; i < 20; ++i) {
      if (i % 3 == 0) continue;
      for (int count = counts_[i]; count > 0; --count) {
        if (!Delete(volume, i)) return false;
      }
    }
    return true;
  }

  bool Store(ContainerVolume& volume, int number) {
    doubtful_ = number;
    const auto stored = StoreContent(volume, ContentOf(number), fmt::format("s{}", ++operation_));
    if (!stored) return false;
    EXPECT_EQ(stored->key, KeyOf(number));
    doubtful_ = -1;
    ++counts_[number];
    return true;
  }

  bool Delete(ContainerVolume& volume, int number) {
    doubtful_ = number;
    if (!volume.Delete(KeyOf(number), {"me", fmt::format("d{}", ++operation_)})) return false;
    doubtful_ = -1;
    --counts_[number];
    return true;
  }

  void Verify(ContainerVolume& volume) const {
    for (const auto& [number, count] : counts_) {
      SCOPED_TRACE(number);
      const Result<BlockInfo> info = volume.Stat(KeyOf(number));
      const int found = info ? static_cast<int>(info->references) : 0;
      EXPECT_LE(std::abs(found - count), number == doubtful_ ? 1 : 0);
      if (found == 0) continue;
      const Result<std::string> content = ReadContent(volume, KeyOf(number));
      ASSERT_TRUE(content) << content.error().text;
      EXPECT_EQ(*content, ContentOf(number));
    }
    for (const Finding& finding : FindingsOf(volume)) {
      ADD_FAILURE() << finding.where << ": " << finding.text;
    }
  }

 private:
  static ContentKey KeyOf(int number) {
    return {"tomba", Sha256Signatures().Of(ContentOf(number)), 0};
  }

  int operation_ = 0;
  std::map<int, int> counts_;
  int doubtful_ = -1;
};

// The table says what the containers say.
void ExpectTheSameRowsAnew(ContainerLab& lab) {
  const BlockTable::Changes rows = RowsOf(lab.table);
  ASSERT_TRUE(lab.table.Clear());
  ASSERT_NE(lab.Open(), nullptr);
  EXPECT_EQ(RowsOf(lab.table), rows);
}

TEST(ContainerCompact, W4_GivesBackTheSpaceOfDeletedContents) {
  ContainerLab lab;
  lab.options = SmallContainers();
  auto volume = lab.Make();
  Ledger ledger;
  ASSERT_TRUE(ledger.Fill(*volume));
  const std::uint64_t before = volume->Stats()->stored_bytes;
  std::uint64_t done = 0;
  std::uint64_t all = 0;
  CompactOptions options;
  options.progress = [&](std::uint64_t done_bytes, std::uint64_t all_bytes) {
    EXPECT_GT(done_bytes, done);
    done = done_bytes;
    all = all_bytes;
  };
  const Result<std::uint64_t> freed = volume->Compact(options);
  ASSERT_TRUE(freed) << freed.error().text;
  EXPECT_EQ(done, all);
  EXPECT_GT(*freed, before / 3);
  const std::uint64_t after = volume->Stats()->stored_bytes;
  EXPECT_LT(after, before * 2 / 3);
  ledger.Verify(*volume);
  std::uint64_t on_disk = 0;
  for (const std::string& name : lab.Containers()) {
    on_disk += io::ReadFile(lab.disk, "v/containers/" + name)->size();
  }
  EXPECT_EQ(after, on_disk);
  volume.reset();
  ExpectTheSameRowsAnew(lab);
  volume = lab.Open();
  ledger.Verify(*volume);
  EXPECT_EQ(volume->Stats()->stored_bytes, after);
  // What is left is used: doing it again finds nothing more.
  ASSERT_TRUE(volume->Compact({}));
  const std::vector<std::string> names = lab.Containers();
  EXPECT_EQ(*volume->Compact({}), 0u);
  EXPECT_EQ(lab.Containers(), names);
}

TEST(ContainerCompact, AVolumeThatWasFullTakesContentsAgain) {
  ContainerLab lab;
  lab.options = SmallContainers();
  lab.shape.capacity_bytes = 20'000;
  const auto volume = lab.Make();
  std::vector<ContentKey> keys;
  while (volume->state() == VolumeState::kWritable) {
    const auto stored =
        StoreContent(*volume, NoiseOf(1000, keys.size()), std::to_string(keys.size()));
    if (!stored) break;
    keys.push_back(stored->key);
  }
  EXPECT_EQ(StoreContent(*volume, NoiseOf(1000, 99), "99").error().code, ErrorCode::kFull);
  for (std::size_t i = 1; i < keys.size(); ++i) {
    ASSERT_TRUE(volume->Delete(keys[i], {"me", fmt::format("d{}", i)}));
  }
  EXPECT_EQ(volume->state(), VolumeState::kFull);
  ASSERT_TRUE(volume->Compact({}));
  EXPECT_EQ(volume->state(), VolumeState::kWritable);
  EXPECT_TRUE(StoreContent(*volume, NoiseOf(1000, 99), "99"));
  EXPECT_EQ(*ReadContent(*volume, keys[0]), NoiseOf(1000, 0));
}

TEST(ContainerCompact, OperationsOfLivingBlocksStayKnown) {
  ContainerLab lab;
  lab.options = SmallContainers();
  auto volume = lab.Make();
  const ContentKey key = StoreContent(*volume, "page", "1")->key;
  ASSERT_TRUE(StoreContent(*volume, "page", "2"));
  ASSERT_TRUE(volume->Delete(key, {"me", "3"}));
  ASSERT_TRUE(StoreContent(*volume, "page", "4"));
  const ContentKey gone = StoreContent(*volume, NoiseOf(3000, 1), "5")->key;
  ASSERT_TRUE(volume->Delete(gone, {"me", "6"}));
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(volume->Compact({}));
    for (const char* operation : {"1", "2", "4"}) {
      EXPECT_FALSE(StoreContent(*volume, "page", operation)->is_new);
    }
    EXPECT_TRUE(volume->Delete(key, {"me", "3"}));
    EXPECT_EQ(volume->Stat(key)->references, 2u);
    volume.reset();
    ExpectTheSameRowsAnew(lab);
    volume = lab.Open();
  }
  EXPECT_EQ(StoreContent(*volume, NoiseOf(3000, 1), "5")->key, gone);
}

TEST(ContainerCompact, W6_ADeletedBlockStaysDeletedWhicheverContainersGo) {
  for (std::uint64_t seed = 0; seed < 40; seed += kTestStride) {
    SCOPED_TRACE(seed);
    io::SeededRandom dice(seed);
    ContainerLab lab;
    lab.options = SmallContainers();
    auto volume = lab.Make();
    Ledger ledger;
    std::map<int, int> counts;
    for (int step = 0; step < 150; ++step) {
      const int number = static_cast<int>(dice.Next() % 12);
      if (counts[number] > 0 && dice.Next() % 2 == 0) {
        ASSERT_TRUE(ledger.Delete(*volume, number));
        --counts[number];
      } else {
        ASSERT_TRUE(ledger.Store(*volume, number));
        ++counts[number];
      }
      if (step % 25 == 24) {
        CompactOptions options;
        options.used_share_max = static_cast<double>(dice.Next() % 100) / 100;
        const auto freed = volume->Compact(options);
        ASSERT_TRUE(freed) << freed.error().text;
        ledger.Verify(*volume);
        volume.reset();
        ExpectTheSameRowsAnew(lab);
        volume = lab.Open();
        ledger.Verify(*volume);
      }
      if (HasFailure()) return;
    }
  }
}

TEST(ContainerCompact, AReaderReadsOnInAContainerThatIsRemoved) {
  ContainerLab lab;
  lab.options = SmallContainers();
  const auto volume = lab.Make();
  const std::string content = NoiseOf(3000, 1);
  const ContentKey key = StoreContent(*volume, content, "1")->key;
  ASSERT_TRUE(StoreContent(*volume, NoiseOf(3000, 2), "2"));
  const Result<std::unique_ptr<io::Source>> open = volume->Retrieve(key);
  std::string bytes(100, '\0');
  ASSERT_EQ(*(*open)->Read(bytes), 100u);
  ASSERT_TRUE(volume->Delete(key, {"me", "3"}));
  const std::vector<std::string> before = lab.Containers();
  ASSERT_TRUE(volume->Compact({}));
  EXPECT_NE(lab.Containers(), before);
  EXPECT_EQ(volume->Retrieve(key).error().code, ErrorCode::kNotFound);
  std::string piece(5000, '\0');
  for (;;) {
    const Result<std::size_t> read = (*open)->Read(piece);
    ASSERT_TRUE(read) << read.error().text;
    if (*read == 0) break;
    bytes.append(piece, 0, *read);
  }
  EXPECT_EQ(bytes, content);
}

TEST(ContainerCompact, ADamagedContainerIsLeftAsItIsAndNamed) {
  ContainerLab lab;
  lab.options = SmallContainers();
  const auto volume = lab.Make();
  Ledger ledger;
  ASSERT_TRUE(ledger.Fill(*volume));
  const std::string path = "v/containers/00000001.warc.gz";
  std::string bytes = *io::ReadFile(lab.disk, path);
  {
    auto file = lab.disk.OpenForUpdating(path);
    ASSERT_TRUE((*file)->WriteAt(bytes.size() / 2, "damage"));
  }
  std::vector<Finding> findings;
  CompactOptions options;
  options.used_share_max = 1;
  options.report = [&](const Finding& finding) { findings.push_back(finding); };
  ASSERT_TRUE(volume->Compact(options));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].where, path);
  EXPECT_EQ(findings[0].code, ErrorCode::kCorrupt);
  EXPECT_TRUE(*lab.disk.Exists(path));
}

TEST(ContainerCompact, W10_AContentThatWasRestoredKeepsItsReferences) {
  ContainerLab lab;
  lab.options = SmallContainers();
  auto volume = lab.Make();
  const std::string content = NoiseOf(500, 1);
  // The number had a block before, whose operations are still known.
  const ContentKey key = StoreContent(*volume, content, "1")->key;
  ASSERT_TRUE(volume->Delete(key, {"me", "2"}));
  ASSERT_EQ(StoreContent(*volume, content, "3")->key, key);
  ASSERT_TRUE(StoreContent(*volume, content, "4"));
  io::MemorySource source(content);
  ASSERT_TRUE(volume->Restore(key, content.size(), source));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(volume->Stat(key)->references, 2u);
    EXPECT_EQ(*ReadContent(*volume, key), content);
    EXPECT_TRUE(FindingsOf(*volume).empty());
    const auto more = StoreContent(*volume, NoiseOf(3000, 2), fmt::format("more{}", round));
    ASSERT_TRUE(more) << more.error().text;
    CompactOptions options;
    options.used_share_max = 1;
    ASSERT_TRUE(volume->Compact(options));
    volume.reset();
    ExpectTheSameRowsAnew(lab);
    volume = lab.Open();
  }
}

// The large content is copied at once, the small ones at the end of the container.
TEST(ContainerCompact, W9_IsStoppedWithinAContainer) {
  const std::vector<std::string> contents = {NoiseOf(500, 0), NoiseOf(5 << 20, 1), NoiseOf(500, 2),
                                             NoiseOf(500, 3)};
  const std::string path = "v/containers/00000001.warc.gz";
  ContainerLab lab;
  auto volume = lab.Make();
  std::vector<ContentKey> keys;
  for (const std::string& content : contents) {
    keys.push_back(StoreContent(*volume, content, std::to_string(keys.size()))->key);
  }
  ASSERT_TRUE(volume->Delete(keys[3], {"me", "gone"}));
  keys.pop_back();
  const auto verify = [&] {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(*ReadContent(*volume, keys[i]), contents[i]);
      EXPECT_EQ(volume->Stat(keys[i])->references, 1u);
    }
    EXPECT_TRUE(FindingsOf(*volume).empty());
  };
  CompactOptions options;
  options.used_share_max = 1;
  for (const int stop_at : {2, 3, 4, 5}) {
    SCOPED_TRACE(stop_at);
    options.stop = [&, asked = 0]() mutable { return ++asked >= stop_at; };
    options.progress = [](std::uint64_t, std::uint64_t) { ADD_FAILURE() << "it is not done"; };
    const Result<std::uint64_t> freed = volume->Compact(options);
    ASSERT_TRUE(freed) << freed.error().text;
    EXPECT_EQ(*freed, 0u);
    EXPECT_TRUE(*lab.disk.Exists(path));
    volume.reset();
    ExpectTheSameRowsAnew(lab);
    volume = lab.Open();
    verify();
  }
  options.stop = nullptr;
  options.progress = nullptr;
  ASSERT_TRUE(volume->Compact(options));
  EXPECT_FALSE(*lab.disk.Exists(path));
  verify();
}

TEST(ContainerCompact, NothingGoesFromAFrozenVolume) {
  ContainerLab lab;
  lab.options = SmallContainers();
  const auto volume = lab.Make();
  Ledger ledger;
  ASSERT_TRUE(ledger.Fill(*volume));
  ASSERT_TRUE(volume->SetState(VolumeState::kFrozen));
  const std::vector<std::string> names = lab.Containers();
  EXPECT_EQ(volume->Compact({}).error().code, ErrorCode::kFull);
  EXPECT_EQ(lab.Containers(), names);
}

TEST(ContainerCompact, W4_NothingIsLostWhereverTheDiskFailsOrThePowerGoes) {
  for (const bool power_goes : {false, true}) {
    for (int fail_at = 1;; fail_at += kTestStride) {
      SCOPED_TRACE(fmt::format("{} {}", power_goes, fail_at));
      ContainerLab lab;
      lab.options = SmallContainers();
      Ledger ledger;
      ASSERT_TRUE(ledger.Fill(*lab.Make()));
      io::FaultFileSystem faults(lab.disk, fail_at);
      bool finished = false;
      {
        const auto volume = lab.Open(faults);
        finished = volume && (*volume)->Compact({}) && ledger.Store(**volume, 3) &&
                   ledger.Delete(**volume, 6) && (*volume)->Compact({});
      }
      if (power_goes) {
        lab.disk.Crash();
        lab.table.Crash();
      }
      auto volume = lab.Open();
      ASSERT_NE(volume, nullptr);
      EXPECT_TRUE(volume->damaged().empty());
      ledger.Verify(*volume);
      volume.reset();
      ExpectTheSameRowsAnew(lab);
      volume = lab.Open();
      ledger.Verify(*volume);
      ASSERT_TRUE(volume->Compact({}));
      ledger.Verify(*volume);
      volume.reset();
      ExpectTheSameRowsAnew(lab);
      if (HasFailure()) return;
      if (finished) break;
      ASSERT_LT(fail_at, 5000);
    }
  }
}

TEST(ContainerCompact, W4_ManyThreadsStoreDeleteAndReadMeanwhile) {
  constexpr int kThreads = 32;
  constexpr int kSteps = 40;
  ContainerLab lab;
  lab.options = SmallContainers();
  auto volume = lab.Make();
  std::atomic<bool> done = false;
  std::thread compacting([&] {
    CompactOptions options;
    options.used_share_max = 0.8;
    do {
      const auto freed = volume->Compact(options);
      EXPECT_TRUE(freed) << freed.error().text;
    } while (!done);
  });
  // Each thread has contents of its own and contents that it shares with others.
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kSteps; ++i) {
        const std::string content =
            i % 2 == 0 ? fmt::format("own {} {} {}", t, i, NoiseOf(200, t)) : ContentOf(i % 10);
        const std::string id = fmt::format("{}-{}", t, i);
        const auto stored = StoreContent(*volume, content, id);
        ASSERT_TRUE(stored) << stored.error().text;
        const Result<std::string> read = ReadContent(*volume, stored->key);
        ASSERT_TRUE(read) << read.error().text;
        ASSERT_EQ(*read, content);
        if (i % 4 < 3) {
          ASSERT_TRUE(volume->Delete(stored->key, {"me", "d" + id}));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  compacting.join();
  for (int round = 0; round < 3; ++round) {
    if (round == 1) {
      ASSERT_TRUE(volume->Compact({}));
    }
    if (round == 2) {
      volume.reset();
      ExpectTheSameRowsAnew(lab);
      volume = lab.Open();
    }
    // Every fourth step leaves a reference, to one of the shared contents.
    EXPECT_EQ(volume->Stats()->references, static_cast<std::uint64_t>(kThreads * kSteps / 4));
    for (int i = 3; i < kSteps; i += 4) {
      const std::string content = ContentOf(i % 10);
      EXPECT_EQ(*ReadContent(*volume, {"tomba", volume->signature().Of(content), 0}), content);
    }
    EXPECT_TRUE(FindingsOf(*volume).empty());
  }
}

}  // namespace
}  // namespace stele::store
