// The disk fails, loses power and flips bits under a container volume.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <thread>

#include "io/fault_file_system.h"
#include "store/container_test_lab.h"

namespace stele::store {
namespace {

// What a client knows about its contents: the references that were acknowledged, and the one
// operation whose answer was an error.
class Client {
 public:
  // A fixed series of stores, duplicates and deletes; stops at the first error. True: all done.
  bool Work(ContainerVolume& volume) {
    for (int i = 0; i < 12; ++i) {
      const std::string content = ContentOf(i % 5);
      if (!Count(content, StoreContent(volume, content, "s" + std::to_string(i)))) {
        return false;
      }
      if (i % 3 != 2) continue;
      const ContentKey key = keys_.at(content);
      const Status deleted = volume.Delete(key, {"me", "d" + std::to_string(i)});
      if (!deleted) {
        doubtful_ = content;
        return false;
      }
      --counts_[content];
    }
    return true;
  }

  // Every acknowledged content is there with its references; what got no answer, once or not.
  void Verify(ContainerVolume& volume) const {
    for (const auto& [content, count] : counts_) {
      const bool doubtful = doubtful_ == content;
      const Result<BlockInfo> info = volume.Stat(keys_.at(content));
      const int found = info ? static_cast<int>(info->references) : 0;
      if (doubtful) {
        EXPECT_LE(std::abs(found - count), 1);
      } else {
        EXPECT_EQ(found, count);
      }
      if (found > 0) {
        EXPECT_EQ(*ReadContent(volume, keys_.at(content)), content);
      }
    }
    EXPECT_TRUE(FindingsOf(volume).empty());
  }

 private:
  static std::string ContentOf(int number) {
    return number == 4 ? NoiseOf(5000, 4) : "content " + std::to_string(number);
  }
  bool Count(const std::string& content, const Result<Stored>& stored) {
    keys_.try_emplace(content, ContentKey{"tomba", Sha256Signatures().Of(content), 0});
    counts_.try_emplace(content, 0);
    if (!stored) {
      doubtful_ = content;
      return false;
    }
    EXPECT_EQ(stored->key, keys_.at(content));
    ++counts_[content];
    return true;
  }

