#include "store/copies.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <utility>

#include "io/memory_file_system.h"
#include "store/container_test_lab.h"
#include "store/forwarding_volume.h"
#include "store/migrate.h"
#include "store/test_member.h"

namespace stele::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A connection that breaks, once, when it is told to.
class BreakableSource final : public io::Source {
 public:
  BreakableSource(std::unique_ptr<io::Source> base, bool& broken)
      : base_(std::move(base)), broken_(broken) {}
  Result<std::size_t> Read(std::span<char> out) override {
    if (std::exchange(broken_, false)) return Error{ErrorCode::kIo, "the connection broke"};
    return base_->Read(out);
  }

 private:
  const std::unique_ptr<io::Source> base_;
  bool& broken_;
};

// A volume whose server can be switched off, and whose next read can be made to fail.
class SwitchedVolume final : public ForwardingVolume {
 public:
  SwitchedVolume(std::unique_ptr<Volume> base, const bool& off, bool& broken)
      : ForwardingVolume(*base), owned_(std::move(base)), off_(off), break_(broken) {}

  Result<Lookup> Reference(const StoreRequest& request) override {
    return off_ ? Off() : ForwardingVolume::Reference(request);
  }
  Result<Stored> Store(const StoreRequest& request, io::Source& content) override {
    return off_ ? Off() : ForwardingVolume::Store(request, content);
  }
  Result<std::unique_ptr<io::Source>> Retrieve(const ContentKey& key) override {
    if (off_) return Off();
    Result<std::unique_ptr<io::Source>> content = ForwardingVolume::Retrieve(key);
    if (!content) return content;
    return std::unique_ptr<io::Source>(
        std::make_unique<BreakableSource>(*std::move(content), break_));
  }
  Status Delete(const ContentKey& key, const Operation& operation) override {
    return off_ ? Status(Off()) : ForwardingVolume::Delete(key, operation);
  }
  Result<BlockInfo> Stat(const ContentKey& key) override {
    return off_ ? Off() : ForwardingVolume::Stat(key);
  }
  Result<std::vector<BlockOperation>> Operations(const ContentKey& key,
                                                 const std::optional<BlockOperation>& after,
                                                 std::size_t limit) override {
    return off_ ? Off() : ForwardingVolume::Operations(key, after, limit);
  }
  Result<std::vector<ListedBlock>> List(const ListRequest& request) override {
    return off_ ? Off() : ForwardingVolume::List(request);
  }

 private:
  Error Off() const { return {ErrorCode::kIo, "volume " + name() + " does not answer"}; }

  const std::unique_ptr<Volume> owned_;
  const bool& off_;
  bool& break_;
};

// v0, v1 and v2: trees, or containers.
class CopiesTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    Instance::Composed composed;
    composed.composition.epoch = 1;
    for (int i = 0; i < 3; ++i) {
      const std::string name = fmt::format("v{}", i);
      Result<std::unique_ptr<Member>> member = OpenMember(
          fs_, std::make_unique<SwitchedVolume>(NewVolumeCalled(name), off_[i], broken_));
      ASSERT_TRUE(member) << member.error().text;
      composed.composition.volumes.push_back(name);
      composed.members.push_back(*std::move(member));
    }
    Instance::Options options;
    options.signature = std::make_shared<Sha256Signatures>();
    instance_ = std::make_unique<Instance>(std::move(composed), options);
    copies_ = std::make_unique<Copies>(*instance_, random_);
  }

  std::unique_ptr<Volume> NewVolumeCalled(const std::string& name) {
    if (!GetParam()) return NewVolume(fs_, {.name = name}, {});
    EXPECT_TRUE(ContainerVolume::Create(fs_, name, {name, "sha256", 0}));
    Result<std::unique_ptr<ContainerVolume>> volume = ContainerVolume::Open(
        {fs_, clock_, random_}, name, std::make_unique<MemoryBlockTable>(), {});
    EXPECT_TRUE(volume) << volume.error().text;
    return *std::move(volume);
  }

  ContentKey Put(const std::string& content, int copies = 2) {
    const Result<Stored> stored = instance_->Store(
        content, {.media_type = "text/html", .operation = {"me", fmt::format("{}", ++operation_)}});
    EXPECT_TRUE(stored) << stored.error().text;
    EXPECT_EQ(*copies_->Ensure(stored->key, copies), copies);
    return stored->key;
  }
  Result<std::string> Read(const ContentKey& key) { return ReadAll(copies_->Retrieve(key)); }
  bool& Off(const ContentKey& key) { return off_[key.volume.back() - '0']; }
  std::uint64_t Blocks() {
    std::uint64_t blocks = 0;
    for (const auto& volume : instance_->volumes()) blocks += volume->Stats()->blocks;
    return blocks;
  }

  std::string Noise(int size) {
    std::string noise;
    for (int i = 0; i < size; ++i) noise += static_cast<char>(random_.Next());
    return noise;
  }

  // Turns over a byte of the content, which is the only one in its volume.
  void Damage(const ContentKey& key) {
    const std::string path =
        GetParam() ? key.volume + "/containers/00000001.warc.gz.open"
                   : key.volume + "/blocks/" + Sig2Location(key.signature, key.overflow, 3);
    const std::string bytes = *io::ReadFile(fs_, path);
    const std::size_t at = bytes.size() / 4 * 3;
    const std::string turned(1, static_cast<char>(bytes[at] ^ 0x40));
    ASSERT_TRUE((*fs_.OpenForUpdating(path))->WriteAt(at, turned));
  }

  Copies::Repaired Repair(Copies::RepairOptions options = {}) {
    findings_.clear();
    options.report = [this](const Finding& finding) { findings_.push_back(finding.where); };
    const Result<Copies::Repaired> repaired = copies_->Repair(options);
    EXPECT_TRUE(repaired) << repaired.error().text;
    return *repaired;
  }

  io::MemoryFileSystem fs_;
  io::ManualClock clock_{Timestamp{1'700'000'000'000}};
  io::SeededRandom random_{1};
  bool off_[3] = {};
  bool broken_ = false;
  int operation_ = 0;
  std::unique_ptr<Instance> instance_;
  std::unique_ptr<Copies> copies_;
  std::vector<std::string> findings_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, CopiesTest, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Container" : "Tree"; });

