#include "store/instance.h"

#include <gmock/gmock.h>

#include <map>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "store/test_member.h"

namespace stele::store {
namespace {

using testing::IsEmpty;

// A pipe: no position, and one byte at a time.
class PipeSource final : public io::Source {
 public:
  explicit PipeSource(std::string_view bytes) : base_(bytes) {}
  Result<std::size_t> Read(std::span<char> out) override {
    return base_.Read(out.first(std::min<std::size_t>(out.size(), 1)));
  }

 private:
  io::MemorySource base_;
};

class InstanceTest : public testing::Test {
 protected:
  // Volumes v0, v1, ... that may hold `capacity` bytes each.
  std::unique_ptr<Instance> Make(int count, Placement placement = Placement::kModulo,
                                 std::uint64_t capacity = 0, bool weak = false) {
    Instance::Composed composed;
    composed.composition = {1, weak ? "weak" : "sha256", placement, {}};
    for (int i = 0; i < count; ++i) {
      const std::string name = "v" + std::to_string(i);
      composed.members.push_back(NewMember(fs_,
                                           {.name = name, .depth = 2, .capacity_bytes = capacity},
                                           weak ? WeakOptions() : TreeVolume::Options()));
      composed.composition.volumes.push_back(name);
    }
    return With(std::move(composed), weak);
  }
  std::unique_ptr<Instance> With(Instance::Composed composed, bool weak = false) {
    Instance::Options options;
    options.signature = std::make_shared<Sha256Signatures>();
    if (weak) options.signature = std::make_shared<WeakSignatures>();
    options.fs = &fs_;
    options.temporary_directory = ".";
    options.memory_bytes_max = 10;
    return std::make_unique<Instance>(std::move(composed), std::move(options));
  }
  Instance::StoreOptions As(const std::string& owner = "tomba",
                            StoreMode mode = StoreMode::kRegular) {
    return {mode, "text/html", {owner, std::to_string(++operations_)}, std::nullopt};
  }
  std::string Read(Instance& instance, const ContentKey& key) {
    const Result<std::string> content = ReadAll(instance.Retrieve(key));
    return content ? *content : "failed: " + content.error().text;
  }

  io::MemoryFileSystem fs_;
  int operations_ = 0;
};

TEST_F(InstanceTest, W4_ANewContentGoesToSignatureModN) {
  const auto instance = Make(3);
  const Sha256Signatures sha;
  for (int i = 0; i < 30; ++i) {
    const std::string content = "content " + std::to_string(i);
    const Result<Stored> stored = instance->Store(content, As());
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->key.volume, "v" + std::to_string(sha.Of(content).Modulo(3)));
    EXPECT_EQ(Read(*instance, stored->key), content);
  }
}

TEST_F(InstanceTest, W4_ADuplicateIsFoundInAnyVolume) {
  const auto instance = Make(4);
  for (int i = 0; i < 4; ++i) {
    for (const StoreMode mode : {StoreMode::kRegular, StoreMode::kCompare}) {
      const std::string content = "content " + std::to_string(i) + (i % 2 == 0 ? "" : "!");
      Instance::StoreOptions options = As();
      options.volume = "v" + std::to_string(i);
      const ContentKey key = instance->Store(content, options)->key;
      EXPECT_EQ(key.volume, options.volume);
      const Result<Stored> again = instance->Store(content, As("sidra", mode));
      EXPECT_FALSE(again->is_new);
      EXPECT_EQ(again->key, key);
    }
  }
}

TEST_F(InstanceTest, W5_CompareModeNeverLosesAContentInAnyVolume) {
  const auto instance = Make(3, Placement::kModulo, 0, true);
  std::map<std::string, ContentKey> keys;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 40; ++i) {
      const std::string content =
          std::string(1, static_cast<char>('a' + i % 3)) + std::to_string(10 + i);
      const Result<Stored> stored = instance->Store(content, As("tomba", StoreMode::kCompare));
      ASSERT_TRUE(stored);
      EXPECT_EQ(stored->is_new, round == 0);
      EXPECT_EQ(keys.emplace(content, stored->key).first->second, stored->key);
    }
  }
  for (const auto& [content, key] : keys) EXPECT_EQ(Read(*instance, key), content);
}

