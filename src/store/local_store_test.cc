#include "store/local_store.h"

#include <gmock/gmock.h>

#include "io/memory_file_system.h"
#include "store/test_volume.h"

namespace stele::store {
namespace {

TEST(LocalStore, W1_VolumesOfADirectoryAreOneInstance) {
  io::MemoryFileSystem fs;
  EXPECT_EQ(OpenLocalStore(fs, "s", Placement::kModulo, {}).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v1", .signature = "rabin64"}));
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v2", .signature = "rabin64", .depth = 1}));
  ASSERT_TRUE(io::ReplaceFile(fs, "s/notes", "no volume"));
  EXPECT_EQ(AddLocalVolume(fs, "s", {.name = "V"}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(AddLocalVolume(fs, "s", {.name = "v1"}).error().code, ErrorCode::kInvalid);
  ContentKey key{"", RabinSignatures().Of(""), 0};
  {
    const Result<LocalStore> store = OpenLocalStore(fs, "s", Placement::kModulo, {});
    ASSERT_TRUE(store) << store.error().text;
    EXPECT_EQ(store->instance->volumes().size(), 2u);
    key = store->instance->Store("content", {.media_type = "", .operation = {"a", "1"}})->key;
  }
  const Result<LocalStore> store = OpenLocalStore(fs, "s", Placement::kRendezvous, {});
  EXPECT_EQ(*ReadAll(store->instance->Retrieve(key)), "content");
}

TEST(LocalStore, W10_AVolumeThatCannotBeOpenedDoesNotStopTheOthers) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v1"}));
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v2"}));
  ASSERT_TRUE(io::ReplaceFile(fs, "s/v1/volume", "rubbish"));
  Result<LocalStore> store = OpenLocalStore(fs, "s", Placement::kModulo, {});
  ASSERT_TRUE(store);
  EXPECT_EQ(store->failures.size(), 1u);
  EXPECT_EQ(store->instance->volumes().size(), 1u);
  store = Error{ErrorCode::kIo, "closed"};
  ASSERT_TRUE(io::ReplaceFile(fs, "s/v2/volume", "rubbish"));
  EXPECT_EQ(OpenLocalStore(fs, "s", Placement::kModulo, {}).error().code, ErrorCode::kCorrupt);
}

TEST(LocalStore, VolumesMustHaveOneSignature) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v1", .signature = "rabin64"}));
  ASSERT_TRUE(AddLocalVolume(fs, "s", {.name = "v2", .signature = "sha256"}));
  EXPECT_EQ(OpenLocalStore(fs, "s", Placement::kModulo, {}).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace stele::store
