#include "store/local_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "io/memory_file_system.h"
#include "store/test_member.h"

namespace stele::store {
namespace {

class LocalStoreTest : public testing::Test {
 protected:
  Result<LocalStore> Open(Placement placement = Placement::kModulo) {
    LocalStoreOptions options;
    options.placement = placement;
    options.open_table = [](const std::string&) {
      return Result<std::unique_ptr<BlockTable>>(std::make_unique<MemoryBlockTable>());
    };
    options.open_directory = [this](const std::string& path) { return FileTable::Open(fs, path); };
    return OpenLocalStore({fs, clock_, random_}, "s", options);
  }

  io::MemoryFileSystem fs;

 private:
  io::ManualClock clock_{Timestamp{1'700'000'000'000}};
  io::SeededRandom random_{1};
};

TEST_F(LocalStoreTest, W1_VolumesOfADirectoryAreOneInstance) {
  EXPECT_EQ(Open().error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v1", .signature = "rabin64"}));
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v2", .signature = "rabin64", .depth = 1}));
  ASSERT_TRUE(io::ReplaceFile(fs, "s/notes", "no volume"));
  EXPECT_EQ(AddLocalVolume(fs, "s", {.name = "V"}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(AddLocalVolume(fs, "s", {.name = "v1"}).error().code, ErrorCode::kInvalid);
  ContentKey key{"", RabinSignatures().Of(""), 0};
  {
    const Result<LocalStore> store = Open();
    ASSERT_TRUE(store) << store.error().text;
    EXPECT_EQ(store->instance->volumes().size(), 2u);
    key = store->instance->Store("content", {.media_type = "", .operation = {"a", "1"}})->key;
  }
  const Result<LocalStore> store = Open(Placement::kRendezvous);
  EXPECT_EQ(*ReadAll(store->instance->Retrieve(key)), "content");
}

TEST_F(LocalStoreTest, W10_AVolumeThatCannotBeOpenedDoesNotStopTheOthers) {
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v1"}));
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v2"}));
  ASSERT_TRUE(io::ReplaceFile(fs, "s/v1/volume", "rubbish"));
  Result<LocalStore> store = Open();
  ASSERT_TRUE(store);
  EXPECT_EQ(store->failures.size(), 1u);
  EXPECT_EQ(store->instance->volumes().size(), 1u);
  store = Error{ErrorCode::kIo, "closed"};
  ASSERT_TRUE(io::ReplaceFile(fs, "s/v2/volume", "rubbish"));
  EXPECT_EQ(Open().error().code, ErrorCode::kCorrupt);
}

TEST_F(LocalStoreTest, W9_VolumesOfBothKindsMakeOneStore) {
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.kind = VolumeKind::kContainer, .name = "c"}));
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "t"}));
  EXPECT_EQ(AddLocalVolume(fs, "s", {.kind = VolumeKind::kContainer, .name = "t"}).error().code,
            ErrorCode::kInvalid);
  std::vector<ContentKey> keys;
  for (int round = 0; round < 2; ++round) {
    const Result<LocalStore> store = Open();
    ASSERT_TRUE(store) << store.error().text;
    for (int i = 0; i < 40; ++i) {
      const std::string content = fmt::format("content {}", i);
      const Result<Stored> stored = store->instance->Store(
          content, {.media_type = "text/html", .operation = {"a", fmt::format("{}-{}", round, i)}});
      ASSERT_TRUE(stored) << stored.error().text;
      EXPECT_EQ(stored->is_new, round == 0);
      keys.push_back(stored->key);
      EXPECT_EQ(*ReadAll(store->instance->Retrieve(stored->key)), content);
    }
  }
  EXPECT_EQ(std::vector(keys.begin(), keys.begin() + 40),
            std::vector(keys.begin() + 40, keys.end()));
  const auto in_c = std::count_if(keys.begin(), keys.end(),
                                  [](const ContentKey& key) { return key.volume == "c"; });
  EXPECT_THAT(in_c, testing::AllOf(testing::Gt(0), testing::Lt(80)));
}

TEST_F(LocalStoreTest, W7_ATableInTheStoreChoosesTheCodecs) {
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "t"}));
  ASSERT_TRUE(io::ReplaceFile(fs, "s/compression", "text/* zstd 9\n* gzip 1\n"));
  {
    const Result<LocalStore> store = Open();
    ASSERT_TRUE(store) << store.error().text;
    const std::string content(1000, 'x');
    const auto codec_for = [&](const std::string& type, const std::string& operation) {
      const Result<Stored> stored = store->instance->Store(
          content + type, {.media_type = type, .operation = {"a", operation}});
      return store->instance->Stat(stored->key)->compression;
    };
    EXPECT_EQ(codec_for("text/html", "1"), "zstd");
    EXPECT_EQ(codec_for("image/jpeg", "2"), "gzip");
  }
  ASSERT_TRUE(io::ReplaceFile(fs, "s/compression", "text/* lzma\n"));
  const Result<LocalStore> store = Open();
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().text, testing::StartsWith("s/compression: line 1: "));
}

TEST_F(LocalStoreTest, VolumesMustHaveOneSignature) {
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v1", .signature = "rabin64"}));
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v2", .signature = "sha256"}));
  EXPECT_EQ(Open().error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace stele::store