TEST_F(InstanceTest, W6_ApplicationsShareItWithoutHarm) {
  const auto instance = Make(2);
  const ContentKey key = instance->Store("shared", As("tomba"))->key;
  EXPECT_EQ(instance->Store("shared", As("sidra"))->key, key);
  EXPECT_EQ(instance->Stat(key)->references, 2u);
  ASSERT_TRUE(instance->Delete(key, {"tomba", "d1"}));
  EXPECT_EQ(instance->Delete(key, {"tomba", "d2"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Read(*instance, key), "shared");
  ASSERT_TRUE(instance->Delete(key, {"sidra", "d1"}));
  EXPECT_EQ(instance->Retrieve(key).error().code, ErrorCode::kNotFound);
}

TEST_F(InstanceTest, W6_ARetriedStoreCountsOnce) {
  const auto instance = Make(3);
  for (const StoreMode mode : {StoreMode::kRegular, StoreMode::kCompare, StoreMode::kForceNew}) {
    const Instance::StoreOptions options = As("tomba", mode);
    const std::string content = "content " + std::to_string(static_cast<int>(mode));
    const Result<Stored> first = instance->Store(content, options);
    // The volume it went to takes no more blocks now, so a second one would go elsewhere.
    ASSERT_TRUE(instance->Find(first->key.volume)->SetState(VolumeState::kReadOnly));
    EXPECT_EQ(instance->Store(content, options)->key, first->key);
    EXPECT_EQ(instance->Stat(first->key)->references, 1u);
    ASSERT_TRUE(instance->Find(first->key.volume)->SetState(VolumeState::kWritable));
  }
}

TEST_F(InstanceTest, W9_FullAndReadOnlyVolumesArePassedOver) {
  const auto instance = Make(3, Placement::kModulo, 1000);
  std::map<std::string, ContentKey> keys;
  for (int i = 0;; ++i) {
    const std::string content = "content " + std::to_string(i);
    const Result<Stored> stored = instance->Store(content, As());
    if (!stored) {
      EXPECT_EQ(stored.error().code, ErrorCode::kFull);
      break;
    }
    keys.emplace(content, stored->key);
    ASSERT_LT(i, 100);
  }
  EXPECT_GE(keys.size(), 3u * 7u - 3u);
  for (const auto& volume : instance->volumes()) {
    EXPECT_EQ(volume->state(), VolumeState::kFull);
    EXPECT_LE(volume->Stats()->stored_bytes, 1000u);
  }
  // Nothing is lost, duplicates are still taken, and room can be made.
  for (const auto& [content, key] : keys) {
    EXPECT_EQ(Read(*instance, key), content);
    EXPECT_EQ(instance->Store(content, As())->key, key);
  }
  const ContentKey victim = keys.begin()->second;
  ASSERT_TRUE(instance->Delete(victim, {"tomba", "x1"}));
  ASSERT_TRUE(instance->Delete(victim, {"tomba", "x2"}));
  EXPECT_EQ(instance->Store("something new", As())->key.volume, victim.volume);
}

TEST_F(InstanceTest, W9_FrozenVolumesAreNeverATarget) {
  const auto instance = Make(2);
  ASSERT_TRUE(instance->Find("v0")->SetState(VolumeState::kFrozen));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(instance->Store("content " + std::to_string(i), As())->key.volume, "v1");
  }
}

TEST_F(InstanceTest, W10_AMissingVolumeCostsOnlyItsOwnContents) {
  Instance::Composed composed{{1, "sha256", Placement::kModulo, {"dead", "live"}}, "", {}};
  composed.members.push_back(NewMember(fs_, {.name = "live"}));
  const auto instance = With(std::move(composed));
  for (int i = 0; i < 10; ++i) {
    const std::string content = "content " + std::to_string(i);
    const Result<Stored> stored = instance->Store(content, As());
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_EQ(stored->key.volume, "live");
    EXPECT_EQ(Read(*instance, stored->key), content);
  }
  const Signature signature = Sha256Signatures().Of("x");
  EXPECT_EQ(instance->Retrieve({"dead", signature, 0}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(instance->Retrieve({"none", signature, 0}).error().code, ErrorCode::kNotFound);
}

TEST_F(InstanceTest, W10_AReplicaIsReadWhereItIsUp) {
  const auto instance = Make(3);
  std::vector<ContentKey> replicas = {{"gone", Sha256Signatures().Of("content"), 0}};
  for (const char* volume : {"v0", "v2"}) {
    Instance::StoreOptions options = As();
    options.volume = volume;
    const Result<Stored> stored = instance->Store("content", options);
    EXPECT_TRUE(stored->is_new);
    replicas.push_back(stored->key);
  }
  EXPECT_EQ(*ReadAll(instance->RetrieveAny(replicas)), "content");
  ASSERT_TRUE(instance->Delete(replicas[1], {"tomba", "x"}));
  EXPECT_EQ(*ReadAll(instance->RetrieveAny(replicas)), "content");
  ASSERT_TRUE(instance->Delete(replicas[2], {"tomba", "y"}));
  EXPECT_FALSE(instance->RetrieveAny(replicas));
}

TEST_F(InstanceTest, PipesAndFilesAreStoredLikeBytes) {
  const auto instance = Make(2);
  for (const std::string& content : {std::string("short"), std::string(5000, 'l')}) {
    PipeSource pipe(content);
    const Result<Stored> stored = instance->Store(pipe, As());
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_EQ(Read(*instance, stored->key), content);
    ASSERT_TRUE(io::ReplaceFile(fs_, "file", content));
    io::FileSource file(*fs_.OpenForReading("file"));
    EXPECT_EQ(instance->Store(file, As("tomba", StoreMode::kCompare))->key, stored->key);
    EXPECT_EQ(instance->Store(content, As())->key, stored->key);
  }
  EXPECT_THAT(*fs_.List("."), testing::ElementsAre("file", "v0", "v1"));
}

TEST_F(InstanceTest, RefusesWhatCannotBe) {
  const auto instance = Make(1);
  Instance::StoreOptions options = As();
  options.volume = "none";
  EXPECT_EQ(instance->Store("x", options).error().code, ErrorCode::kNotFound);
  options = As();
  options.operation.id = "";
  EXPECT_EQ(instance->Store("x", options).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace stele::store
