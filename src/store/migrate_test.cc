#include "store/migrate.h"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "io/random.h"
#include "store/container_volume.h"
#include "store/test_member.h"
#include "util/test_stride.h"

namespace stele::store {
namespace {

using testing::IsEmpty;

constexpr std::size_t kVolumes = 3;

struct Kinds {
  std::string name;
  std::array<bool, kVolumes> are_containers;
  Durability durability = Durability::kSynced;
};

void PrintTo(const Kinds& kinds, std::ostream* out) { *out << kinds.name; }

// Between the members v0, v1, v2. Buffered ones are synced only when that is asked for.
class Migrate : public testing::TestWithParam<Kinds> {
 protected:
  static constexpr std::chrono::hours kNever{1};

  static Result<std::unique_ptr<Volume>> OpenTree(io::FileSystem& fs, const std::string& name) {
    TreeVolume::Options options = WeakOptions();
    options.sync_delay = kNever;
    options.log.journal_bytes_max = 3000;
    options.log.cached_entries_max = 50;
    Result<std::unique_ptr<TreeVolume>> volume = TreeVolume::Open(fs, name, options);
    if (!volume) return volume.error();
    return std::unique_ptr<Volume>(*std::move(volume));
  }
  Result<std::unique_ptr<Volume>> OpenContainer(io::FileSystem& fs, const std::string& name) {
    ContainerVolume::Options options;
    options.signature = std::make_shared<WeakSignatures>();
    options.log.container_bytes_max = 4000;
    options.sync_delay = kNever;
    volume_dice_.push_back(std::make_unique<io::SystemRandom>());
    Result<std::unique_ptr<BlockTable>> table = FileTable::Open(fs, name + "/rows");
    if (!table) return table.error();
    Result<std::unique_ptr<ContainerVolume>> volume =
        ContainerVolume::Open({fs, clock_, *volume_dice_.back()}, name, *std::move(table), options);
    if (!volume) return volume.error();
    return std::unique_ptr<Volume>(*std::move(volume));
  }

  static std::string NameOf(std::size_t i) { return "v" + std::to_string(i); }

  static void MakeDisk(io::MemoryFileSystem& disk) {
    const Durability durability = GetParam().durability;
    for (std::size_t i = 0; i < kVolumes; ++i) {
      if (GetParam().are_containers[i]) {
        ASSERT_TRUE(ContainerVolume::Create(disk, NameOf(i), {NameOf(i), "weak", 0, durability}));
      } else {
        TreeVolume::Shape shape{.name = NameOf(i), .signature = "weak", .depth = 2};
        shape.durability = durability;
        ASSERT_TRUE(TreeVolume::Create(disk, shape.name, shape));
      }
    }
  }

  std::unique_ptr<Instance> OpenInstance(io::FileSystem& fs) { return OpenInstance(fs, fs, ""); }
  // `broken` is on another disk, or all are. Null when a disk fails.
  std::unique_ptr<Instance> OpenInstance(io::FileSystem& good, io::FileSystem& bad,
                                         const std::string& broken,
                                         Instance::Options options = {}) {
    options.signature = std::make_shared<WeakSignatures>();
    Instance::Composed composed;
    composed.composition.epoch = 1;
    composed.composition.signature = "weak";
    for (std::size_t i = 0; i < kVolumes; ++i) {
      composed.composition.volumes.push_back(NameOf(i));
    }
    for (std::size_t i = 0; i < kVolumes; ++i) {
      io::FileSystem& fs = broken == "all" || broken == NameOf(i) ? bad : good;
      Result<std::unique_ptr<Volume>> volume =
          GetParam().are_containers[i] ? OpenContainer(fs, NameOf(i)) : OpenTree(fs, NameOf(i));
      if (!volume) return nullptr;
      Result<std::unique_ptr<Member>> member = OpenMember(fs, *std::move(volume));
      if (!member) return nullptr;
      const Result<Membership> membership = (*member)->GetMembership();
      const bool founding = membership && membership->composition.epoch == 0;
      if (founding && !(*member)->Join(composed.composition, "", true)) return nullptr;
      composed.members.push_back(*std::move(member));
    }
    return std::make_unique<Instance>(std::move(composed), std::move(options));
  }

