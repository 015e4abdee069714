#include "store/tree_volume.h"

#include <gmock/gmock.h>

#include "io/memory_file_system.h"
#include "store/block.h"
#include "store/test_volume.h"

namespace stele::store {
namespace {

using io::MemoryFileSystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TreeVolumeTest : public testing::Test {
 protected:
  Operation Op(const std::string& owner = "tomba") {
    return {owner, "op-" + std::to_string(++operations_)};
  }
  std::string Read(const std::string& path) {
    const Result<std::string> content = io::ReadFile(fs_, path);
    return content ? *content : content.error().text;
  }

  MemoryFileSystem fs_;
  int operations_ = 0;
};

TEST_F(TreeVolumeTest, W2_ABlockLiesWhereItsSignatureSays) {
  auto volume = NewVolume(fs_, {.name = "v", .signature = "rabin64", .depth = 3}, {});
  const Result<Stored> stored = Put(*volume, "a content", Op());
  ASSERT_TRUE(stored);
  const std::string hex = stored->key.signature.Hex();
  const std::string path =
      "v/blocks/" + hex.substr(0, 2) + "/" + hex.substr(2, 2) + "/" + hex.substr(4);
  EXPECT_THAT(Read(path), HasSubstr("STELE-BLOCK 1\n"));
  EXPECT_EQ(stored->key.Text(), "v:" + hex);
}

TEST_F(TreeVolumeTest, W2_DepthIsSetPerVolume) {
  for (int depth = 1; depth <= 8; ++depth) {
    const std::string name = "v" + std::to_string(depth);
    auto volume = NewVolume(fs_, {.name = name, .signature = "rabin64", .depth = depth}, {});
    const Result<Stored> stored = Put(*volume, "a content", Op());
    ASSERT_TRUE(stored);
    EXPECT_EQ(Get(*volume, stored->key), "a content");
    EXPECT_TRUE(*fs_.Exists(name + "/blocks/" + Sig2Location(stored->key.signature, 0, depth)));
    EXPECT_THAT(Findings(*volume), IsEmpty());
  }
  EXPECT_EQ(
      TreeVolume::Create(fs_, "w", {.name = "w", .signature = "rabin64", .depth = 9}).error().code,
      ErrorCode::kInvalid);
}

TEST_F(TreeVolumeTest, W3_ABlockIsReadableWithoutUs) {
  auto volume = NewVolume(fs_, {.name = "v", .depth = 1}, {});
  const Result<Stored> stored = Put(*volume, "GIF89a...", Op(), StoreMode::kRegular, "image/gif");
  ASSERT_TRUE(stored);
  const std::string path = "v/blocks/" + stored->key.signature.Hex();
  EXPECT_THAT(Read(path), testing::EndsWith("Compression: identity    \n"
                                            "Size: 00000000000000000009\n"
                                            "References: 0000000001\n"
                                            "\n"
                                            "GIF89a..."));
  ASSERT_TRUE(Put(*volume, "GIF89a...", Op()));
  EXPECT_THAT(Read(path), HasSubstr("\nReferences: 0000000002\n"));
}

TEST_F(TreeVolumeTest, W4_ADuplicateIsFoundBeforeItsBytesAreSent) {
  auto volume = NewVolume(fs_, {}, {});
  const Result<Stored> first = Put(*volume, "a content", Op());
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->is_new);
  const Result<Lookup> again = volume->Reference(RequestFor(*volume, "a content", Op()));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->outcome, Lookup::Outcome::kReferenced);
  EXPECT_EQ(again->key, first->key);
  EXPECT_EQ(ReferencesOf(*volume, first->key), 2u);
  EXPECT_EQ(volume->Stats()->blocks, 1u);
  EXPECT_EQ(volume->Reference(RequestFor(*volume, "another", Op()))->outcome,
            Lookup::Outcome::kUnknown);
}