  std::map<std::string, ContentKey> keys_;
  std::map<std::string, int> counts_;
  std::string doubtful_;
};

ContainerVolume::Options SmallContainers() {
  ContainerVolume::Options options;
  options.log.container_bytes_max = 3000;
  options.log.copied_bytes_max = 2000;
  options.memory_bytes_max = 1000;
  return options;
}

TEST(ContainerCrash, W4_NothingAcknowledgedIsLostWhereverTheDiskFailsAndThePowerGoes) {
  for (const bool power_goes : {false, true}) {
    for (int fail_at = 1;; ++fail_at) {
      SCOPED_TRACE(fail_at);
      ContainerLab lab;
      lab.options = SmallContainers();
      ASSERT_TRUE(ContainerVolume::Create(lab.disk, "v", lab.shape));
      io::FaultFileSystem faults(lab.disk, fail_at);
      Client client;
      bool finished = false;
      {
        const auto volume = lab.Open(faults);
        if (volume) finished = client.Work(**volume);
        if (volume && !finished) {
          // A log that failed takes nothing more, but what is there can still be read.
          EXPECT_FALSE(StoreContent(**volume, "later", "later"));
        }
      }
      if (power_goes) {
        lab.disk.Crash();
        lab.table.Crash();
      }
      const auto volume = lab.Open();
      ASSERT_NE(volume, nullptr);
      EXPECT_TRUE(volume->damaged().empty());
      client.Verify(*volume);
      EXPECT_TRUE(StoreContent(*volume, "afterwards", "afterwards"));
      if (finished) break;
      ASSERT_LT(fail_at, 2000);
    }
  }
}

TEST(ContainerCrash, W4_OpeningCanBeInterruptedAnywhere) {
  for (int fail_at = 1;; ++fail_at) {
    SCOPED_TRACE(fail_at);
    ContainerLab lab;
    lab.options = SmallContainers();
    Client client;
    ASSERT_TRUE(client.Work(*lab.Make()));
    const std::string name = "v/containers/" + lab.Containers().back();
    ASSERT_TRUE(name.ends_with(".open"));
    {
      auto file = lab.disk.OpenForAppending(name);
      ASSERT_TRUE((*file)->Append("\x1f\x8b\x08 a record that was not finished"));
      ASSERT_TRUE((*file)->Sync());
    }
    ASSERT_TRUE(lab.table.Clear());
    io::FaultFileSystem faults(lab.disk, fail_at);
    const bool opened = lab.Open(faults).ok();
    lab.disk.Crash();
    lab.table.Crash();
    const auto volume = lab.Open();
    ASSERT_NE(volume, nullptr);
    EXPECT_TRUE(volume->damaged().empty());
    client.Verify(*volume);
    if (opened) break;
    ASSERT_LT(fail_at, 500);
  }
}

TEST(ContainerCrash, ATornTailIsMovedAsideWhereverItWasCut) {
  ContainerLab lab;
  std::string whole;
  std::size_t acknowledged = 0;
  ContentKey first{"", Signature("x"), 0};
  {
    const auto volume = lab.Make();
    first = StoreContent(*volume, "first", "1")->key;
    acknowledged = volume->Stats()->stored_bytes;
    ASSERT_TRUE(StoreContent(*volume, "second", "2"));
  }
  const std::string path = "v/containers/00000001.warc.gz.open";
  whole = *io::ReadFile(lab.disk, path);
  for (std::size_t cut = acknowledged; cut < whole.size(); ++cut) {
    SCOPED_TRACE(cut);
    ContainerLab torn;
    ASSERT_TRUE(ContainerVolume::Create(torn.disk, "v", torn.shape));
    ASSERT_TRUE(io::ReplaceFile(torn.disk, path, whole.substr(0, cut)));
    const auto volume = torn.Open();
    ASSERT_NE(volume, nullptr);
    EXPECT_TRUE(volume->damaged().empty());
    EXPECT_EQ(volume->torn().size(), cut > acknowledged ? 1u : 0u);
    if (cut > acknowledged) {
      EXPECT_EQ(*io::ReadFile(torn.disk, "v/containers/00000001.warc.gz.torn"),
                whole.substr(acknowledged, cut - acknowledged));
    }
    EXPECT_EQ(*io::ReadFile(torn.disk, path), whole.substr(0, acknowledged));
    EXPECT_EQ(*ReadContent(*volume, first), "first");
    EXPECT_EQ(volume->Stats()->blocks, 1u);
    EXPECT_TRUE(StoreContent(*volume, "third", "3"));
    EXPECT_TRUE(FindingsOf(*volume).empty());
  }
}

TEST(ContainerCrash, GoodRecordsAfterABadPlaceAreDamageAndAreKept) {
  ContainerLab lab;
  std::vector<ContentKey> keys;
  std::uint64_t before_second = 0;
  {
    const auto volume = lab.Make();
    keys.push_back(StoreContent(*volume, "first", "1")->key);
    before_second = volume->Stats()->stored_bytes;
    keys.push_back(StoreContent(*volume, "second", "2")->key);
    keys.push_back(StoreContent(*volume, "third", "3")->key);
    ASSERT_TRUE(StoreContent(*volume, "second", "4"));
  }
  const std::string path = "v/containers/00000001.warc.gz.open";
  std::string bytes = *io::ReadFile(lab.disk, path);
  bytes[before_second + 60] = static_cast<char>(~bytes[before_second + 60]);
  ASSERT_TRUE(io::ReplaceFile(lab.disk, path, bytes));
  ASSERT_TRUE(lab.table.Clear());
  const auto volume = lab.Open();
  ASSERT_EQ(volume->damaged().size(), 1u);
  EXPECT_EQ(volume->damaged()[0].begin, before_second);
  EXPECT_TRUE(volume->torn().empty());
  EXPECT_EQ(*ReadContent(*volume, keys[0]), "first");
  EXPECT_EQ(*ReadContent(*volume, keys[2]), "third");
  EXPECT_EQ(ReadContent(*volume, keys[1]).error().code, ErrorCode::kCorrupt);
  const std::vector<Finding> findings = FindingsOf(*volume);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].where, keys[1].Text());
  EXPECT_EQ(findings[0].code, ErrorCode::kNotFound);
  EXPECT_EQ(findings[1].where, path);
  const auto again = StoreContent(*volume, "second", "5");  // stored anew, not referred to
  EXPECT_TRUE(again->is_new);
  EXPECT_EQ(*ReadContent(*volume, again->key), "second");
}