  io::ManualClock clock_{Timestamp{1'700'000'000'000}};
  io::SystemRandom dice_;
  std::vector<std::unique_ptr<io::SystemRandom>> volume_dice_;
};

// What buffered volumes acknowledge may go with their disk.
class MigrateSynced : public Migrate {};

const auto kSyncedKinds =
    testing::Values(Kinds{"Trees", {false, false, false}}, Kinds{"Containers", {true, true, true}},
                    Kinds{"Both", {false, true, false}});
const auto kBufferedKinds =
    testing::Values(Kinds{"BufferedTrees", {false, false, true}, Durability::kBuffered},
                    Kinds{"BufferedContainers", {true, true, false}, Durability::kBuffered});
std::string NameOfKinds(const testing::TestParamInfo<Kinds>& kinds) { return kinds.param.name; }

INSTANTIATE_TEST_SUITE_P(Kinds, Migrate, kSyncedKinds, NameOfKinds);
INSTANTIATE_TEST_SUITE_P(Buffered, Migrate, kBufferedKinds, NameOfKinds);
INSTANTIATE_TEST_SUITE_P(Kinds, MigrateSynced, kSyncedKinds, NameOfKinds);

// What clients have: keys as they got them, and how many references each owner has by each.
struct Client {
  std::map<std::string, ContentKey> keys;  // by content
  std::map<std::string, std::map<std::string, std::uint64_t>> counts;

  // False where nothing was acknowledged.
  bool TryAdd(Instance& instance, const std::string& content, const Operation& operation,
              const std::optional<std::string>& volume = {}) {
    Instance::StoreOptions options;
    options.mode = StoreMode::kCompare;
    options.operation = operation;
    options.volume = volume;
    const Result<Stored> stored = instance.Store(content, options);
    if (!stored) return false;
    keys.try_emplace(content, stored->key);  // the first one stays good
    ++counts[content][operation.owner];
    return true;
  }
  bool TryRemove(Instance& instance, const std::string& content, const Operation& operation) {
    if (!instance.Delete(keys.at(content), operation)) return false;
    --counts[content][operation.owner];
    return true;
  }
  bool Add(Instance& instance, const std::string& content, const Operation& operation,
           const std::optional<std::string>& volume = {}) {
    const bool added = TryAdd(instance, content, operation, volume);
    EXPECT_TRUE(added) << content << " " << operation.id;
    return added;
  }
  bool Remove(Instance& instance, const std::string& content, const Operation& operation) {
    const bool removed = TryRemove(instance, content, operation);
    EXPECT_TRUE(removed) << content << " " << operation.id;
    return removed;
  }

  void Join(const Client& other) {
    for (const auto& [content, key] : other.keys) keys.try_emplace(content, key);
    for (const auto& [content, owners] : other.counts) {
      for (const auto& [owner, count] : owners) counts[content][owner] += count;
    }
  }

  // Every content is there by its old key, exactly as often as it was referred to, in one block.
  void Verify(Instance& instance) const {
    std::map<std::string, std::uint64_t> held;  // by owner, everywhere
    std::uint64_t blocks = 0;
    std::uint64_t real_blocks = 0;
    for (const auto& [content, owners] : counts) {
      std::uint64_t total = 0;
      for (const auto& [owner, count] : owners) {
        total += count;
        held[owner] += count;
      }
      if (total == 0) continue;
      ++blocks;
      const Result<std::string> read = ReadAll(instance.Retrieve(keys.at(content)));
      EXPECT_TRUE(read) << content << ": " << read.error().text;
      if (read) {
        EXPECT_EQ(*read, content);
      }
      const Result<BlockInfo> info = instance.Stat(keys.at(content));
      EXPECT_TRUE(info) << content << ": " << info.error().text;
      if (info) {
        EXPECT_EQ(info->references, total) << content;
      }
    }
    std::map<std::string, std::uint64_t> found;
    for (MemberVolume* member : instance.volumes()) {
      EXPECT_THAT(Findings(static_cast<Member*>(member)->volume()), IsEmpty()) << member->name();
      real_blocks += member->Stats()->blocks;
      const std::vector<OwnerUsage> owners = *member->Owners();
      for (const OwnerUsage& usage : owners) found[usage.owner] += usage.references;
    }
    std::erase_if(held, [](const auto& owner) { return owner.second == 0; });
    EXPECT_EQ(found, held);
    EXPECT_EQ(real_blocks, blocks);
  }
};

// What a client does with a few contents that others have as well, until it is enough.
void UseAll(Instance& instance, Client& client, int number, const std::function<bool()>& enough) {
  io::SeededRandom random(static_cast<std::uint64_t>(number) + 1);
  const std::string owner = "owner-" + std::to_string(number);
  for (int i = 0; i < 50 || (i < 1000 && !enough()); ++i) {
    const std::string content =
        std::string(1, static_cast<char>('a' + random.Next() % 5)) + "content";
    const std::string id = std::to_string(i);
    if (client.counts[content][owner] > 0 && random.Next() % 2 == 0) {
      client.Remove(instance, content, {owner, "less-" + id});
      if (client.counts[content][owner] == 0) client.keys.erase(content);
      continue;
    }
    if (!client.Add(instance, content, {owner, id})) continue;
    const Result<std::string> read = ReadAll(instance.Retrieve(client.keys.at(content)));
    EXPECT_TRUE(read) << read.error().text;
    if (read) {
      EXPECT_EQ(*read, content);
    }
  }
}

// A client of a disk that may go. It remembers what got no answer, to ask it again.
class Worker {
 public:
  explicit Worker(int number)
      : random_(static_cast<std::uint64_t>(number)), owner_("owner-" + std::to_string(number)) {}