TEST_F(TreeVolumeTest, W5_RegularModeSeesACollisionByItsSize) {
  auto volume = NewVolume(fs_, {}, WeakOptions());
  const auto one = Put(*volume, "a1", Op());
  const auto longer = Put(*volume, "a22", Op());
  const auto longer_again = Put(*volume, "a22", Op());
  const auto fake_duplicate = Put(*volume, "a3", Op());  // taken for "a1", as the paper says
  EXPECT_EQ(one->key.overflow, 0u);
  EXPECT_EQ(longer->key.Text(), one->key.Text() + ".1");
  EXPECT_EQ(longer_again->key, longer->key);
  EXPECT_EQ(fake_duplicate->key, one->key);
  EXPECT_EQ(Get(*volume, one->key), "a1");
  EXPECT_EQ(Get(*volume, longer->key), "a22");
}

TEST_F(TreeVolumeTest, W5_CompareModeNeverLosesAContent) {
  // Contents over and below the limit of what is kept in memory.
  auto options = WeakOptions();
  options.memory_bytes_max = 3;
  auto volume = NewVolume(fs_, {}, options);
  std::vector<std::pair<std::string, ContentKey>> all;
  for (const char* content : {"a1", "a2", "a33", "a44", "a5555", "a6666", "a66667", "b", ""}) {
    for (int i = 0; i < 3; ++i) {
      const Result<Stored> stored = Put(*volume, content, Op(), StoreMode::kCompare);
      ASSERT_TRUE(stored) << stored.error().text;
      EXPECT_EQ(stored->is_new, i == 0) << content;
      all.emplace_back(content, stored->key);
    }
  }
  EXPECT_EQ(volume->Stats()->blocks, 9u);
  for (const auto& [content, key] : all) {
    EXPECT_EQ(Get(*volume, key), content);
    EXPECT_EQ(ReferencesOf(*volume, key), 3u);
  }
  EXPECT_THAT(Findings(*volume), IsEmpty());
  EXPECT_THAT(*fs_.List("v/temporary"), IsEmpty());
}

TEST_F(TreeVolumeTest, W5_ForceNewAlwaysMakesABlock) {
  auto volume = NewVolume(fs_, {}, {});
  std::vector<ContentKey> keys;
  for (int i = 0; i < 5; ++i) {
    const auto stored = Put(*volume, "the same", Op(), StoreMode::kForceNew);
    ASSERT_TRUE(stored);
    EXPECT_TRUE(stored->is_new);
    keys.push_back(stored->key);
  }
  EXPECT_EQ(volume->Stats()->blocks, 5u);
  for (const ContentKey& key : keys) EXPECT_EQ(Get(*volume, key), "the same");
}

TEST_F(TreeVolumeTest, W5_OverflowBlocksAreDeletedByTheirKeys) {
  auto volume = NewVolume(fs_, {}, WeakOptions());
  const auto a = Put(*volume, "a1", Op(), StoreMode::kCompare);
  const auto b = Put(*volume, "a2", Op(), StoreMode::kCompare);
  const auto c = Put(*volume, "a3", Op(), StoreMode::kCompare);
  ASSERT_TRUE(volume->Delete(b->key, Op()));
  EXPECT_EQ(volume->Retrieve(b->key).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Get(*volume, a->key), "a1");
  EXPECT_EQ(Get(*volume, c->key), "a3");
  ASSERT_TRUE(volume->Delete(a->key, Op()));
  EXPECT_EQ(Get(*volume, c->key), "a3");
  // The content beyond the gap is still found, and the gap is used.
  EXPECT_EQ(Put(*volume, "a3", Op(), StoreMode::kCompare)->key, c->key);
  EXPECT_EQ(Put(*volume, "a4", Op(), StoreMode::kCompare)->key, a->key);
}

