// Repairing is interrupted by a disk that fails, or by the power: afterwards it can be done again,
// and then every content is on as many volumes as it should be, with no reference too many.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "store/container_test_lab.h"
#include "store/copies.h"
#include "store/test_member.h"
#include "store/volume_file.h"
#include "util/test_stride.h"

namespace stele::store {
namespace {

using testing::IsEmpty;

constexpr int kVolumes = 3;
constexpr int kCopies = 2;

std::string ContentOf(int number) {
  return fmt::format("{} ", number) + NoiseOf(static_cast<std::size_t>(number) * 300, number);
}

// The store on a disk, until the disk goes.
class OpenedStore {
 public:
  OpenedStore(io::FileSystem& fs, VolumeKind kind, std::uint64_t seed) : random_(seed) {
    Instance::Composed composed;
    composed.composition.epoch = 1;
    for (int i = 0; i < kVolumes; ++i) {
      const std::string name = fmt::format("v{}", i);
      Result<std::unique_ptr<Volume>> volume = Open(fs, kind, name);
      if (!volume) return;
      Result<std::unique_ptr<Member>> member = OpenMember(fs, *std::move(volume));
      if (!member) return;
      composed.composition.volumes.push_back(name);
      composed.members.push_back(*std::move(member));
    }
    Instance::Options options;
    options.signature = std::make_shared<Sha256Signatures>();
    options.down_time = std::chrono::milliseconds(0);
    instance_ = std::make_unique<Instance>(std::move(composed), options);
    copies_ = std::make_unique<Copies>(*instance_, random_);
  }

  bool is_open() const { return copies_ != nullptr; }
  Instance& instance() { return *instance_; }
  Copies& copies() { return *copies_; }

 private:
  Result<std::unique_ptr<Volume>> Open(io::FileSystem& fs, VolumeKind kind,
                                       const std::string& name) {
    if (kind == VolumeKind::kTree) {
      auto volume = TreeVolume::Open(fs, name, {});
      if (!volume) return volume.error();
      return std::unique_ptr<Volume>(*std::move(volume));
    }
    Result<std::unique_ptr<BlockTable>> table = FileTable::Open(fs, name + "/rows");
    if (!table) return table.error();
    auto volume = ContainerVolume::Open({fs, clock_, random_}, name, *std::move(table), {});
    if (!volume) return volume.error();
    return std::unique_ptr<Volume>(*std::move(volume));
  }

  io::ManualClock clock_{Timestamp{1'700'000'000'000}};
  io::SeededRandom random_;
  std::unique_ptr<Instance> instance_;
  std::unique_ptr<Copies> copies_;
};

enum class End { kFailure, kPowerCut };

void PrintTo(End end, std::ostream* out) {
  *out << (end == End::kFailure ? "failure" : "power_cut");
}

class RepairCrash : public testing::TestWithParam<std::tuple<VolumeKind, End>> {
 protected:
  static VolumeKind Kind() { return std::get<0>(GetParam()); }

  // Contents with two copies or one, a damaged original, a damaged copy, and a copy whose original
  // was deleted while nobody looked after copies.
  void Prepare(io::MemoryFileSystem& disk) {
    keys_.clear();
    for (int i = 0; i < kVolumes; ++i) {
      const std::string name = fmt::format("v{}", i);
      const Status made = Kind() == VolumeKind::kTree
                              ? TreeVolume::Create(disk, name, {.name = name})
                              : ContainerVolume::Create(disk, name, {name, "sha256", 0});
      ASSERT_TRUE(made) << made.error().text;
    }
    OpenedStore store(disk, Kind(), 1);
    for (int i = 0; i < 7; ++i) {
      const Result<Stored> stored = store.instance().Store(
          ContentOf(i), {.media_type = "image/png", .operation = {"me", fmt::format("{}", i)}});
      ASSERT_TRUE(stored) << stored.error().text;
      keys_.push_back(stored->key);
      ASSERT_TRUE(store.copies().Ensure(stored->key, i < 2 ? 1 : kCopies));
    }
    ASSERT_TRUE(store.instance().Delete(keys_[6], {"me", "gone"}));
    keys_.pop_back();
    Damage(disk, keys_[3], ContentOf(3));
    Damage(disk, CopyOf(store, keys_[4]), ContentOf(4));
    damage_.clear();
    for (MemberVolume* volume : store.instance().volumes()) {
      for (const std::string& finding : Findings(*volume)) damage_.insert(WhenSealed(finding));
    }
    ASSERT_FALSE(damage_.empty());
  }
  // Containers are sealed sooner or later.
  static std::string WhenSealed(std::string finding) {
    constexpr std::string_view kOpen = ".open";
    const std::size_t at = finding.find(kOpen);
    return at == std::string::npos ? finding : finding.erase(at, kOpen.size());
  }
  static ContentKey CopyOf(OpenedStore& store, const ContentKey& original) {
    for (MemberVolume* volume : store.instance().volumes()) {
      const ContentKey key{volume->name(), original.signature, 0};
      if (volume->name() != original.volume && volume->Stat(key)) return key;
    }
    ADD_FAILURE() << "there is no copy";
    return original;
  }
  // Contents of this kind lie on the disk as they are.
  static void Damage(io::MemoryFileSystem& disk, const ContentKey& key,
                     const std::string& content) {
    const std::string path = Kind() == VolumeKind::kTree
                                 ? key.volume + "/blocks/" + Sig2Location(key.signature, 0, 3)
                                 : key.volume + "/containers/00000001.warc.gz.open";
    const std::size_t at = io::ReadFile(disk, path)->find(content);
    ASSERT_NE(at, std::string::npos);
    ASSERT_TRUE((*disk.OpenForUpdating(path))->WriteAt(at + content.size() - 1, "#"));
  }