TEST_P(CopiesTest, W10_ADeadVolumesContentsAreReadFromCopies) {
  std::vector<std::pair<ContentKey, std::string>> contents;
  for (int i = 0; i < 20; ++i) {
    const std::string content = fmt::format("content {} {}", i, std::string(1000, 'x'));
    contents.emplace_back(Put(content), content);
  }
  EXPECT_EQ(Blocks(), 40u);
  for (bool& off : off_) {
    off = true;
    for (const auto& [key, content] : contents) EXPECT_EQ(*Read(key), content);
    off = false;
  }
}

// The original goes to the third volume, to where its copy is, and round.
TEST_P(CopiesTest, W10_CopiesStayThoseOfAnOriginalThatMoves) {
  const std::string content = Noise(2000);
  const ContentKey key = Put(content);
  const auto place = [&] { return instance_->Resolve(key)->volume; };
  const auto without = [&](bool has) -> std::string {
    for (MemberVolume* member : instance_->volumes()) {
      if ((member->Stats()->blocks > 0) == has && member->name() != place()) return member->name();
    }
    return "";
  };
  Mover mover(*instance_, random_);
  ASSERT_EQ(mover.Migrate(place(), without(false), {})->blocks, 1u);
  EXPECT_NE(place(), key.volume);
  const auto unchanged = [&] {
    const Copies::Repaired repaired = Repair();
    EXPECT_EQ(repaired.made + repaired.released + repaired.restored + repaired.failed, 0u);
    EXPECT_THAT(findings_, IsEmpty());
    EXPECT_EQ(Blocks(), 2u);
    bool& off = off_[place().back() - '0'];
    off = true;
    EXPECT_EQ(*Read(key), content);
    off = false;
  };
  unchanged();
  EXPECT_EQ(*copies_->Ensure(key, 2), 2);
  unchanged();
  // Where its copy is: that is none any more.
  ASSERT_EQ(mover.Migrate(place(), without(true), {})->blocks, 1u);
  EXPECT_EQ(Blocks(), 1u);
  const Copies::Repaired repaired = Repair();
  EXPECT_EQ(repaired.made, 1u);
  EXPECT_EQ(repaired.released, 1u);
  EXPECT_EQ(instance_->Stat(key)->references, 1u);
  unchanged();
  // The copy moves, round and back.
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(mover.Migrate(without(true), without(false), {})->blocks, 1u);
    unchanged();
  }
  ASSERT_TRUE(copies_->Delete(key, {"me", "last"}));
  EXPECT_EQ(Blocks(), 0u);
}