TEST(ContainerCrash, EveryFlippedByteIsFoundAndNamed) {
  ContainerLab lab;
  std::vector<std::pair<std::uint64_t, ContentKey>> ends;
  {
    const auto volume = lab.Make();
    for (const char* content : {"first", "second", "third"}) {
      const ContentKey key = StoreContent(*volume, content, content)->key;
      ends.emplace_back(volume->Stats()->stored_bytes, key);
    }
  }
  const std::string path = "v/containers/00000001.warc.gz.open";
  const std::string good = *io::ReadFile(lab.disk, path);
  const std::uint64_t first_block = good.size() - (ends[2].first - ends[0].first);
  int unnoticed = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    SCOPED_TRACE(at);
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    {
      auto file = lab.disk.OpenForUpdating(path);
      ASSERT_TRUE((*file)->WriteAt(0, bad));
    }
    const auto volume = lab.Open();
    ASSERT_NE(volume, nullptr);
    const std::vector<Finding> findings = FindingsOf(*volume);
    // Time, system and hints in the header of a gzip member, and the bits that fill up a byte
    // before a stored block, three times in a block's record, mean nothing and have no checksum.
    if (findings.empty()) {
      ++unnoticed;
      continue;
    }
    EXPECT_EQ(findings.back().where, path);
    EXPECT_TRUE(volume->damaged().empty());  // the table was up to date: nothing was read
    if (at < first_block) continue;
    const ContentKey& key = at < ends[1].first ? ends[1].second : ends[2].second;
    EXPECT_EQ(findings.front().where, key.Text());
    EXPECT_EQ(findings.front().code, ErrorCode::kCorrupt);
    EXPECT_EQ(ReadContent(*volume, key).error().code, ErrorCode::kCorrupt);
  }
  EXPECT_LE(unnoticed, 4 * 7 + 3 * 3);
}

TEST(ContainerCrash, ATableFromALaterMomentThanTheContainersIsMadeAnew) {
  ContainerLab lab;
  {
    const auto volume = lab.Make();
    ASSERT_TRUE(StoreContent(*volume, "first", "1"));
  }
  const std::string path = "v/containers/00000001.warc.gz.open";
  const std::string earlier = *io::ReadFile(lab.disk, path);
  ASSERT_TRUE(StoreContent(*lab.Open(), "second", "2"));
  ASSERT_TRUE(io::ReplaceFile(lab.disk, path, earlier));
  const auto volume = lab.Open();
  EXPECT_EQ(volume->Stats()->blocks, 1u);
  EXPECT_TRUE(FindingsOf(*volume).empty());
}

TEST(ContainerCrash, W4_ManyThreadsMakeOneBlockForEachContent) {
  constexpr int kThreads = 32;
  constexpr int kContents = 40;
  ContainerLab lab;
  lab.options.log.container_bytes_max = 20'000;
  auto volume = lab.Make();
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kContents; ++i) {
        const std::string content = "content " + std::to_string((i + t) % kContents);
        const auto stored = StoreContent(*volume, content, fmt::format("{}-{}", t, i),
                                         t % 2 == 0 ? StoreMode::kRegular : StoreMode::kCompare);
        ASSERT_TRUE(stored) << stored.error().text;
        if (stored->is_new) ++made;
        ASSERT_EQ(*ReadContent(*volume, stored->key), content);
        if (t % 4 == 3) {
          ASSERT_TRUE(volume->Delete(stored->key, {"me", fmt::format("d{}-{}", t, i)}));
        }
      }
    });
  }
  threads.emplace_back([&] { EXPECT_TRUE(FindingsOf(*volume).empty()); });
  for (std::thread& thread : threads) thread.join();
  for (const bool reopened : {false, true}) {
    if (reopened) {
      volume.reset();
      ASSERT_TRUE(lab.table.Clear());
      volume = lab.Open();
    }
    EXPECT_EQ(volume->Stats()->blocks, static_cast<std::uint64_t>(kContents));
    EXPECT_EQ(volume->Stats()->references, static_cast<std::uint64_t>(kContents * 24));
    for (int i = 0; i < kContents; ++i) {
      const Signature signature = volume->signature().Of("content " + std::to_string(i));
      EXPECT_EQ(volume->Stat({"tomba", signature, 0})->references, 24u);
    }
    EXPECT_TRUE(FindingsOf(*volume).empty());
  }
}

}  // namespace
}  // namespace stele::store
