// A process that stores, deletes and compacts is killed at random points. It says on a pipe what it
// is about to do and what was acknowledged; afterwards the volume must agree. Whatever got no
// answer is done again with the same operation id, so that every count is known exactly.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "io/test_kill.h"
#include "store/test_volume.h"
#include "store/volume_kill_lab.h"
#include "util/ascii.h"
#include "util/test_stride.h"

namespace stele::store {
namespace {

// What the child said.
struct Heard {
  std::map<std::string, std::pair<char, int>> unanswered;
  std::map<int, int> counts;  // by acknowledged operations
  int acknowledged = 0;
  int compacted = 0;
  std::string bad;

  void Take(std::string_view line) {
    if (line == "compacted") ++compacted;
    if (line.starts_with("bad")) bad += line;
    const std::vector<std::string_view> words = Split(line, ' ');
    if (words.size() != 4 || words[1].size() != 1) return;
    const char act = words[1][0];
    const int number = static_cast<int>(ParseDecimal(words[2]).value_or(0));
    const std::string id(words[3]);
    if (words[0] == "try") unanswered[id] = {act, number};
    if (words[0] != "ack") return;
    unanswered.erase(id);
    counts[number] += act == '+' ? 1 : -1;
    ++acknowledged;
  }
};

void RunAndKill(const std::string& kind, const std::string& directory, int run,
                unsigned microseconds, Heard& heard) {
  std::string text;
  io::RunAndKill({STELE_KILL_CHILD, kind, directory, std::to_string(run)}, "try ", microseconds,
                 text);
  for (const std::string_view line : Split(text, '\n')) heard.Take(line);
}

void VerifyAll(Volume& volume, const Heard& heard) {
  std::uint64_t blocks = 0;
  for (const auto& [number, count] : heard.counts) {
    const std::string content = KillContentOf(number);
    const ContentKey key{"tomba", Sha256Signatures().Of(content), 0};
    ASSERT_EQ(ReferencesOf(volume, key), static_cast<std::uint64_t>(count)) << number;
    if (count == 0) continue;
    ++blocks;
    ASSERT_TRUE(Get(volume, key) == content) << number;
  }
  ASSERT_EQ(volume.Stats()->blocks, blocks);
}

void KillManyTimes(const std::string& kind, int kills) {
  const std::string directory =
      testing::TempDir() + fmt::format("stele_kill_{}_{}", kind, ::getpid());
  std::filesystem::remove_all(directory);
  std::filesystem::create_directory(directory);
  KillLab lab;
  ASSERT_TRUE(lab.Create(kind, directory));
  io::SeededRandom dice(20);
  Heard heard;
  for (int run = 0; run < kills; ++run) {
    SCOPED_TRACE(run);
    RunAndKill(kind, directory, run, static_cast<unsigned>(dice.Next() % 40'000), heard);
    if (testing::Test::HasFatalFailure()) return;
    if (run % 7 == 3) std::filesystem::remove_all(directory + "/table");
    const auto volume = lab.Open(kind, directory);
    ASSERT_TRUE(volume) << volume.error().text;
    for (const auto& [id, what] : std::exchange(heard.unanswered, {})) {
      const Status done = KillLab::Perform(**volume, what.first, what.second, id);
      EXPECT_TRUE(done) << done.error().text;
      heard.counts[what.second] += what.first == '+' ? 1 : -1;
    }
    VerifyAll(**volume, heard);
    if (testing::Test::HasFailure()) return;
    if (run % 20 == 19) {
      ASSERT_TRUE((*volume)->Compact({}));
      EXPECT_EQ(Findings(**volume), std::vector<std::string>());
    }
  }
  EXPECT_EQ(heard.bad, "");
  EXPECT_GT(heard.acknowledged, kills);
  EXPECT_GT(heard.compacted, kills / 10);
  testing::Test::RecordProperty("acknowledged", heard.acknowledged);
  testing::Test::RecordProperty("compacted", heard.compacted);
  std::filesystem::remove_all(directory);
}

class VolumeKill : public testing::TestWithParam<const char*> {};

TEST_P(VolumeKill, W4_EveryAcknowledgedContentAndCountSurvivesAHundredKills) {
  KillManyTimes(GetParam(), 100 / kTestStride);
}

INSTANTIATE_TEST_SUITE_P(BothKinds, VolumeKill, testing::Values("tree", "container"),
                         [](const auto& kind) { return std::string(kind.param); });

class BufferedVolumeKill : public testing::TestWithParam<const char*> {};

// What the operating system has does not die with a process.
TEST_P(BufferedVolumeKill, W4_EveryAcknowledgedContentAndCountSurvivesThirtyKills) {
  KillManyTimes(GetParam(), 30);
}

INSTANTIATE_TEST_SUITE_P(BothKinds, BufferedVolumeKill,
                         testing::Values("buffered_tree", "buffered_container"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace stele::store
