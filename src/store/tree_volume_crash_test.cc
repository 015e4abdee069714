#include <gmock/gmock.h>

#include <map>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "store/test_volume.h"
#include "util/test_stride.h"

// A volume whose disk fails, or loses its power, at any point: what was acknowledged is there, and
// what was not is done or not done, and is done once when it is asked for again.
namespace stele::store {
namespace {

using testing::IsEmpty;

// One operation of a client.
struct Step {
  std::string content;  // stored, or released by whoever stored it
  bool release = false;
  StoreMode mode = StoreMode::kCompare;
  std::string owner = "tomba";
};

// With the weak signature, the contents with the same first letter collide.
std::vector<Step> Script() {
  return {{"a1"},
          {"a1"},
          {"a2"},                                 // an overflow block
          {"a22 which is larger than the rest"},  // another one, by way of a file
          {"b"},
          {"a2", false, StoreMode::kCompare, "sidra"},
          {"a1", true},
          {"a2", true, StoreMode::kCompare, "sidra"},
          {"a1", true},  // the last reference
          {"b", false, StoreMode::kRegular},
          {"a3"},  // takes the free place
          {"a22 which is larger than the rest", true},
          {"b", true},
          {"b", true},
          {"", false}};
}

// A client that knows what it has.
class Client {
 public:
  // True when the step was acknowledged. The error is kept.
  bool Run(TreeVolume& volume, const std::vector<Step>& script, std::size_t at) {
    const Step& step = script[at];
    const Operation operation{step.owner, "step-" + std::to_string(at)};
    if (step.release) {
      const ContentKey key = keys_.at(step.content);
      const Status released = volume.Delete(key, operation);
      if (!released) error_ = released.error();
      if (released) --counts_[step.content];
      return released.ok();
    }
    const Result<Stored> stored = Put(volume, step.content, operation, step.mode);
    if (!stored) error_ = stored.error();
    if (!stored) return false;
    const auto [known, is_new] = keys_.try_emplace(step.content, stored->key);
    if (counts_[step.content] > 0) {
      EXPECT_EQ(known->second, stored->key);
    }
    known->second = stored->key;
    ++counts_[step.content];
    return true;
  }

  // Everything acknowledged is there. The content of an operation that was not, `unsure`, may have
  // one reference more or less; it is not looked at.
  void Verify(TreeVolume& volume, const std::string* unsure) const {
    for (const auto& [content, count] : counts_) {
      const ContentKey& key = keys_.at(content);
      if (unsure != nullptr && *unsure == content) {
        if (count > 1) {
          EXPECT_EQ(Get(volume, key), content);
        }
        continue;
      }
      if (count == 0) continue;
      EXPECT_EQ(Get(volume, key), content);
      EXPECT_EQ(ReferencesOf(volume, key), static_cast<std::uint64_t>(count)) << content;
    }
  }

  void VerifyStats(TreeVolume& volume) const {
    VolumeStats expected;
    for (const auto& [content, count] : counts_) {
      if (count == 0) continue;
      ++expected.blocks;
      expected.references += static_cast<std::uint64_t>(count);
      expected.content_bytes += content.size();
    }
    const VolumeStats stats = *volume.Stats();
    EXPECT_EQ(stats.blocks, expected.blocks);
    EXPECT_EQ(stats.references, expected.references);
    EXPECT_EQ(stats.content_bytes, expected.content_bytes);
  }

  const Error& error() const { return *error_; }