TEST_P(CopiesTest, W10_CopiesAreMadeOnceAndCarryNoCount) {
  const ContentKey key = Put("content");
  EXPECT_EQ(Put("content"), key);
  EXPECT_EQ(*copies_->Ensure(key, 2), 2);
  EXPECT_EQ(Blocks(), 2u);
  EXPECT_EQ(instance_->Stat(key)->references, 2u);
  ASSERT_TRUE(copies_->Delete(key, {"me", "d1"}));
  EXPECT_EQ(Blocks(), 2u);
  ASSERT_TRUE(copies_->Delete(key, {"me", "d2"}));
  EXPECT_EQ(Blocks(), 0u);
  EXPECT_EQ(Read(key).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(*copies_->Ensure(Put("content", 3), 9), 3);  // there are no more volumes
}

TEST_P(CopiesTest, W10_ADamagedContentIsReadFromACopy) {
  for (const int size : {3000, 200'000, 2'000'000}) {
    const std::string content = Noise(size);
    const ContentKey key = Put(content, 3);
    Damage(key);
    EXPECT_FALSE(ReadAll(instance_->Retrieve(key)));
    const Result<std::string> read = Read(key);
    // The damage of a large content may show when its bytes have been handed out already.
    EXPECT_TRUE(read ? *read == content : size > 200'000);
  }
}

// Damage that the volume notices at once, behind the part of the content that was handed out.
TEST_P(CopiesTest, W10_AStreamThatBreaksGoesOnFromACopy) {
  const std::string content = Noise(2'000'000);
  const ContentKey key = Put(content);
  Result<std::unique_ptr<io::Source>> stream = copies_->Retrieve(key);
  ASSERT_TRUE(stream);
  std::string begin(400'000, '\0');
  std::size_t size = 0;
  while (size < begin.size()) size += *(*stream)->Read(std::span(begin).subspan(size));
  broken_ = true;
  const Result<std::string> rest = ReadAll(std::move(stream));
  ASSERT_TRUE(rest) << rest.error().text;
  EXPECT_EQ(begin + *rest, content);
}

TEST_P(CopiesTest, W10_RepairRestoresTheNumberOfCopies) {
  std::vector<ContentKey> keys;
  for (int i = 0; i < 10; ++i) keys.push_back(Put(fmt::format("content {}", i), 1));
  EXPECT_EQ(Blocks(), 10u);
  Copies::Repaired repaired = Repair();
  EXPECT_EQ(repaired.contents, 10u);
  EXPECT_EQ(repaired.made, 10u);
  EXPECT_EQ(repaired.failed, 0u);
  EXPECT_EQ(Blocks(), 20u);
  repaired = Repair();
  EXPECT_EQ(repaired.made + repaired.restored + repaired.released, 0u);
  repaired = Repair({.copies = 3});
  EXPECT_EQ(repaired.made, 10u);
  EXPECT_THAT(findings_, IsEmpty());
  repaired = Repair({.copies = 4});
  EXPECT_EQ(repaired.failed, 10u);
  EXPECT_THAT(findings_, SizeIs(10));
  for (const ContentKey& key : keys) EXPECT_EQ(instance_->Stat(key)->references, 1u);
}

TEST_P(CopiesTest, W10_RepairRestoresDamagedOriginalsInTheirPlace) {
  const std::string content = Noise(3000);
  const ContentKey key = Put(content);
  Put(content);
  Damage(key);
  EXPECT_EQ(Repair({.read_everything = false}).restored, 0u);
  EXPECT_EQ(Repair().restored, 1u);
  EXPECT_THAT(findings_, ElementsAre(key.Text()));
  EXPECT_EQ(*ReadAll(instance_->Retrieve(key)), content);
  EXPECT_EQ(instance_->Stat(key)->references, 2u);
  EXPECT_EQ(Repair().restored, 0u);
}

TEST_P(CopiesTest, W10_CopiesWhoseOriginalIsGoneAreReleased) {
  const ContentKey key = Put("content");
  const ContentKey stays = Put("another");
  std::vector<bool*> others;
  for (int i = 0; i < 3; ++i) {
    if (&off_[i] != &Off(key)) others.push_back(&off_[i]);
  }
  for (bool* off : others) *off = true;
  ASSERT_TRUE(copies_->Delete(key, {"me", "d"}));
  for (bool* off : others) *off = false;
  EXPECT_EQ(Blocks(), 3u);
  EXPECT_EQ(Repair().released, 1u);
  EXPECT_EQ(Blocks(), 2u);
  EXPECT_EQ(*Read(stays), "another");
}

TEST_P(CopiesTest, W10_WhileAVolumeIsDownItsCopiesStayAndAreMadeUp) {
  const ContentKey key = Put("content");
  Off(key) = true;
  Copies::Repaired repaired = Repair();
  EXPECT_EQ(repaired.released, 0u);
  EXPECT_EQ(repaired.made, 1u);
  EXPECT_EQ(repaired.failed, 1u);  // the volume that is down
  EXPECT_THAT(findings_, ElementsAre(key.volume));
  Off(key) = false;
  EXPECT_EQ(Blocks(), 3u);
  EXPECT_EQ(Repair().failed, 0u);
  EXPECT_EQ(*Read(key), "content");
}

}  // namespace
}  // namespace stele::store
