// A process that stores and deletes is killed at random points. It says on a pipe what it is about
// to do and what was acknowledged; afterwards the volume must agree. Whatever got no answer is done
// again with the same operation id, so that every count is known exactly.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "io/posix_file_system.h"
#include "store/container_test_lab.h"
#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr const char* kDirectoryVariable = "STELE_CONTAINER_KILL_DIRECTORY";
constexpr const char* kRunVariable = "STELE_CONTAINER_KILL_RUN";
constexpr int kThreads = 4;
constexpr int kContents = 60;

std::string ContentOf(int number) {
  return fmt::format("content {} ", number) + NoiseOf(number * 37 % 3000, number);
}

Result<std::unique_ptr<ContainerVolume>> OpenVolume(const std::string& directory,
                                                    ContainerVolume::Environment environment) {
  auto table = OpenRocksBlockTable(directory + "/table");
  if (!table) return table.error();
  ContainerVolume::Options options;
  options.log.container_bytes_max = 50'000;
  options.log.copied_bytes_max = 1500;
  options.memory_bytes_max = 1000;
  return ContainerVolume::Open(environment, directory + "/volume", *std::move(table), options);
}

Status Perform(ContainerVolume& volume, char act, int number, const std::string& id) {
  if (act == '+') {
    const Result<Stored> stored = StoreContent(volume, ContentOf(number), id);
    return stored ? Status() : Status(stored.error());
  }
  const ContentKey key{"tomba", volume.signature().Of(ContentOf(number)), 0};
  return volume.Delete(key, {"me", id});
}

void Say(const std::string& line) {
  // One write of less than PIPE_BUF bytes is never torn.
  static_cast<void>(::write(STDOUT_FILENO, line.data(), line.size()) == 0);
}

// The process that is killed. Each thread deletes only what it stored itself.
TEST(ContainerKillChild, StoresUntilItIsKilled) {
  const char* directory = std::getenv(kDirectoryVariable);
  if (directory == nullptr) GTEST_SKIP() << "runs as a child of ContainerKill";
  const std::string run = std::getenv(kRunVariable);
  io::PosixFileSystem fs;
  io::SystemClock clock;
  io::SystemRandom random;
  const auto volume = OpenVolume(directory, {fs, clock, random});
  ASSERT_TRUE(volume) << volume.error().text;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      io::SeededRandom dice(std::stoul(run) * 100 + static_cast<unsigned>(t));
      int last = -1;
      for (int i = 0;; ++i) {
        const char act = last >= 0 && dice.Next() % 3 == 0 ? '-' : '+';
        const int number = act == '-' ? last : static_cast<int>(dice.Next() % kContents);
        const std::string id = fmt::format("{}-{}-{}", run, t, i);
        Say(fmt::format("try {} {} {}\n", act, number, id));
        const Status done = Perform(**volume, act, number, id);
        Say(fmt::format("{} {} {} {}\n", done ? "ack" : "bad", act, number, id));
        last = act == '-' ? -1 : number;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// What the child said.
struct Heard {
  std::map<std::string, std::pair<char, int>> unanswered;
  std::map<int, int> counts;  // by acknowledged operations
  int acknowledged = 0;
  int bad = 0;

  void Take(std::string_view line) {
    const std::vector<std::string_view> words = Split(line, ' ');
    if (words.size() != 4 || words[1].size() != 1) return;
    const bool is_try = words[0] == "try";
    if (!is_try && words[0] != "ack" && words[0] != "bad") return;
    const char act = words[1][0];
    const int number = static_cast<int>(ParseDecimal(words[2]).value_or(0));
    const std::string id(words[3]);
    if (is_try) {
      unanswered[id] = {act, number};
      return;
    }
    unanswered.erase(id);
    if (words[0] == "bad") ++bad;
    counts[number] += act == '+' ? 1 : -1;
    ++acknowledged;
  }
};

// Starts this program again as the child, and kills it some microseconds after its first words.
void RunAndKill(const std::string& directory, int run, unsigned microseconds, Heard& heard) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::vector<std::string> environment = {std::string(kDirectoryVariable) + "=" + directory,
                                          std::string(kRunVariable) + "=" + std::to_string(run)};
  std::vector<char*> variables = {environment[0].data(), environment[1].data(), nullptr};
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=ContainerKillChild.*";
  std::vector<char*> arguments = {program.data(), filter.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ASSERT_EQ(::posix_spawn_file_actions_init(&actions), 0);
  ASSERT_EQ(::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO), 0);
  ASSERT_EQ(::posix_spawn_file_actions_addclose(&actions, ends[0]), 0);
  pid_t child = 0;
  ASSERT_EQ(
      ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), variables.data()),
      0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  bool killed = false;
  std::string piece(4096, '\0');
  for (;;) {
    const ssize_t count = ::read(ends[0], piece.data(), piece.size());
    if (count <= 0) break;
    text.append(piece, 0, static_cast<std::size_t>(count));
    if (killed || text.find("\ntry ") == std::string::npos) continue;
    ::usleep(microseconds);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    killed = true;
  }
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << text;
  for (const std::string_view line : Split(text, '\n')) heard.Take(line);
}

TEST(ContainerKill, W4_EveryAcknowledgedContentAndCountSurvivesFiftyKills) {
  const std::string directory = testing::TempDir() + fmt::format("stele_kill_{}", ::getpid());
  std::filesystem::remove_all(directory);
  std::filesystem::create_directory(directory);
  io::PosixFileSystem fs;
  io::SystemClock clock;
  io::SystemRandom random;
  ASSERT_TRUE(ContainerVolume::Create(fs, directory + "/volume", {"tomba", "sha256", 0}));
  io::SeededRandom dice(20);
  Heard heard;
  for (int run = 0; run < 50; ++run) {
    SCOPED_TRACE(run);
    RunAndKill(directory, run, static_cast<unsigned>(dice.Next() % 60'000), heard);
    if (HasFatalFailure()) return;
    if (run % 7 == 3) std::filesystem::remove_all(directory + "/table");
    const auto volume = OpenVolume(directory, {fs, clock, random});
    ASSERT_TRUE(volume) << volume.error().text;
    EXPECT_TRUE((*volume)->damaged().empty());
    for (const auto& [id, what] : std::exchange(heard.unanswered, {})) {
      EXPECT_TRUE(Perform(**volume, what.first, what.second, id));
      heard.counts[what.second] += what.first == '+' ? 1 : -1;
    }
    std::uint64_t blocks = 0;
    for (const auto& [number, count] : heard.counts) {
      const std::string content = ContentOf(number);
      const ContentKey key{"tomba", (*volume)->signature().Of(content), 0};
      const Result<BlockInfo> info = (*volume)->Stat(key);
      ASSERT_EQ(info ? static_cast<int>(info->references) : 0, count) << number;
      if (count == 0) continue;
      ++blocks;
      ASSERT_EQ(*ReadContent(**volume, key), content);
    }
    ASSERT_EQ((*volume)->Stats()->blocks, blocks);
  }
  EXPECT_EQ(heard.bad, 0);
  EXPECT_GT(heard.acknowledged, 50);
  RecordProperty("acknowledged", heard.acknowledged);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace stele::store
