// A process that builds segments under one name, again and again, is killed at random points. It
// says on a pipe which one is complete; afterwards that one is there, or the next.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "catalog/pisa_segment.h"
#include "catalog/pisa_test_lab.h"
#include "io/posix_file_system.h"

namespace stele::catalog {
namespace {

std::vector<PisaCapture> CapturesOf(std::uint8_t generation) {
  io::SeededRandom dice(generation);
  return ByKey(MakeScenario({}, dice));
}

[[noreturn]] void BuildForEver(const std::string& path, std::uint8_t generation, int said) {
  io::PosixFileSystem files;
  for (;; ++generation) {
    const PisaSegmentOptions options{kBeginningOfTime, kEndOfTime, kSmallPisa, 4000};
    if (!WriteSegment(files, path, options, CapturesOf(generation))) ::_exit(1);
    if (::write(said, &generation, 1) != 1) ::_exit(1);
  }
}

// Returns the last generation that was complete when the child was killed.
std::uint8_t RunAndKill(const std::string& path, std::uint8_t generation, unsigned microseconds) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    BuildForEver(path, generation, ends[1]);
  }
  ::close(ends[1]);
  std::uint8_t complete = 0;
  EXPECT_EQ(::read(ends[0], &complete, 1), 1);
  ::usleep(microseconds);
  EXPECT_EQ(::kill(child, SIGKILL), 0);
  while (::read(ends[0], &complete, 1) == 1) {
  }
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  return complete;
}

TEST(PisaSegmentKill, P1_AKilledWriterLeavesTheLastSegmentOrTheNext) {
  const std::string directory = testing::TempDir() + "pisa-kill-" + std::to_string(::getpid());
  std::filesystem::create_directory(directory);
  const std::string path = directory + "/s";
  io::PosixFileSystem files;
  io::SeededRandom dice(1);
  std::uint8_t generation = 0;
  int unfinished = 0;
  for (int round = 0; round < 30; ++round) {
    const std::uint8_t complete =
        RunAndKill(path, generation, static_cast<unsigned>(dice.Next() % 9000));
    unfinished += std::filesystem::exists(path + ".new") ? 1 : 0;
    PageCache cache(1 << 20);
    const auto segment = PisaSegment::Open(files, path, cache);
    ASSERT_TRUE(segment) << segment.error().text;
    EXPECT_TRUE((*segment)->Validate([](const Error& error) { ADD_FAILURE() << error.text; }));
    const auto next = static_cast<std::uint8_t>(complete + 1);
    const std::vector<PisaCapture> found =
        ReadAll(**segment, AliveDuring(Timestamp{0}, Timestamp{9999}));
    const auto holds = [&](std::uint8_t which) {
      return found == TwinOf(CapturesOf(which)).AliveDuring(Timestamp{0}, Timestamp{9999});
    };
    EXPECT_TRUE(holds(complete) || holds(next)) << round;
    generation = next;
  }
  EXPECT_GT(unfinished, 0) << "no kill came while a segment was being written";
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace stele::catalog
