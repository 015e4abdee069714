#include "cli/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "io/posix_file_system.h"

namespace stele::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Writes a file of several pieces; true when it was reported as there.
bool WriteFile(io::FileSystem& fs, bool replace) {
  io::ManualClock clock(Timestamp{0});
  io::SeededRandom random(1);
  io::StringSink out, err;
  Context context{fs, clock, random, out, err};
  auto output = OutputFile::Create(context, "f", replace);
  if (!output) return false;
  for (int i = 0; i < 3; ++i) {
    if (!(*output)->Write(std::string(300'000, static_cast<char>('a' + i)))) return false;
  }
  return (*output)->Commit().ok();
}

std::string Complete() {
  return std::string(300'000, 'a') + std::string(300'000, 'b') + std::string(300'000, 'c');
}

TEST(OutputFile, IsCompleteOrNotThereWhereverTheDiskFailsAndThePowerGoes) {
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    io::FaultFileSystem fs(disk, fail_at);
    const bool finished = WriteFile(fs, false);
    // Before the power goes, and after.
    for (int crash = 0; crash < 2; ++crash) {
      const Result<std::string> content = io::ReadFile(disk, "f");
      if (finished || content) {
        ASSERT_TRUE(content) << fail_at;
        EXPECT_TRUE(*content == Complete()) << fail_at;
      }
      disk.Crash();
    }
    if (finished) break;
    ASSERT_LT(fail_at, 100);
  }
}

TEST(OutputFile, AReplacedFileIsTheOldOneOrTheNew) {
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    ASSERT_TRUE(io::ReplaceFile(disk, "f", "old"));
    io::FaultFileSystem fs(disk, fail_at);
    const bool finished = WriteFile(fs, true);
    disk.Crash();
    const std::string content = *io::ReadFile(disk, "f");
    EXPECT_TRUE(content == (finished ? Complete() : "old")) << fail_at;
    if (finished) break;
    ASSERT_LT(fail_at, 100);
  }
}

TEST(OutputFile, GivingUpLeavesNothingBehind) {
  io::MemoryFileSystem fs;
  io::ManualClock clock(Timestamp{0});
  io::SeededRandom random(1);
  io::StringSink out, err;
  Context context{fs, clock, random, out, err};
  {
    auto output = OutputFile::Create(context, "f", false);
    ASSERT_TRUE((*output)->Write("half"));
    EXPECT_THAT(*fs.List("."), ElementsAre("f.part"));
  }
  EXPECT_THAT(*fs.List("."), IsEmpty());
}

TEST(OutputFile, AnExistingFileIsReplacedOnlyWhenAsked) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(io::ReplaceFile(fs, "f", "old"));
  EXPECT_FALSE(WriteFile(fs, false));
  EXPECT_EQ(*io::ReadFile(fs, "f"), "old");
  EXPECT_TRUE(WriteFile(fs, true));
}

TEST(OutputFile, WhatIsNoFileIsNeverReplaced) {
  io::PosixFileSystem fs;
  io::ManualClock clock(Timestamp{0});
  io::SeededRandom random(1);
  io::StringSink out, err;
  Context context{fs, clock, random, out, err};
  const std::string pipe = testing::TempDir() + "stele-output-pipe";
  ::unlink(pipe.c_str());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, testing::TempDir()}) {
    auto output = OutputFile::Create(context, path, true);
    ASSERT_FALSE(output) << path;
    EXPECT_EQ(output.error().code, ErrorCode::kInvalid);
  }
  struct stat status = {};
  ASSERT_EQ(::stat(pipe.c_str(), &status), 0);
  EXPECT_TRUE(S_ISFIFO(status.st_mode));
  ::unlink(pipe.c_str());
}

TEST(OutputFile, AMinusIsTheStandardOutput) {
  io::MemoryFileSystem fs;
  io::ManualClock clock(Timestamp{0});
  io::SeededRandom random(1);
  io::StringSink out, err;
  Context context{fs, clock, random, out, err};
  auto output = OutputFile::Create(context, "-", false);
  ASSERT_TRUE((*output)->Write("text"));
  ASSERT_TRUE((*output)->Commit());
  EXPECT_EQ(out.content(), "text");
}

}  // namespace
}  // namespace stele::cli
