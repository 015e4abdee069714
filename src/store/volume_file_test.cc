#include "store/volume_file.h"

#include <gtest/gtest.h>

#include "io/memory_file_system.h"
#include "store/local_store.h"

namespace stele::store {
namespace {

VolumeDescription Example() {
  VolumeDescription description;
  description.kind = VolumeKind::kContainer;
  description.name = "tomba-1";
  description.signature = "rabin64";
  description.capacity_bytes = 5000;
  description.state = VolumeState::kReadOnly;
  return description;
}

TEST(VolumeFileTest, W9_WhatIsWrittenIsRead) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(CreateVolumeFile(fs, "v", Example(), {"containers"}));
  EXPECT_EQ(*ReadVolumeFile(fs, "v"), Example());
  VolumeDescription tree = Example();
  tree.kind = VolumeKind::kTree;
  tree.depth = 4;
  ASSERT_TRUE(ReplaceVolumeFile(fs, "v", tree));
  EXPECT_EQ(*ReadVolumeFile(fs, "v"), tree);
  EXPECT_EQ(*io::ReadFile(fs, "v/volume"),
            "STELE-TREE-VOLUME 1\nname tomba-1\nsignature rabin64\ndepth 4\ncapacity 5000\n"
            "state read-only\n");
  tree.durability = Durability::kBuffered;
  ASSERT_TRUE(ReplaceVolumeFile(fs, "v", tree));
  EXPECT_EQ(*ReadVolumeFile(fs, "v"), tree);
  EXPECT_TRUE(io::ReadFile(fs, "v/volume")->ends_with("state read-only\ndurability buffered\n"));
}

TEST(VolumeFileTest, W9_EveryFlippedByteAndEveryCutIsNoticed) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(CreateVolumeFile(fs, "v", Example(), {}));
  const std::string good = *io::ReadFile(fs, "v/volume");
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = '\x01';
    ASSERT_TRUE(io::ReplaceFile(fs, "v/volume", bad));
    // Only names may have other characters.
    const Result<VolumeDescription> flipped = ReadVolumeFile(fs, "v");
    EXPECT_TRUE(!flipped || flipped->signature != Example().signature) << i;
    ASSERT_TRUE(io::ReplaceFile(fs, "v/volume", good.substr(0, i)));
    const Result<VolumeDescription> cut = ReadVolumeFile(fs, "v");
    EXPECT_EQ(cut.error().code, ErrorCode::kCorrupt) << i;
  }
}

TEST(VolumeFileTest, W9_AVolumeIsNotMadeTwiceNorFromNonsense) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(CreateVolumeFile(fs, "v", Example(), {}));
  EXPECT_EQ(CreateVolumeFile(fs, "v", Example(), {}).error().code, ErrorCode::kInvalid);
  VolumeDescription bad = Example();
  bad.name = "No";
  EXPECT_EQ(CreateVolumeFile(fs, "w", bad, {}).error().code, ErrorCode::kInvalid);
  bad = Example();
  bad.kind = VolumeKind::kTree;
  bad.depth = 9;  // rabin64 has 8 bytes
  EXPECT_EQ(CreateVolumeFile(fs, "w", bad, {}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ReadVolumeFile(fs, "w").error().code, ErrorCode::kNotFound);
}

TEST(VolumeFileTest, W9_TheNameOfAVolumeIsNeverGivenAgain) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v1"}));
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v2"}));
  ASSERT_TRUE(fs.Remove("s/v1/volume"));
  const Status again = AddLocalVolume(fs, "s", {.name = "v1"});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kInvalid);
  EXPECT_NE(again.error().text.find("not given twice"), std::string::npos);
  EXPECT_TRUE(AddLocalVolume(fs, "s", {.name = "v"}));
  EXPECT_EQ(*io::ReadFile(fs, "s/names"), "v1\nv2\nv\n");
}

}  // namespace
}  // namespace stele::store
