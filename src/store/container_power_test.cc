// The power goes while a container volume and its RocksDB table work on one disk. Whatever was not
// synced, bytes or names, is lost, kept in part or garbled; whatever was acknowledged is there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "io/fault_file_system.h"
#include "store/container_rocks_table.h"
#include "store/container_test_lab.h"
#include "store/test_rocks_machine.h"
#include "util/test_stride.h"

namespace stele::store {
namespace {

// A volume and its table on one disk, until the disk goes.
class Machine {
 public:
  explicit Machine(io::FileSystem& fs) : env_(fs) {
    auto table = OpenRocksBlockTableOn(env_, "table");
    if (!table) error_ = table.error().text;
    if (!table) return;
    ContainerVolume::Options options;
    options.log.container_bytes_max = 6000;
    options.log.copied_bytes_max = 2500;
    options.memory_bytes_max = 1000;
    auto volume = ContainerVolume::Open({fs, clock_, random_}, "v", *std::move(table), options);
    if (!volume) error_ = volume.error().text;
    if (volume) volume_ = *std::move(volume);
  }
  ContainerVolume* volume() { return volume_.get(); }
  const std::string& error() const { return error_; }

 private:
  RocksMachine env_;
  io::ManualClock clock_{Timestamp{1'700'000'000'000}};
  io::SystemRandom random_;
  std::string error_;
  std::unique_ptr<ContainerVolume> volume_;
};

// Contents with their true counts, and the operation that got no answer.
class Client {
 public:
  explicit Client(io::Random& dice) : dice_(dice) {}

  // Stops at the first error.
  void Work(ContainerVolume& volume, int steps) {
    for (int i = 0; i < steps; ++i) {
      if (dice_.Next() % 25 == 0) {
        if (!volume.Compact({})) return;
        continue;
      }
      const int number = static_cast<int>(dice_.Next() % 25);
      const bool deletes = counts_[number] > 0 && dice_.Next() % 2 == 0;
      open_ = {deletes, number, fmt::format("o{}", ++operation_)};
      if (!Finish(volume)) return;
    }
  }

  // Does what got no answer once more, so that every count is known.
  bool Finish(ContainerVolume& volume) {
    if (open_.id.empty()) return true;
    const std::string content = ContentOf(open_.number);
    const bool done = open_.deletes ? volume.Delete(KeyOf(open_.number), {"me", open_.id}).ok()
                                    : StoreContent(volume, content, open_.id).ok();
    if (!done) return false;
    counts_[open_.number] += open_.deletes ? -1 : 1;
    open_.id.clear();
    return true;
  }

  void Verify(ContainerVolume& volume) const {
    std::uint64_t references = 0;
    for (const auto& [number, count] : counts_) {
      const Result<BlockInfo> info = volume.Stat(KeyOf(number));
      ASSERT_EQ(info ? static_cast<int>(info->references) : 0, count) << number;
      references += static_cast<std::uint64_t>(count);
      if (count == 0) continue;
      const Result<std::string> content = ReadContent(volume, KeyOf(number));
      ASSERT_TRUE(content) << content.error().text;
      ASSERT_EQ(*content, ContentOf(number));
    }
    ASSERT_EQ(volume.Stats()->references, references);
    for (const Finding& finding : FindingsOf(volume)) {
      ADD_FAILURE() << finding.where << ": " << finding.text;
    }
  }

 private:
  struct OpenOperation {
    bool deletes = false;
    int number = 0;
    std::string id;  // empty: none
  };

  static std::string ContentOf(int number) {
    return fmt::format("{} ", number) + NoiseOf(static_cast<std::size_t>(number) * 120, number);
  }
  static ContentKey KeyOf(int number) {
    return {"tomba", Sha256Signatures().Of(ContentOf(number)), 0};
  }

  io::Random& dice_;
  int operation_ = 0;
  std::map<int, int> counts_;
  OpenOperation open_;
};

TEST(ContainerPower, W4_VolumeAndTableSurviveThreeHundredPowerCuts) {
  int cut_at_work = 0;
  for (std::uint64_t seed = 0; seed < 30; seed += kTestStride) {
    io::SeededRandom dice(seed);
    io::MemoryFileSystem disk;
    ASSERT_TRUE(ContainerVolume::Create(disk, "v", {"tomba", "sha256", 0}));
    Client client(dice);
    for (int cut = 0; cut < 10; ++cut) {
      SCOPED_TRACE(fmt::format("seed {} cut {}", seed, cut));
      {
        io::FaultFileSystem faults(disk, 1 + static_cast<int>(dice.Next() % 1500));
        Machine machine(faults);
        if (machine.volume() != nullptr) client.Work(*machine.volume(), 60);
        if (faults.Fails()) ++cut_at_work;
        faults.FailFromNowOn();  // RocksDB's threads may still be at work
      }
      disk.Crash(dice);
      Machine machine(disk);
      ASSERT_NE(machine.volume(), nullptr) << machine.error();
      EXPECT_TRUE(machine.volume()->damaged().empty());
      ASSERT_TRUE(client.Finish(*machine.volume()));
      client.Verify(*machine.volume());
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(cut_at_work, 100 / kTestStride);
}

}  // namespace
}  // namespace stele::store