TEST_F(TreeVolumeTest, W6_TheLastReferenceTakesTheBlockAlong) {
  auto volume = NewVolume(fs_, {}, {});
  const ContentKey key = Put(*volume, "a content", Op())->key;
  ASSERT_TRUE(Put(*volume, "a content", Op()));
  ASSERT_TRUE(volume->Delete(key, Op()));
  EXPECT_EQ(Get(*volume, key), "a content");
  EXPECT_EQ(ReferencesOf(*volume, key), 1u);
  ASSERT_TRUE(volume->Delete(key, Op()));
  EXPECT_EQ(volume->Retrieve(key).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(volume->Stat(key).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(volume->Delete(key, Op()).error().code, ErrorCode::kNotFound);
  const VolumeStats stats = *volume->Stats();
  EXPECT_EQ(stats.blocks + stats.references + stats.content_bytes + stats.stored_bytes, 0u);
  EXPECT_THAT(Findings(*volume), IsEmpty());
}

TEST_F(TreeVolumeTest, W6_OwnersCannotReleaseEachOthersReferences) {
  auto volume = NewVolume(fs_, {}, {});
  const ContentKey key = Put(*volume, "shared", Op("one"))->key;
  ASSERT_TRUE(Put(*volume, "shared", Op("two")));
  ASSERT_TRUE(volume->Delete(key, Op("one")));
  EXPECT_EQ(volume->Delete(key, Op("one")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Get(*volume, key), "shared");
  EXPECT_TRUE(volume->Delete(key, Op("two")));
}

TEST_F(TreeVolumeTest, W6_ARepeatedOperationCountsOnce) {
  auto volume = NewVolume(fs_, {}, {});
  const Operation store = Op();
  const Operation release = Op();
  const ContentKey key = Put(*volume, "a content", store, StoreMode::kForceNew)->key;
  EXPECT_EQ(Put(*volume, "a content", store, StoreMode::kForceNew)->key, key);
  EXPECT_EQ(Put(*volume, "a content", store)->key, key);
  EXPECT_EQ(ReferencesOf(*volume, key), 1u);
  ASSERT_TRUE(Put(*volume, "a content", Op()));
  ASSERT_TRUE(volume->Delete(key, release));
  ASSERT_TRUE(volume->Delete(key, release));
  EXPECT_EQ(ReferencesOf(*volume, key), 1u);
  // Also after the reference was given up, and after the volume was opened again.
  volume = nullptr;
  volume = OpenVolume(fs_, "v", {});
  EXPECT_EQ(Put(*volume, "a content", store)->key, key);
  EXPECT_EQ(ReferencesOf(*volume, key), 1u);
}

TEST_F(TreeVolumeTest, W7_EachContentIsCompressedByItsType) {
  TreeVolume::Options options;
  options.compression = CompressionTable(
      {{"text/css", {"zstd", 3}}, {"text/*", {"gzip", 6}}, {"*+xml", {"deflate", 6}}});
  auto volume = NewVolume(fs_, {}, options);
  const auto compression = [&](char letter, const std::string& type) {
    const std::string content(1000, letter);
    const auto stored = Put(*volume, content, Op(), StoreMode::kRegular, type);
    EXPECT_EQ(Get(*volume, stored->key), content);
    return volume->Stat(stored->key)->compression;
  };
  EXPECT_EQ(compression('a', "text/css"), "zstd");
  EXPECT_EQ(compression('b', "Text/HTML; charset=utf-8"), "gzip");
  EXPECT_EQ(compression('c', "image/svg+xml"), "deflate");
  EXPECT_EQ(compression('d', "image/png"), "identity");
  EXPECT_THAT(Findings(*volume), IsEmpty());
  // What does not shrink is stored as it is.
  EXPECT_EQ(volume->Stat(Put(*volume, "x", Op())->key)->compression, "identity");
}

TEST_F(TreeVolumeTest, W7_AnUnknownCompressionIsNamed) {
  auto volume = NewVolume(fs_, {.name = "v", .depth = 1}, {});
  const ContentKey key = Put(*volume, "a content", Op())->key;
  const std::string path = "v/blocks/" + key.signature.Hex();
  ASSERT_TRUE(io::ReplaceFile(fs_, path, FormatBlockHeader({"later", "quantum", 9, 1}) + "?"));
  const Error error = volume->Retrieve(key).error();
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_THAT(error.text, HasSubstr("quantum"));
  TreeVolume::Options options;
  options.compression = CompressionTable({{"*", {"br", 1}}});
  volume = nullptr;
  EXPECT_EQ(TreeVolume::Open(fs_, "v", options).error().code, ErrorCode::kInvalid);
}

TEST_F(TreeVolumeTest, W9_StatesSayWhatIsTaken) {
  auto volume = NewVolume(fs_, {}, {});
  const ContentKey key = Put(*volume, "old", Op())->key;
  ASSERT_TRUE(volume->SetState(VolumeState::kReadOnly));
  EXPECT_EQ(Put(*volume, "new", Op()).error().code, ErrorCode::kFull);
  EXPECT_EQ(Put(*volume, "old", Op())->key, key);
  EXPECT_EQ(Put(*volume, "old", Op(), StoreMode::kCompare)->key, key);
  EXPECT_TRUE(volume->Delete(key, Op()));
  ASSERT_TRUE(volume->SetState(VolumeState::kFrozen));
  EXPECT_EQ(Put(*volume, "old", Op()).error().code, ErrorCode::kFull);
  EXPECT_EQ(volume->Delete(key, Op()).error().code, ErrorCode::kFull);
  EXPECT_EQ(Get(*volume, key), "old");
  volume = nullptr;
  volume = OpenVolume(fs_, "v", {});
  EXPECT_EQ(volume->state(), VolumeState::kFrozen);
  ASSERT_TRUE(volume->SetState(VolumeState::kWritable));
  EXPECT_TRUE(Put(*volume, "new", Op()));
  EXPECT_EQ(volume->SetState(VolumeState::kFull).error().code, ErrorCode::kInvalid);
}

TEST_F(TreeVolumeTest, W9_AVolumeIsFullByItselfAndNoLongerWhenSpaceComesBack) {
  auto volume = NewVolume(fs_, {.name = "v", .capacity_bytes = 500}, {});
  const ContentKey key = Put(*volume, std::string(300, 'a'), Op(), StoreMode::kRegular, "x/x")->key;
  EXPECT_EQ(volume->state(), VolumeState::kFull);
  EXPECT_EQ(Put(*volume, "b", Op()).error().code, ErrorCode::kFull);
  EXPECT_TRUE(Put(*volume, std::string(300, 'a'), Op()));
  EXPECT_TRUE(volume->Delete(key, Op()));
  EXPECT_TRUE(volume->Delete(key, Op()));
  EXPECT_EQ(volume->state(), VolumeState::kWritable);
  EXPECT_TRUE(Put(*volume, "b", Op()));
  EXPECT_THAT(*fs_.List("v/temporary"), IsEmpty());
}

TEST_F(TreeVolumeTest, W9_AVolumeIsFullBeforeItsDiskIs) {
  TreeVolume::Options options;
  options.disk_reserve_bytes = 1000;
  options.disk.moment = std::chrono::milliseconds(0);
  auto volume = NewVolume(fs_, {}, options);
  const ContentKey key = Put(*volume, "old", Op())->key;
  fs_.SetFreeBytes(1000 + 200);
  EXPECT_EQ(volume->state(), VolumeState::kWritable);
  EXPECT_EQ(
      Put(*volume, std::string(100, 'x'), Op(), StoreMode::kRegular, "image/png").error().code,
      ErrorCode::kFull);
  EXPECT_TRUE(Put(*volume, "small", Op()));
  fs_.SetFreeBytes(1000);
  EXPECT_EQ(volume->state(), VolumeState::kFull);
  EXPECT_EQ(Put(*volume, "new", Op()).error().code, ErrorCode::kFull);
  EXPECT_EQ(Put(*volume, "old", Op())->key, key);
  EXPECT_TRUE(volume->Delete(key, Op()));
  fs_.SetFreeBytes(1 << 20);
  EXPECT_TRUE(Put(*volume, "new", Op()));
}

TEST_F(TreeVolumeTest, AReferenceToAMissingBlockCanBeReleased) {
  auto volume = NewVolume(fs_, {.name = "v", .depth = 1}, {});
  const ContentKey key = Put(*volume, "a content", Op())->key;
  ASSERT_TRUE(Put(*volume, "a content", Op()));
  ASSERT_TRUE(fs_.Remove("v/blocks/" + key.signature.Hex()));
  EXPECT_TRUE(volume->Delete(key, Op()));
  EXPECT_TRUE(volume->Delete(key, Op()));
  EXPECT_THAT(Findings(*volume), IsEmpty());
}

TEST_F(TreeVolumeTest, EmptyContentsAreContents) {
  auto volume = NewVolume(fs_, {}, {});
  for (const StoreMode mode : {StoreMode::kRegular, StoreMode::kCompare, StoreMode::kForceNew}) {
    const auto stored = Put(*volume, "", Op(), mode);
    ASSERT_TRUE(stored);
    EXPECT_EQ(Get(*volume, stored->key), "");
  }
  EXPECT_EQ(volume->Stats()->blocks, 2u);
  EXPECT_THAT(Findings(*volume), IsEmpty());
}

// A content nobody has in memory: `size` bytes of a pattern.
class PatternSource final : public io::Source {
 public:
  explicit PatternSource(std::uint64_t size) : rest_(size) {}
  Result<std::size_t> Read(std::span<char> out) override {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(rest_, out.size()));
    largest_ = std::max(largest_, out.size());
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<char>((rest_ - i) % 251);
    rest_ -= n;
    return n;
  }
  std::size_t largest() const { return largest_; }

 private:
  std::uint64_t rest_;
  std::size_t largest_ = 0;
};

TEST_F(TreeVolumeTest, LargeContentsPassInPieces) {
  constexpr std::uint64_t kSize = 40 << 20;
  auto volume = NewVolume(fs_, {}, {});
  PatternSource first(kSize);
  const auto signing = volume->signature().NewStream();
  std::string piece(1 << 16, '\0');
  while (*first.Read(piece) > 0) signing->Update(piece);
  StoreRequest request{signing->Finish(), kSize, StoreMode::kCompare, "text/plain", Op()};
  PatternSource second(kSize);
  const Result<Stored> stored = volume->Store(request, second);
  ASSERT_TRUE(stored) << stored.error().text;
  EXPECT_LE(second.largest(), 64u << 10);
  request.operation = Op();
  PatternSource third(kSize);
  EXPECT_EQ(volume->Store(request, third)->key, stored->key);
  const Result<BlockInfo> info = volume->Stat(stored->key);
  EXPECT_EQ(info->references, 2u);
  EXPECT_EQ(info->size, kSize);
  EXPECT_EQ(info->compression, "gzip");
  EXPECT_THAT(Findings(*volume), IsEmpty());
}

TEST_F(TreeVolumeTest, AContentThatIsNotWhatTheRequestSaysIsRefused) {
  for (const std::uint64_t memory : {std::uint64_t{2}, std::uint64_t{100}}) {
    TreeVolume::Options options;
    options.memory_bytes_max = memory;
    const std::string name = "v" + std::to_string(memory);
    auto volume = NewVolume(fs_, {.name = name}, options);
    const StoreRequest request = RequestFor(*volume, "a content", Op());
    for (const char* lie : {"b content", "a content and more", "a", ""}) {
      io::MemorySource source(lie);
      EXPECT_EQ(volume->Store(request, source).error().code, ErrorCode::kInvalid) << lie;
    }
    EXPECT_EQ(volume->Stats()->blocks, 0u);
    EXPECT_THAT(*fs_.List(name + "/temporary"), IsEmpty());
    StoreRequest foreign = request;
    foreign.signature = RabinSignatures().Of("x");
    EXPECT_EQ(volume->Reference(foreign).error().code, ErrorCode::kInvalid);
    foreign = request;
    foreign.operation.owner = "two words";
    EXPECT_EQ(volume->Reference(foreign).error().code, ErrorCode::kInvalid);
  }
}

TEST_F(TreeVolumeTest, FlippedBitsAreFoundAndNamed) {
  auto volume = NewVolume(fs_, {.name = "v", .depth = 1}, {});
  const std::string content = "text that is long enough to be compressed, text that is long enough";
  const ContentKey key = Put(*volume, content, Op())->key;
  ASSERT_TRUE(Put(*volume, "another", Op()));
  const std::string path = "v/blocks/" + key.signature.Hex();
  const std::string good = Read(path);
  // Who wrote the block does not matter to what is in it.
  for (std::size_t at = 0; at < good.size(); ++at) {
    if (at >= 24 && at < 50) continue;
    std::string bad = good;
    bad[at] ^= 0x01;
    ASSERT_TRUE(io::ReplaceFile(fs_, path, bad));
    const std::vector<std::string> findings = Findings(*volume);
    // The gzip header's flag for text, time and system are not part of the content.
    if (at >= kBlockHeaderSize + 3 && at < kBlockHeaderSize + 10) continue;
    ASSERT_EQ(findings.size(), 1u) << "byte " << at;
    EXPECT_THAT(findings[0], HasSubstr(key.Text()));
  }
  ASSERT_TRUE(io::ReplaceFile(fs_, path, good.substr(0, good.size() - 1)));
  EXPECT_EQ(ReadAll(volume->Retrieve(key)).error().code, ErrorCode::kCorrupt);
  ASSERT_TRUE(io::ReplaceFile(fs_, path, good + "x"));
  EXPECT_EQ(ReadAll(volume->Retrieve(key)).error().code, ErrorCode::kCorrupt);
  ASSERT_TRUE(fs_.Remove(path));
  EXPECT_THAT(Findings(*volume), ElementsAre(key.Text() + ": the block is missing"));
}

TEST_F(TreeVolumeTest, ADamagedBlockIsNoDuplicate) {
  auto volume = NewVolume(fs_, {.name = "v", .depth = 1}, {});
  const ContentKey key = Put(*volume, "a content", Op())->key;
  ASSERT_TRUE(io::ReplaceFile(fs_, "v/blocks/" + key.signature.Hex(), "not a block"));
  const auto again = Put(*volume, "a content", Op());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->key.overflow, 1u);
  EXPECT_EQ(Get(*volume, again->key), "a content");
}

TEST_F(TreeVolumeTest, ForeignKeysAndFilesAreToldApart) {
  auto volume = NewVolume(fs_, {}, {});
  ContentKey key = Put(*volume, "a content", Op())->key;
  ASSERT_TRUE(io::ReplaceFile(fs_, "v/blocks/notes.txt", "hello"));
  EXPECT_THAT(Findings(*volume), ElementsAre("v/blocks/notes.txt: does not belong here"));
  key.volume = "w";
  EXPECT_EQ(volume->Retrieve(key).error().code, ErrorCode::kInvalid);
  key = {"v", RabinSignatures().Of("x"), 0};
  EXPECT_EQ(volume->Retrieve(key).error().code, ErrorCode::kNotFound);
}

TEST_F(TreeVolumeTest, AVolumeIsMadeOnceAndOpenedOnce) {
  EXPECT_EQ(TreeVolume::Open(fs_, "v", {}).error().code, ErrorCode::kNotFound);
  auto volume = NewVolume(fs_, {.name = "v", .signature = "rabin64"}, {});
  EXPECT_EQ(TreeVolume::Create(fs_, "v", {.name = "v"}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(TreeVolume::Open(fs_, "v", {}).error().code, ErrorCode::kBusy);
  volume = nullptr;
  EXPECT_EQ(TreeVolume::Open(fs_, "v", WeakOptions()).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(OpenVolume(fs_, "v", {})->shape().signature, "rabin64");
  ASSERT_TRUE(io::ReplaceFile(fs_, "v/volume", "STELE-TREE-VOLUME 2\n"));
  EXPECT_EQ(TreeVolume::Open(fs_, "v", {}).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace stele::store