 private:
  std::map<std::string, ContentKey> keys_;
  std::map<std::string, int> counts_;
  std::optional<Error> error_;
};

TreeVolume::Options SmallOptions(std::uint64_t journal_bytes_max) {
  TreeVolume::Options options = WeakOptions();
  options.memory_bytes_max = 8;
  options.log.journal_bytes_max = journal_bytes_max;
  options.log.cached_entries_max = 1;
  return options;
}

// Only leaks may be found, and they can be taken away.
void ExpectSoundAfterSweep(TreeVolume& volume) {
  const Result<std::uint64_t> checked = volume.Verify({[](const Finding& finding) {
    EXPECT_EQ(finding.code, ErrorCode::kInvalid) << finding.where << ": " << finding.text;
  }});
  EXPECT_TRUE(checked);
  EXPECT_TRUE(volume.Compact({}));
  EXPECT_THAT(Findings(volume), IsEmpty());
}

enum class After { kNothing, kPowerLoss };

// Fails the n-th disk operation of the script, opens the volume again and goes on from the step
// that failed. False when the script ended before.
bool FailAndGoOn(int fail_at, std::uint64_t journal_bytes_max, After after) {
  SCOPED_TRACE(testing::Message() << "failing operation " << fail_at);
  const std::vector<Step> script = Script();
  io::MemoryFileSystem disk;
  NewVolume(disk, {}, WeakOptions());
  Client client;
  std::size_t at = 0;
  {
    io::FaultFileSystem fs(disk, fail_at);
    Result<std::unique_ptr<TreeVolume>> volume =
        TreeVolume::Open(fs, "v", SmallOptions(journal_bytes_max));
    while (volume && at < script.size() && client.Run(**volume, script, at)) ++at;
    if (volume && at < script.size()) {
      EXPECT_EQ(client.error().code, ErrorCode::kIo);
    }
  }
  if (after == After::kPowerLoss) disk.Crash();
  const auto volume = OpenVolume(disk, "v", SmallOptions(journal_bytes_max));
  if (volume == nullptr) return false;
  const bool failed = at < script.size();
  client.Verify(*volume, failed ? &script[at].content : nullptr);
  ExpectSoundAfterSweep(*volume);
  for (; at < script.size(); ++at) {
    if (!client.Run(*volume, script, at)) {
      ADD_FAILURE() << "step " << at << ": " << client.error().text;
      return false;
    }
  }
  client.Verify(*volume, nullptr);
  client.VerifyStats(*volume);
  ExpectSoundAfterSweep(*volume);
  return failed;
}

constexpr std::uint64_t kJournals[] = {1, 300, 1 << 20};  // settled always, sometimes, never

TEST(TreeVolumeCrash, W6_EveryDiskFailureLeavesWhatWasAcknowledged) {
  for (const std::uint64_t journal : kJournals) {
    int fail_at = 1;
    while (FailAndGoOn(fail_at, journal, After::kNothing)) fail_at += kTestStride;
    EXPECT_GT(fail_at, 100);
    if (HasFailure()) return;
  }
}

TEST(TreeVolumeCrash, W6_EveryDiskFailureWithPowerLossLeavesWhatWasAcknowledged) {
  for (const std::uint64_t journal : kJournals) {
    int fail_at = 1;
    while (FailAndGoOn(fail_at, journal, After::kPowerLoss)) fail_at += kTestStride;
    EXPECT_GT(fail_at, 100);
    if (HasFailure()) return;
  }
}

TEST(TreeVolumeCrash, W6_PowerLossAfterEachOperationLosesNothing) {
  const std::vector<Step> script = Script();
  for (const std::uint64_t journal : kJournals) {
    for (std::size_t steps = 0; steps <= script.size(); ++steps) {
      io::MemoryFileSystem disk;
      Client client;
      auto volume = NewVolume(disk, {}, SmallOptions(journal));
      for (std::size_t at = 0; at < steps; ++at) ASSERT_TRUE(client.Run(*volume, script, at));
      disk.Crash();
      // What the old volume still writes reaches no disk.
      const auto after = OpenVolume(disk, "v", SmallOptions(journal));
      ASSERT_NE(after, nullptr);
      client.Verify(*after, nullptr);
      client.VerifyStats(*after);
      EXPECT_THAT(Findings(*after), IsEmpty()) << "after " << steps << " steps";
    }
  }
}

TEST(TreeVolumeCrash, RecoveryItselfMayFailAnywhere) {
  const std::vector<Step> script = Script();
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    Client client;
    {
      auto volume = NewVolume(disk, {}, SmallOptions(1 << 20));
      for (std::size_t at = 0; at < script.size(); ++at) {
        ASSERT_TRUE(client.Run(*volume, script, at));
      }
    }
    bool opened = false;
    {
      io::FaultFileSystem fs(disk, fail_at);
      opened = TreeVolume::Open(fs, "v", SmallOptions(1 << 20)).ok();
    }
    disk.Crash();
    const auto volume = OpenVolume(disk, "v", SmallOptions(1 << 20));
    ASSERT_NE(volume, nullptr);
    client.Verify(*volume, nullptr);
    client.VerifyStats(*volume);
    EXPECT_THAT(Findings(*volume), IsEmpty());
    if (opened) break;
    ASSERT_LT(fail_at, 1000);
  }
}

TEST(TreeVolumeCrash, MakingAVolumeMayFailAnywhere) {
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    io::FaultFileSystem fs(disk, fail_at);
    const bool made = TreeVolume::Create(fs, "v", {.name = "v"}).ok();
    disk.Crash();
    if (made) {
      EXPECT_NE(OpenVolume(disk, "v", {}), nullptr);
      break;
    }
    EXPECT_TRUE(TreeVolume::Create(disk, "v", {.name = "v"}));
    ASSERT_LT(fail_at, 100);
  }
}

