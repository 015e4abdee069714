#include "cli/held_block.h"

#include <gtest/gtest.h>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"

namespace stele::cli {
namespace {

std::string Content(const HeldBlock& block, std::uint64_t from = 0) {
  std::string content;
  EXPECT_TRUE(block.ForEach(
      [&](std::string_view piece) {
        content += piece;
        return Status();
      },
      from));
  return content;
}

TEST(HeldBlock, GivesBackWhatItTookFromMemoryAndFromDisk) {
  io::MemoryFileSystem fs;
  HeldBlock block(fs, "spill", 10);
  for (const std::size_t size : {0u, 1u, 10u, 11u, 100u}) {
    block.Clear();
    std::string expected;
    for (std::size_t i = 0; i < size; ++i) expected += static_cast<char>('a' + i % 26);
    for (std::size_t i = 0; i < size; i += 3) {
      ASSERT_TRUE(block.Append(std::string_view(expected).substr(i, 3)));
    }
    EXPECT_EQ(block.size(), size);
    EXPECT_EQ(block.in_memory(), size <= 10);
    EXPECT_EQ(Content(block), expected);
    for (std::size_t from = 0; from <= size; ++from) {
      EXPECT_EQ(Content(block, from), expected.substr(from)) << size << " from " << from;
    }
  }
}

TEST(HeldBlock, LeavesNoFileBehind) {
  io::MemoryFileSystem fs;
  {
    HeldBlock block(fs, "spill", 10);
    ASSERT_TRUE(block.Append("more than ten bytes"));
    EXPECT_TRUE(*fs.Exists("spill"));
    block.Clear();
    EXPECT_FALSE(*fs.Exists("spill"));
    ASSERT_TRUE(block.Append("more than ten bytes"));
  }
  EXPECT_FALSE(*fs.Exists("spill"));
}

TEST(HeldBlock, SaysWhenTheDiskRefuses) {
  for (int fail_at = 1; fail_at <= 3; ++fail_at) {
    io::MemoryFileSystem disk;
    io::FaultFileSystem fs(disk, fail_at);
    HeldBlock block(fs, "spill", 10);
    Status status = block.Append("more than ten bytes");
    if (status) status = block.ForEach([](std::string_view) { return Status(); });
    EXPECT_FALSE(status) << fail_at;
  }
}

}  // namespace
}  // namespace stele::cli
