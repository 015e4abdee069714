#include "io/file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "io/posix_file_system.h"

namespace stele::io {
namespace {

using testing::ElementsAre;

void Write(FileSystem& fs, const std::string& path, std::string_view content, bool sync) {
  auto file = fs.Create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->Append(content));
  if (sync) {
    ASSERT_TRUE((*file)->Sync());
  }
  ASSERT_TRUE((*file)->Close());
}

// Every implementation keeps one contract.
void KeepsTheContract(FileSystem& fs, const std::string& root) {
  const std::string a = root + "/a";
  const std::string b = root + "/b";
  EXPECT_EQ(fs.OpenForReading(a).error().code, ErrorCode::kNotFound);
  Write(fs, a, "one", true);
  EXPECT_EQ(*ReadFile(fs, a), "one");
  {
    auto file = fs.OpenForAppending(a);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->Append(" to"));
    ASSERT_TRUE((*file)->Truncate(5));
    EXPECT_EQ((*file)->Truncate(6).error().code, ErrorCode::kInvalid);
    ASSERT_TRUE((*file)->Append("wo"));
  }
  auto file = fs.OpenForReading(a);
  ASSERT_TRUE(file);
  EXPECT_EQ(*(*file)->Size(), 7u);
  std::string part(10, '-');
  EXPECT_EQ(*(*file)->ReadAt(4, part), 3u);
  EXPECT_EQ(part.substr(0, 3), "two");
  EXPECT_EQ(*(*file)->ReadAt(100, part), 0u);

  EXPECT_EQ(fs.OpenForUpdating(root + "/none").error().code, ErrorCode::kNotFound);
  {
    auto update = fs.OpenForUpdating(a);
    ASSERT_TRUE(update);
    ASSERT_TRUE((*update)->WriteAt(0, "six"));
    EXPECT_EQ((*update)->WriteAt(5, "too long").error().code, ErrorCode::kInvalid);
    EXPECT_EQ((*update)->WriteAt(8, "").error().code, ErrorCode::kInvalid);
    ASSERT_TRUE((*update)->Sync());
  }