TEST(TreeVolumeCrash, ADamagedLineOfSettledReferencesNeverCostsABlock) {
  io::MemoryFileSystem disk;
  auto volume = NewVolume(disk, {}, SmallOptions(1));
  const ContentKey key = Put(*volume, "a", {"one", "1"})->key;
  ASSERT_TRUE(Put(*volume, "a", {"two", "2"}));
  volume = nullptr;
  const std::string path = "v/references/5A/5";
  std::string lines = *io::ReadFile(disk, path);
  lines[lines.find("two")] = 'T';
  ASSERT_TRUE(io::ReplaceFile(disk, path, lines));
  volume = OpenVolume(disk, "v", SmallOptions(1));
  ASSERT_TRUE(volume->Delete(key, {"one", "3"}));
  EXPECT_EQ(Get(*volume, key), "a");
  EXPECT_EQ(*volume->Compact({}), 0u);
  EXPECT_EQ(Get(*volume, key), "a");
}

TEST(TreeVolumeCrash, ADamagedLineOfTheJournalIsSetAsideAndReported) {
  io::MemoryFileSystem disk;
  auto volume = NewVolume(disk, {}, SmallOptions(1 << 20));
  ASSERT_TRUE(Put(*volume, "a", {"one", "1"}));
  const ContentKey key = Put(*volume, "b", {"two", "2"})->key;
  volume = nullptr;
  std::string lines = *io::ReadFile(disk, "v/journal");
  lines[lines.find("one")] = 'O';
  ASSERT_TRUE(io::ReplaceFile(disk, "v/journal", lines));
  volume = OpenVolume(disk, "v", SmallOptions(1 << 20));
  EXPECT_EQ(Get(*volume, key), "b");
  EXPECT_EQ(*io::ReadFile(disk, "v/journal.damaged"), lines);
  EXPECT_EQ(Findings(*volume).size(), 2u);  // the line, and the block whose reference it had
  // That block is neither swept nor overwritten, also later.
  for (int openings = 0; openings < 2; ++openings) {
    EXPECT_EQ(volume->Compact({}).error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(Put(*volume, "a22", {"three", std::to_string(openings)})->key.overflow, 1u);
    volume = nullptr;
    volume = OpenVolume(disk, "v", SmallOptions(1 << 20));
  }
  EXPECT_EQ(Get(*volume, {"v", WeakSignatures().Of("a"), 0}), "a");
}

}  // namespace
}  // namespace stele::store