  // Asked again it counts once.
  static Result<ContentKey> StoreWithCopies(OpenedStore& store, int number) {
    const Result<Stored> stored = store.instance().Store(
        ContentOf(number),
        {.media_type = "image/png", .operation = {"me", fmt::format("load-{}", number)}});
    if (!stored) return stored.error();
    const Result<int> copies = store.copies().Ensure(stored->key, kCopies);
    if (!copies) return copies.error();
    return stored->key;
  }

  // Right when nothing is missing and nothing is left over.
  void Verify(OpenedStore& store) {
    VerifyContents(store);
    std::uint64_t references = 0;
    for (MemberVolume* volume : store.instance().volumes()) {
      references += volume->Stats()->references;
    }
    EXPECT_EQ(references, keys_.size() * kCopies);
  }
  void VerifyContents(OpenedStore& store) {
    EXPECT_EQ(BlocksOf(store), keys_.size() * kCopies);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const Result<std::string> content = ReadAll(store.instance().Retrieve(keys_[i]));
      EXPECT_TRUE(content && *content == ContentOf(static_cast<int>(i))) << i;
      EXPECT_EQ(store.instance().Stat(keys_[i])->references, 1u);
    }
  }
  std::uint64_t BlocksOf(OpenedStore& store) {
    std::uint64_t blocks = 0;
    for (MemberVolume* volume : store.instance().volumes()) {
      EXPECT_TRUE(volume->Compact({}));
      std::vector<std::string> findings = Findings(*volume);
      // A container never changes: what is damaged stays in it, beside what was restored.
      std::erase_if(findings, [&](const std::string& finding) {
        return finding.find("/containers/") != std::string::npos &&
               damage_.contains(WhenSealed(finding));
      });
      EXPECT_THAT(findings, IsEmpty());
      blocks += volume->Stats()->blocks;
    }
    return blocks;
  }

  std::vector<ContentKey> keys_;
  std::set<std::string> damage_;
};

TEST_P(RepairCrash, W10_RepairIsFinishedWhereverItWasInterrupted) {
  bool finished = false;
  for (int fail_at = 1; !finished; fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    io::MemoryFileSystem disk;
    Prepare(disk);
    disk.SyncAll();
    {
      io::FaultFileSystem faults(disk, fail_at);
      OpenedStore store(faults, Kind(), dice.Next());
      if (store.is_open()) static_cast<void>(store.copies().Repair({}).ok());
      finished = !faults.Fails();
      faults.FailFromNowOn();
    }
    if (std::get<1>(GetParam()) == End::kPowerCut) disk.Crash(dice);
    OpenedStore store(disk, Kind(), dice.Next());
    ASSERT_TRUE(store.is_open());
    const Result<Copies::Repaired> repaired = store.copies().Repair({});
    ASSERT_TRUE(repaired) << repaired.error().text;
    EXPECT_EQ(repaired->failed, 0u);
    Verify(store);
    if (HasFailure()) return;
    ASSERT_LT(fail_at, 5000);
  }
}

// Clients store contents with copies meanwhile, and ask again for what got no answer.
TEST_P(RepairCrash, W10_RepairIsFinishedWhereverTheDiskGoesUnderLoad) {
  constexpr int kClients = 3;
  bool finished = false;
  for (int fail_at = 1; !finished && !HasFailure(); fail_at += kTestStride) {
    SCOPED_TRACE(fail_at);
    ASSERT_LT(fail_at, 5000);
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    io::MemoryFileSystem disk;
    Prepare(disk);
    disk.SyncAll();
    const int first = static_cast<int>(keys_.size());
    {
      io::FaultFileSystem faults(disk, fail_at);
      OpenedStore store(faults, Kind(), dice.Next());
      std::vector<std::thread> threads;
      for (int i = 0; store.is_open() && i < kClients; ++i) {
        threads.emplace_back([&store, number = first + i] {
          static_cast<void>(StoreWithCopies(store, number).ok());
        });
      }
      if (store.is_open()) static_cast<void>(store.copies().Repair({}).ok());
      for (std::thread& thread : threads) thread.join();
      finished = !faults.Fails();
      faults.FailFromNowOn();
    }
    if (std::get<1>(GetParam()) == End::kPowerCut) disk.Crash(dice);
    OpenedStore store(disk, Kind(), dice.Next());
    ASSERT_TRUE(store.is_open());
    for (int i = 0; i < kClients; ++i) {
      const Result<ContentKey> key = StoreWithCopies(store, first + i);
      ASSERT_TRUE(key) << key.error().text;
      keys_.push_back(*key);
    }
    const Result<Copies::Repaired> repaired = store.copies().Repair({});
    ASSERT_TRUE(repaired) << repaired.error().text;
    EXPECT_EQ(repaired->failed, 0u);
    // A copy that two had a hand in may be held twice; it goes with its original all the same.
    VerifyContents(store);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      EXPECT_TRUE(store.copies().Delete(keys_[i], {"me", fmt::format("end-{}", i)}));
    }
    EXPECT_EQ(BlocksOf(store), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Disks, RepairCrash,
                         testing::Combine(testing::Values(VolumeKind::kTree,
                                                          VolumeKind::kContainer),
                                          testing::Values(End::kFailure, End::kPowerCut)),
                         [](const auto& of) {
                           return testing::PrintToString(std::get<0>(of.param)) + '_' +
                                  testing::PrintToString(std::get<1>(of.param));
                         });

}  // namespace
}  // namespace stele::store