  {
    const auto lock = fs.Lock(root + "/lock");
    ASSERT_TRUE(lock);
    EXPECT_EQ(fs.Lock(root + "/lock").error().code, ErrorCode::kBusy);
  }
  EXPECT_TRUE(fs.Lock(root + "/lock"));
  EXPECT_EQ(fs.Lock(root + "/none/lock").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(fs.Remove(root + "/lock"));

  ASSERT_TRUE(ReplaceFile(fs, b, "new"));
  ASSERT_TRUE(fs.Rename(a, b));
  EXPECT_EQ(*ReadFile(fs, b), "six two");
  EXPECT_FALSE(*fs.Exists(a));
  ASSERT_TRUE(fs.MakeDirectory(root + "/d"));
  ASSERT_TRUE(fs.MakeDirectory(root + "/d"));
  EXPECT_TRUE(*fs.Exists(root + "/d"));
  EXPECT_THAT(*fs.List(root), ElementsAre("b", "d"));
  EXPECT_TRUE(fs.SyncDirectory(root));
  EXPECT_TRUE((*fs.OpenDisk(root))->Sync());
  EXPECT_EQ(fs.OpenDisk(root + "/none").error().code, ErrorCode::kNotFound);
  EXPECT_GT(*fs.FreeBytes(root), 0u);
  EXPECT_EQ(fs.FreeBytes(root + "/none").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(fs.Remove(b));
  EXPECT_EQ(fs.Remove(b).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(fs.List(root + "/none").error().code, ErrorCode::kNotFound);
}

TEST(MemoryFileSystem, KeepsTheContract) {
  MemoryFileSystem fs;
  KeepsTheContract(fs, ".");
}

TEST(PosixFileSystem, KeepsTheContract) {
  std::string root = testing::TempDir() + "stele-fs-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  PosixFileSystem fs;
  KeepsTheContract(fs, root);
  ASSERT_TRUE(fs.Remove(root + "/d"));
  ASSERT_TRUE(fs.Remove(root));
}

TEST(PosixFileSystem, SaysWhatAndWhere) {
  PosixFileSystem fs;
  const Error error = fs.OpenForReading("/no/such/file").error();
  EXPECT_EQ(error.text, "cannot open /no/such/file: No such file or directory");
  EXPECT_EQ(fs.OpenForReading("/").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(SystemError("cannot write x", ENOSPC).code, ErrorCode::kFull);
}

TEST(PosixFileSystem, AFullDiskIsReportedAsFull) {
  PosixFileSystem fs;
  auto file = fs.OpenForAppending("/dev/full");
  if (!file) GTEST_SKIP() << "no /dev/full on this machine";
  EXPECT_EQ((*file)->Append("x").error().code, ErrorCode::kFull);
}

TEST(MemoryFileSystem, ADirectoryKnowsItsOwnChildrenOnly) {
  MemoryFileSystem fs;
  for (const char* path : {"a", "a!b", "a/b", "a/b/c", "a/b-", "a0", "/a", "/a/b", "./d"}) {
    ASSERT_TRUE(fs.MakeDirectory(path)) << path;
  }
  using Names = std::vector<std::string>;
  EXPECT_EQ(*fs.List("."), (Names{"a", "a!b", "a0", "d"}));
  EXPECT_EQ(*fs.List("/"), Names{"a"});
  EXPECT_EQ(*fs.List("a"), (Names{"b", "b-"}));
  EXPECT_EQ(*fs.List("a/b"), Names{"c"});
  EXPECT_EQ(fs.Remove("a").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(fs.Remove(".").error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(fs.Remove("a0"));
  ASSERT_TRUE(fs.SyncDirectory("."));
  ASSERT_TRUE(fs.SyncDirectory("a"));
  fs.Crash();
  EXPECT_EQ(*fs.List("."), (Names{"a", "a!b", "d"}));
  EXPECT_EQ(*fs.List("a"), (Names{"b", "b-"}));
  EXPECT_EQ(*fs.List("a/b"), Names{});
}

TEST(MemoryFileSystem, ACrashDropsWhatWasNotSynced) {
  MemoryFileSystem fs;
  Write(fs, "named", "content", true);
  ASSERT_TRUE(fs.SyncDirectory("."));
  Write(fs, "nameless", "content", true);
  {
    auto file = fs.OpenForAppending("named");
    ASSERT_TRUE((*file)->Append(" and more"));
  }
  ASSERT_TRUE(fs.MakeDirectory("directory"));
  fs.Crash();
  EXPECT_THAT(*fs.List("."), ElementsAre("named"));
  EXPECT_EQ(*ReadFile(fs, "named"), "content");
}

TEST(MemoryFileSystem, WhatWasOnTheDiskWhenItWasSyncedSurvives) {
  MemoryFileSystem fs;
  const auto disk = fs.OpenDisk(".");
  ASSERT_TRUE(fs.MakeDirectory("directory"));
  Write(fs, "directory/file", "content", false);
  ASSERT_TRUE((*disk)->Sync());
  Write(fs, "directory/late", "content", false);
  fs.Crash();
  EXPECT_THAT(*fs.List("directory"), ElementsAre("file"));
  EXPECT_EQ(*ReadFile(fs, "directory/file"), "content");
}

TEST(MemoryFileSystem, ARemovedNameComesBackUnlessTheDirectoryWasSynced) {
  MemoryFileSystem fs;
  Write(fs, "a", "content", true);
  ASSERT_TRUE(fs.SyncDirectory("."));
  ASSERT_TRUE(fs.Remove("a"));
  fs.Crash();
  EXPECT_TRUE(*fs.Exists("a"));
  ASSERT_TRUE(fs.Remove("a"));
  ASSERT_TRUE(fs.SyncDirectory("."));
  fs.Crash();
  EXPECT_FALSE(*fs.Exists("a"));
}

TEST(ReplaceFile, IsOldOrNewWhereverTheDiskFailsAndThePowerGoes) {
  for (int fail_at = 1;; ++fail_at) {
    MemoryFileSystem disk;
    ASSERT_TRUE(ReplaceFile(disk, "a", "old"));
    FaultFileSystem fs(disk, fail_at);
    const bool finished = ReplaceFile(fs, "a", "new").ok();
    disk.Crash();
    const Result<std::string> content = ReadFile(disk, "a");
    ASSERT_TRUE(content);
    EXPECT_EQ(*content, finished ? "new" : "old") << "failing operation " << fail_at;
    if (finished) break;
    ASSERT_LT(fail_at, 100);
  }
}

TEST(MemoryFileSystem, ACrashMayLeaveAnyPartOfWhatWasNotSynced) {
  SeededRandom dice(1);
  std::set<std::size_t> sizes;
  bool kept_name = false;
  bool garbled = false;
  for (int round = 0; round < 100; ++round) {
    MemoryFileSystem fs;
    auto file = fs.Create("a");
    ASSERT_TRUE((*file)->Append("synced"));
    ASSERT_TRUE((*file)->Sync());
    ASSERT_TRUE(fs.SyncDirectory("."));
    ASSERT_TRUE((*file)->Append(std::string(100, 'x')));
    ASSERT_TRUE(fs.Create("b"));
    fs.Crash(dice);
    const std::string content = *ReadFile(fs, "a");
    ASSERT_EQ(content.substr(0, 6), "synced");
    ASSERT_LE(content.size(), 106u);
    sizes.insert(content.size());
    garbled |= content.find_first_not_of('x', 6) != std::string::npos;
    kept_name |= *fs.Exists("b");
  }
  EXPECT_GT(sizes.size(), 10u);
  EXPECT_TRUE(garbled);
  EXPECT_TRUE(kept_name);
}

TEST(MemoryFileSystem, ACrashDropsUpdatesThatWereNotSynced) {
  MemoryFileSystem fs;
  Write(fs, "a", "12345678", true);
  ASSERT_TRUE(fs.SyncDirectory("."));
  auto file = fs.OpenForUpdating("a");
  ASSERT_TRUE((*file)->WriteAt(0, "ab"));
  ASSERT_TRUE((*file)->Sync());
  ASSERT_TRUE((*file)->WriteAt(2, "cd"));
  EXPECT_EQ(*ReadFile(fs, "a"), "abcd5678");
  fs.Crash();
  EXPECT_EQ(*ReadFile(fs, "a"), "ab345678");
}

TEST(MemoryFileSystem, AFullDiskTakesWhatFitsAndGetsBackWhatIsCutOffOrRemoved) {
  MemoryFileSystem disk;
  disk.SetFreeBytes(10);
  {
    auto file = disk.Create("a");
    EXPECT_TRUE((*file)->Append("12345678"));
    EXPECT_EQ((*file)->Append("abcd").error().code, ErrorCode::kFull);
    EXPECT_EQ(*ReadFile(disk, "a"), "12345678ab");
    EXPECT_EQ(*disk.FreeBytes("."), 0u);
    EXPECT_TRUE((*file)->Truncate(4));
    EXPECT_EQ(*disk.FreeBytes("."), 6u);
    EXPECT_TRUE((*file)->Sync());
    EXPECT_TRUE((*file)->Append("abcd"));
  }
  EXPECT_TRUE(disk.SyncDirectory("."));
  disk.Crash();
  EXPECT_EQ(*disk.FreeBytes("."), 6u);
  EXPECT_TRUE(disk.Remove("a"));
  EXPECT_TRUE(disk.SyncDirectory("."));
  EXPECT_EQ(*disk.FreeBytes("."), 10u);
}

TEST(FaultFileSystem, AFailingTruncationChangesNothing) {
  MemoryFileSystem disk;
  FaultFileSystem fs(disk, 3);
  auto file = fs.Create("a");
  ASSERT_TRUE((*file)->Append("1234"));
  EXPECT_EQ((*file)->Truncate(1).error().code, ErrorCode::kIo);
  EXPECT_EQ(*ReadFile(disk, "a"), "1234");
}

TEST(FaultFileSystem, AFailingUpdateLeavesHalfOfItsBytes) {
  MemoryFileSystem disk;
  Write(disk, "a", "12345678", true);
  FaultFileSystem fs(disk, 2);
  auto file = fs.OpenForUpdating("a");
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->WriteAt(2, "abcd").error().code, ErrorCode::kIo);
  EXPECT_EQ(*ReadFile(disk, "a"), "12ab5678");
  EXPECT_FALSE((*file)->Sync());
}

TEST(FaultFileSystem, AFailingWriteLeavesHalfOfItsBytes) {
  MemoryFileSystem disk;
  FaultFileSystem fs(disk, 2);
  auto file = fs.Create("a");
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->Append("1234").error().code, ErrorCode::kIo);
  EXPECT_EQ(*ReadFile(disk, "a"), "12");
  EXPECT_FALSE((*file)->Append("5678"));
}

TEST(ParentDirectory, OfEveryKindOfPath) {
  EXPECT_EQ(ParentDirectory("a/b/c"), "a/b");
  EXPECT_EQ(ParentDirectory("c"), ".");
  EXPECT_EQ(ParentDirectory("/c"), "/");
}

}  // namespace
}  // namespace stele::io
