// The golden container is what a volume wrote once. It is read for ever, and the same work with the
// same clock and dice still makes the same records.
#include <gtest/gtest.h>

#include "codec/gzip_codec.h"
#include "io/posix_file_system.h"
#include "store/container_test_lab.h"
#include "util/test_paths.h"

namespace stele::store {
namespace {

const std::string kGolden = SourcePath("src/store/golden/container-1.warc.gz");

// All members of a container as one text: how they are compressed may change.
std::string Inflated(std::string packed) {
  std::string plain;
  std::string room(1 << 20, '\0');
  std::string_view left = packed;
  while (!left.empty()) {
    const std::unique_ptr<codec::Decoder> decoder = codec::GzipCodec().NewDecoder();
    for (bool done = false; !done;) {
      const Result<codec::Progress> step = decoder->Decode(left, room);
      EXPECT_TRUE(step);
      if (!step || (step->consumed == 0 && step->produced == 0 && !step->done)) return plain;
      plain.append(room, 0, step->produced);
      left.remove_prefix(step->consumed);
      done = step->done;
    }
  }
  return plain;
}

std::vector<ContentKey> WriteContents(ContainerVolume& volume) {
  std::vector<ContentKey> keys;
  keys.push_back(StoreContent(volume, "<p>page</p>", "1")->key);
  EXPECT_TRUE(StoreContent(volume, "<p>page</p>", "2", StoreMode::kRegular, "you"));
  keys.push_back(StoreContent(volume, "<p>gone</p>", "3")->key);
  EXPECT_TRUE(volume.Delete(keys[1], {"me", "4"}));
  keys.push_back(StoreContent(volume, "<p>page</p>", "5", StoreMode::kForceNew)->key);
  keys.push_back(StoreContent(volume, "", "6")->key);
  return keys;
}

TEST(ContainerGolden, TheGoldenContainerIsRead) {
  io::PosixFileSystem files;
  const Result<std::string> golden = io::ReadFile(files, kGolden);
  ASSERT_TRUE(golden) << golden.error().text;
  ContainerLab made;
  const std::vector<ContentKey> keys = WriteContents(*made.Make());
  ContainerLab lab;
  ASSERT_TRUE(ContainerVolume::Create(lab.disk, "v", lab.shape));
  ASSERT_TRUE(io::ReplaceFile(lab.disk, "v/containers/00000001.warc.gz", *golden));
  const auto volume = lab.Open();
  ASSERT_NE(volume, nullptr);
  EXPECT_TRUE(volume->damaged().empty());
  EXPECT_EQ(*ReadContent(*volume, keys[0]), "<p>page</p>");
  EXPECT_EQ(volume->Stat(keys[0])->references, 2u);
  EXPECT_EQ(volume->Retrieve(keys[1]).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(keys[2].overflow, 1u);
  EXPECT_EQ(*ReadContent(*volume, keys[2]), "<p>page</p>");
  EXPECT_EQ(*ReadContent(*volume, keys[3]), "");
  EXPECT_EQ(volume->Stats()->references, 4u);
  EXPECT_TRUE(volume->Delete(keys[1], {"me", "4"}));  // an operation that it knows
  EXPECT_TRUE(FindingsOf(*volume).empty());
}

TEST(ContainerGolden, TheSameWorkMakesTheSameRecords) {
  io::PosixFileSystem files;
  ContainerLab lab;
  WriteContents(*lab.Make());
  const std::string made = *io::ReadFile(lab.disk, "v/containers/00000001.warc.gz.open");
  const std::string copy = testing::TempDir() + "container-1.warc.gz";
  ASSERT_TRUE(io::ReplaceFile(files, copy, made));
  const Result<std::string> golden = io::ReadFile(files, kGolden);
  ASSERT_TRUE(golden) << golden.error().text << "; what is written now is in " << copy;
  EXPECT_EQ(Inflated(made), Inflated(*golden)) << "what is written now is in " << copy;
}

}  // namespace
}  // namespace stele::store