  // Ends early when the disk goes.
  void Run(Instance& instance, int steps) {
    for (int i = 0; i < steps && !unanswered_; ++i) {
      const std::string content =
          std::string(1, static_cast<char>('a' + random_.Next() % 4)) + std::to_string(i % 3);
      const bool remove = client_.counts[content][owner_] > 0 && random_.Next() % 2 == 0;
      Perform(instance, {remove, content, "step-" + std::to_string(i)});
    }
  }
  // The same operation again: it counts once, done before or not.
  void AskAgain(Instance& instance) {
    if (const std::optional<Step> step = std::exchange(unanswered_, std::nullopt)) {
      Perform(instance, *step);
    }
    EXPECT_FALSE(unanswered_) << unanswered_->content << " " << unanswered_->id;
  }
  const Client& client() const { return client_; }

 private:
  struct Step {
    bool remove;
    std::string content;
    std::string id;
  };

  void Perform(Instance& instance, const Step& step) {
    const Operation operation{owner_, step.id};
    const bool done = step.remove ? client_.TryRemove(instance, step.content, operation)
                                  : client_.TryAdd(instance, step.content, operation);
    if (!done) unanswered_ = step;
    if (client_.counts[step.content][owner_] == 0) client_.keys.erase(step.content);
  }

  io::SeededRandom random_;
  const std::string owner_;
  Client client_;
  std::optional<Step> unanswered_;
};

// Contents that collide, with several owners and with releases, most of them on v0.
Client Fill(Instance& instance, int contents) {
  Client client;
  for (int i = 0; i < contents; ++i) {
    const std::string content = std::string(1, static_cast<char>('a' + i % 4)) + std::to_string(i);
    const std::string id = std::to_string(i);
    client.Add(instance, content, {"one", id}, "v0");
    client.Add(instance, content, {"one", id + "-again"});
    if (i % 2 == 0) client.Add(instance, content, {"two", id});
    if (i % 3 == 0) client.Remove(instance, content, {"one", id + "-less"});
  }
  return client;
}

TEST_P(Migrate, W9_OldKeysStayGoodAndNothingIsCountedTwice) {
  io::MemoryFileSystem disk;
  MakeDisk(disk);
  auto instance = OpenInstance(disk);
  Client client = Fill(*instance, 20);
  client.Verify(*instance);
  int told = 0;
  MigrateOptions options;
  options.progress = [&](const Migrated&) { ++told; };
  options.blocks_max = 5;
  EXPECT_EQ(Mover(*instance, dice_).Migrate("v0", "v1", options)->blocks, 5u);
  EXPECT_EQ(told, 5);
  client.Verify(*instance);
  const Result<Migrated> rest = Mover(*instance, dice_).Migrate("v0", "v1", {});
  ASSERT_TRUE(rest) << rest.error().text;
  EXPECT_EQ(rest->failed, 0u);
  EXPECT_EQ(instance->Find("v0")->Stats()->blocks, 0u);
  client.Verify(*instance);
  // On, and back again: keys lead over several moves.
  ASSERT_TRUE(Mover(*instance, dice_).Migrate("v1", "v2", {}));
  ASSERT_TRUE(Mover(*instance, dice_).Migrate("v2", "v0", {}));
  client.Verify(*instance);
  instance.reset();
  instance = OpenInstance(disk);
  client.Verify(*instance);
  // Old keys take references and releases, and the content is still found as a duplicate.
  for (const auto& [content, key] : std::map(client.keys)) {
    client.Add(*instance, content, {"three", "dup-" + content});
    client.Remove(*instance, content, {"one", "last-" + content});
  }
  client.Verify(*instance);
  EXPECT_EQ(Mover(*instance, dice_).FinishMoves({})->blocks, 0u);
  EXPECT_EQ(Mover(*instance, dice_).Migrate("v0", "v0", {}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Mover(*instance, dice_).Migrate("v0", "v9", {}).error().code, ErrorCode::kNotFound);
}

// The disks of all members go at one moment, or that of one member alone.
TEST_P(Migrate, W9_IsFinishedWhereverItWasInterrupted) {
  for (const std::string broken : {"all", "v0", "v1", "v2"}) {
    for (const bool power_goes : {false, true}) {
      bool finished = false;
      for (int fail_at = 1; !finished && !HasFailure(); fail_at += kTestStride) {
        SCOPED_TRACE(testing::Message() << broken << " " << power_goes << " " << fail_at);
        ASSERT_LT(fail_at, 3000);
        io::MemoryFileSystem disk;
        MakeDisk(disk);
        Client client;
        client = Fill(*OpenInstance(disk), 3);
        {
          io::FaultFileSystem fs(disk, fail_at);
          const auto instance = OpenInstance(disk, fs, broken);
          const auto migrated = instance == nullptr
                                    ? Result<Migrated>(Error{ErrorCode::kIo, "not opened"})
                                    : Mover(*instance, dice_).Migrate("v0", "v1", {});
          finished = migrated && migrated->failed == 0;
        }
        if (power_goes) disk.Crash();
        const auto instance = OpenInstance(disk);
        ASSERT_NE(instance, nullptr);
        // Clients do not notice.
        for (const auto& [content, key] : std::map(client.keys)) {
          client.Add(*instance, content, {"two", "between-" + content});
          client.Remove(*instance, content, {"one", "between-less-" + content});
        }
        const Result<Migrated> again = Mover(*instance, dice_).Migrate("v0", "v1", {});
        ASSERT_TRUE(again) << again.error().text;
        EXPECT_EQ(again->failed, 0u);
        for (MemberVolume* member : instance->volumes()) {
          // Takes away what a crash left.
          EXPECT_TRUE(static_cast<Member*>(member)->volume().Compact({}));
        }
        EXPECT_EQ(instance->Find("v0")->Stats()->blocks, 0u);
        client.Verify(*instance);
        EXPECT_EQ(Mover(*instance, dice_).FinishMoves({})->blocks, 0u);
      }
    }
  }
}

// While clients store, refer and delete, contents are moved and their old volume is compacted, on
// disks that go at one moment. Clients then ask again what got no answer.
TEST_P(MigrateSynced, W9_IsFinishedWhereverTheDiskGoesUnderLoad) {
  for (const bool power_goes : {false, true}) {
    bool finished = false;
    for (int fail_at = 1; !finished && !HasFailure(); fail_at += kTestStride) {
      SCOPED_TRACE(testing::Message() << power_goes << " " << fail_at);
      ASSERT_LT(fail_at, 3000);
      io::MemoryFileSystem disk;
      MakeDisk(disk);
      Client all = Fill(*OpenInstance(disk), 3);
      std::array<Worker, 3> workers{Worker(1), Worker(2), Worker(3)};
      {
        io::FaultFileSystem fs(disk, fail_at);
        Instance::Options options;
        options.busy_time = std::chrono::milliseconds(20);  // a move whose disk is gone never ends
        if (const auto instance = OpenInstance(disk, fs, "all", options)) {
          std::vector<std::thread> threads;
          for (Worker& worker : workers) {
            threads.emplace_back([&] { worker.Run(*instance, 6); });
          }
          const Result<Migrated> migrated = Mover(*instance, dice_).Migrate("v0", "v1", {});
          const auto compacted = static_cast<Member*>(instance->Find("v0"))->volume().Compact({});
          for (std::thread& thread : threads) thread.join();
          finished = migrated && migrated->failed == 0 && compacted && !fs.Fails();
        }
      }
      if (power_goes) disk.Crash();
      const auto instance = OpenInstance(disk);
      ASSERT_NE(instance, nullptr);
      // A content whose signature is that of one in mid-move waits until the move is finished.
      std::vector<std::thread> threads;
      for (Worker& worker : workers) threads.emplace_back([&] { worker.AskAgain(*instance); });
      const Result<Migrated> again = Mover(*instance, dice_).Migrate("v0", "v1", {});
      for (std::thread& thread : threads) thread.join();
      ASSERT_TRUE(again) << again.error().text;
      EXPECT_EQ(again->failed, 0u);
      const Result<Migrated> rest = Mover(*instance, dice_).FinishMoves({});
      ASSERT_TRUE(rest) << rest.error().text;
      EXPECT_EQ(rest->failed, 0u);
      for (const Worker& worker : workers) all.Join(worker.client());
      for (MemberVolume* member : instance->volumes()) {
        EXPECT_TRUE(static_cast<Member*>(member)->volume().Compact({}));
      }
      all.Verify(*instance);
    }
  }
}

// Clients store, refer, read and delete by keys that grow old, while movers carry the contents to
// and fro, finish what others are just doing, and compact.
TEST_P(Migrate, W9_ClientsGoOnMeanwhile) {
  constexpr int kClients = 6;
  constexpr int kMovers = 3;
  constexpr std::uint64_t kMovesMin = 30;
  io::MemoryFileSystem disk;
  MakeDisk(disk);
  const auto instance = OpenInstance(disk);
  std::vector<Client> clients(kClients);
  std::atomic<int> running = kClients;
  std::atomic<std::uint64_t> moved = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kClients; ++t) {
    threads.emplace_back([&, t] {
      UseAll(*instance, clients[t], t, [&] { return moved >= kMovesMin; });
      --running;
    });
  }
  for (int t = 0; t < kMovers; ++t) {
    threads.emplace_back([&, t] {
      io::SeededRandom random(static_cast<std::uint64_t>(t) + 100);
      Mover mover(*instance, random);
      MigrateOptions options;
      options.threads = 2;
      while (running > 0) {
        const std::size_t from = random.Next() % kVolumes;
        const std::size_t to = (from + 1 + random.Next() % 2) % kVolumes;
        const Result<Migrated> migrated = mover.Migrate(NameOf(from), NameOf(to), options);
        EXPECT_TRUE(migrated) << migrated.error().text;
        if (migrated) moved += migrated->blocks;
        EXPECT_TRUE(static_cast<Member*>(instance->Find(NameOf(from)))->volume().Compact({}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Client all;
  for (const Client& client : clients) all.Join(client);
  const Result<Migrated> finished = Mover(*instance, dice_).FinishMoves({});
  ASSERT_TRUE(finished) << finished.error().text;
  EXPECT_EQ(finished->failed, 0u);
  all.Verify(*instance);
}

TEST_P(Migrate, W11_TwoBlocksOfOneContentBecomeOne) {
  io::MemoryFileSystem disk;
  MakeDisk(disk);
  const auto instance = OpenInstance(disk);
  const std::string content = "same content";
  const Signature signature = WeakSignatures().Of(content);
  Client client;
  // Both were stored when neither knew of the other.
  for (const char* name : {"v0", "v1"}) {
    io::MemorySource source(content);
    Volume& volume = static_cast<Member*>(instance->Find(name))->volume();
    const Result<Stored> stored =
        volume.Store({signature, content.size(), StoreMode::kCompare, "", {"one", name}}, source);
    ASSERT_TRUE(stored);
    client.keys.try_emplace(content, stored->key);
    ++client.counts[content]["one"];
  }
  client.Add(*instance, "t-other", {"one", "other"}, "v0");
  ASSERT_TRUE(
      Mover(*instance, dice_).Merge(signature, *instance->Find("v0"), *instance->Find("v1")));
  EXPECT_EQ(instance->Find("v0")->Stats()->blocks, 1u);
  client.Verify(*instance);
}

}  // namespace
}  // namespace stele::store
