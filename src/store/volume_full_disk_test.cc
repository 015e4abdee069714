// Volumes of both kinds on a real file system that is too small: a tmpfs of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "io/posix_file_system.h"
#include "store/container_table.h"
#include "store/container_test_lab.h"
#include "store/tree_volume.h"

namespace stele::store {
namespace {

constexpr std::uint64_t kReserveBytes = 4 << 20;

class SmallDisk {
 public:
  SmallDisk() {
    std::filesystem::create_directory(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=16m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount(path_.c_str());
    std::filesystem::remove(path_);
  }
  bool mounted() const { return mounted_; }
  const std::string& path() const { return path_; }
  void Grow() { ASSERT_EQ(::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT, "size=32m"), 0); }

 private:
  const std::string path_ =
      (std::filesystem::temp_directory_path() / fmt::format("stele_full_disk_{}", ::getpid()))
          .string();
  bool mounted_ = false;
};

Result<Stored> Put(Volume& volume, int number, const std::string& operation) {
  const std::string content = NoiseOf(200'000, static_cast<std::uint64_t>(number));
  io::MemorySource source(content);
  return volume.Store({Sha256Signatures().Of(content),
                       content.size(),
                       StoreMode::kRegular,
                       "image/png",
                       {"me", operation}},
                      source);
}

bool HasContent(Volume& volume, const ContentKey& key, int number) {
  const auto source = volume.Retrieve(key);
  std::string content(300'000, '\0');
  std::size_t size = 0;
  while (source) {
    const Result<std::size_t> read =
        (*source)->Read(std::span(content.data() + size, content.size() - size));
    if (!read || *read == 0) break;
    size += *read;
  }
  content.resize(size);
  return content == NoiseOf(200'000, static_cast<std::uint64_t>(number));
}

// Fills the volume up; references and releases still work, and nothing is lost.
std::vector<ContentKey> FillUp(Volume& volume) {
  std::vector<ContentKey> keys;
  for (int i = 0;; ++i) {
    const Result<Stored> stored = Put(volume, i, fmt::format("s{}", i));
    if (!stored) {
      EXPECT_EQ(stored.error().code, ErrorCode::kFull) << stored.error().text;
      break;
    }
    keys.push_back(stored->key);
  }
  EXPECT_GT(keys.size(), 20u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Put(volume, 0, fmt::format("r{}", i))->key, keys.at(0));
    EXPECT_TRUE(volume.Delete(keys.at(0), {"me", fmt::format("d{}", i)}));
  }
  return keys;
}

void ExpectAll(Volume& volume, const std::vector<ContentKey>& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_TRUE(HasContent(volume, keys[i], static_cast<int>(i))) << i;
    EXPECT_EQ(volume.Stat(keys[i])->references, 1u);
  }
}

TEST(VolumeFullDisk, W9_ATreeVolumeLosesNothingAndGoesOnWhenContentsAreDeleted) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  io::PosixFileSystem fs;
  const std::string path = disk.path() + "/volume";
  ASSERT_TRUE(TreeVolume::Create(fs, path, {.name = "tree"}));
  TreeVolume::Options options;
  options.disk_reserve_bytes = kReserveBytes;
  std::vector<ContentKey> keys = FillUp(**TreeVolume::Open(fs, path, options));
  const auto volume = TreeVolume::Open(fs, path, options);
  ASSERT_TRUE(volume);
  ExpectAll(**volume, keys);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE((*volume)->Delete(keys.back(), {"me", fmt::format("x{}", i)}));
    keys.pop_back();
  }
  EXPECT_TRUE(Put(**volume, 1000, "new"));
  ExpectAll(**volume, keys);
}

TEST(VolumeFullDisk, W9_AContainerVolumeLosesNothingAndGoesOnWhenTheDiskGrows) {
  SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  io::PosixFileSystem fs;
  io::SystemClock clock;
  io::SystemRandom random;
  const std::string path = disk.path() + "/volume";
  ASSERT_TRUE(ContainerVolume::Create(fs, path, {"containers", "sha256", 0}));
  ContainerVolume::Options options;
  options.disk_reserve_bytes = kReserveBytes;
  const auto open = [&] {
    return ContainerVolume::Open({fs, clock, random}, path,
                                 *OpenRocksBlockTable(disk.path() + "/table"), options);
  };
  const std::vector<ContentKey> keys = FillUp(**open());
  const auto volume = open();
  ASSERT_TRUE(volume) << volume.error().text;
  ExpectAll(**volume, keys);
  EXPECT_EQ(Put(**volume, 1000, "new").error().code, ErrorCode::kFull);
  disk.Grow();
  EXPECT_TRUE(Put(**volume, 1000, "new"));
  ExpectAll(**volume, keys);
}

TEST(VolumeFullDisk, W9_TablesAreNotOpenedWhereThereIsNoRoomAtAll) {
  SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  using Open = Result<std::unique_ptr<BlockTable>> (*)(const std::string&);
  const std::pair<std::string, Open> tables[] = {{disk.path() + "/a", OpenRocksBlockTable},
                                                 {disk.path() + "/b", OpenDurableRocksTable}};
  for (const auto& [directory, open] : tables) {
    const auto table = open(directory);
    ASSERT_TRUE(table) << table.error().text;
    ASSERT_TRUE((*table)->Write({{"key", "value"}}));
  }
  io::PosixFileSystem fs;
  {
    const auto file = fs.Create(disk.path() + "/fill");
    ASSERT_TRUE(file);
    while ((*file)->Append(std::string(4096, 'x'))) {
    }
  }
  for (const auto& [directory, open] : tables) {
    const auto table = open(directory);
    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().code, ErrorCode::kFull);
    EXPECT_NE(table.error().text.find("make room"), std::string::npos);
  }
  disk.Grow();
  for (const auto& [directory, open] : tables) {
    const auto table = open(directory);
    EXPECT_TRUE(table) << table.error().text;
  }
}

}  // namespace
}  // namespace stele::store
