#include "store/owned_volume.h"

#include <gmock/gmock.h>

#include <atomic>
#include <limits>
#include <thread>

#include "io/memory_file_system.h"
#include "store/test_volume.h"

namespace stele::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Every byte that is read counts.
class CountedSource final : public io::Source {
 public:
  explicit CountedSource(std::string_view bytes) : base_(bytes) {}
  Result<std::size_t> Read(std::span<char> out) override {
    Result<std::size_t> read = base_.Read(out);
    if (read) count += *read;
    return read;
  }
  std::size_t count = 0;

 private:
  io::MemorySource base_;
};

class OwnedVolumeTest : public testing::Test {
 protected:
  OwnedVolumeTest()
      : base_(NewVolume(fs_, {}, {})), one_(*base_, "one", {}), two_(*base_, "two", {}) {}

  StoreRequest For(const OwnedVolume& volume, std::string_view content, const std::string& id,
                   StoreMode mode = StoreMode::kRegular) {
    return RequestFor(*base_, content, {volume.owner(), id}, mode);
  }
  Result<Stored> Add(OwnedVolume& volume, std::string_view content, const std::string& id,
                     StoreMode mode = StoreMode::kRegular) {
    const StoreRequest request = For(volume, content, id, mode);
    const Result<Lookup> found = volume.Reference(request);
    if (!found) return found.error();
    if (found->outcome == Lookup::Outcome::kReferenced) return Stored{*found->key, false};
    io::MemorySource source(content);
    return volume.Store(request, source);
  }

  io::MemoryFileSystem fs_;
  std::unique_ptr<TreeVolume> base_;
  OwnedVolume one_;
  OwnedVolume two_;
};

TEST_F(OwnedVolumeTest, W6_KnowingAKeyOrASignatureGivesNothing) {
  const ContentKey key = Add(one_, "secret", "1")->key;
  for (const StoreMode mode : {StoreMode::kRegular, StoreMode::kCompare, StoreMode::kForceNew}) {
    EXPECT_EQ(two_.Reference(For(two_, "secret", "1", mode))->outcome, Lookup::Outcome::kUnknown);
  }
  const Error unknown = two_.Retrieve(key).error();
  EXPECT_EQ(unknown.code, ErrorCode::kNotFound);
  EXPECT_EQ(unknown.text, "there is no content " + key.Text());
  EXPECT_EQ(two_.Stat(key).error().text, unknown.text);
  EXPECT_EQ(two_.Refer(key, {"two", "2"}).error().text, unknown.text);
  EXPECT_EQ(two_.Delete(key, {"two", "3"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(*two_.Held(key, "two"), 0u);
  EXPECT_THAT(*two_.Operations(key, std::nullopt, 10), IsEmpty());
  EXPECT_THAT(*two_.List({}), IsEmpty());
  // Bytes that are not those of the signature do not help, however the request is called.
  for (const StoreMode mode : {StoreMode::kRegular, StoreMode::kCompare, StoreMode::kForceNew}) {
    io::MemorySource wrong("guess!");
    EXPECT_EQ(two_.Store(For(two_, "secret", "4", mode), wrong).error().code, ErrorCode::kInvalid);
  }
  EXPECT_EQ(*base_->Held(key, "two"), 0u);
}

TEST_F(OwnedVolumeTest, W6_WhoeverSendsTheBytesGetsAReferenceAndNoSecondBlock) {
  const ContentKey key = Add(one_, "shared", "1")->key;
  CountedSource bytes("shared");
  const Result<Stored> stored = two_.Store(For(two_, "shared", "1"), bytes);
  ASSERT_TRUE(stored) << stored.error().text;
  EXPECT_EQ(stored->key, key);
  EXPECT_FALSE(stored->is_new);
  EXPECT_EQ(bytes.count, 6u);
  EXPECT_EQ(base_->Stats()->blocks, 1u);
  // From now on it is a duplicate like any other.
  EXPECT_EQ(two_.Reference(For(two_, "shared", "2"))->key, key);
  EXPECT_EQ(two_.Reference(For(two_, "shared", "2"))->key, key);
  EXPECT_EQ(two_.Reference(For(two_, "shared", "3", StoreMode::kCompare))->outcome,
            Lookup::Outcome::kCandidate);
  EXPECT_EQ(two_.Stat(key)->references, 2u);
  EXPECT_EQ(base_->Stat(key)->references, 3u);
  EXPECT_EQ(Get(two_, key), "shared");
  EXPECT_EQ(two_.Operations(key, std::nullopt, 10)->size(), 2u);
  EXPECT_EQ(two_.List({})->front().references, 2u);
  EXPECT_EQ(two_.Owners()->front(), (OwnerUsage{"two", 2, 12}));
  // What one owner deletes the other keeps.
  EXPECT_TRUE(one_.Delete(key, {"one", "2"}));
  EXPECT_EQ(one_.Retrieve(key).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Get(two_, key), "shared");
  EXPECT_THAT(Findings(*base_), IsEmpty());
}

TEST_F(OwnedVolumeTest, W6_NobodySpeaksForAnother) {
  const ContentKey key = Add(one_, "content", "1")->key;
  const StoreRequest foreign = For(two_, "content", "9");
  io::MemorySource source("content");
  EXPECT_EQ(one_.Reference(foreign).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(one_.Store(foreign, source).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(two_.Delete(key, {"one", "2"}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(two_.Refer(key, {"one", "2"}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(two_.Held(key, "one").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(two_.UsageOf("one").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(two_.List({.owner = "one"}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(two_.SetState(VolumeState::kFrozen).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(two_.Restore(key, 7, source).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(two_.Compact({}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(two_.Stats().error().code, ErrorCode::kInvalid);
  EXPECT_EQ(two_.Verify({[](const Finding&) {}}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ReferencesOf(*base_, key), 1u);
}

TEST_F(OwnedVolumeTest, W6_AQuotaIsNeverExceeded) {
  OwnedVolume bytes(*base_, "bytes", {.content_bytes_max = 10});
  const ContentKey key = Add(bytes, "12345", "1")->key;
  EXPECT_TRUE(Add(bytes, "12345", "2"));
  const Result<Stored> refused = Add(bytes, "1", "3");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(IsQuotaError(refused.error()));
  EXPECT_THAT(refused.error().text, HasSubstr("bytes holds 10 of 10 bytes in volume v"));
  EXPECT_TRUE(IsQuotaError(Add(bytes, "12345", "4").error()));
  EXPECT_TRUE(IsQuotaError(bytes.Refer(key, {"bytes", "5"}).error()));
  // Nor by a size with which the sum begins at 0 again.
  StoreRequest endless = For(bytes, "1", "3");
  endless.size = std::numeric_limits<std::uint64_t>::max() - 4;
  io::MemorySource one("1");
  EXPECT_TRUE(IsQuotaError(bytes.Store(endless, one).error()));
  // What was done before is answered as before.
  EXPECT_EQ(Add(bytes, "12345", "1")->key, key);
  EXPECT_TRUE(bytes.Refer(key, {"bytes", "2"}));
  io::MemorySource source("12345");
  EXPECT_EQ(bytes.Store(For(bytes, "12345", "2"), source)->key, key);
  EXPECT_TRUE(Add(bytes, "", "6"));
  EXPECT_TRUE(bytes.Delete(key, {"bytes", "7"}));
  EXPECT_TRUE(Add(bytes, "1", "8"));
  EXPECT_EQ(*bytes.UsageOf("bytes"), (OwnerUsage{"bytes", 3, 6}));

  OwnedVolume few(*base_, "few", {.references_max = 1});
  EXPECT_TRUE(Add(few, "12345", "1"));
  EXPECT_THAT(Add(few, "", "2").error().text, HasSubstr("few holds 1 of 1 references"));
  EXPECT_FALSE(IsQuotaError({ErrorCode::kInvalid, "other"}));
}

TEST_F(OwnedVolumeTest, W6_AQuotaHoldsForManyThreads) {
  OwnedVolume some(*base_, "some", {.references_max = 50});
  std::atomic<int> stored = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string id = std::to_string(t) + "-" + std::to_string(i);
        const Result<Stored> done = Add(some, std::to_string(i % 5), id);
        if (done) ++stored;
        if (!done) {
          EXPECT_TRUE(IsQuotaError(done.error()));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(stored, 50);
  EXPECT_EQ(some.UsageOf("some")->references, static_cast<std::uint64_t>(stored));
  for (int i = 0; stored + i < 50; ++i) EXPECT_TRUE(Add(some, "last", std::to_string(i)));
  EXPECT_EQ(some.UsageOf("some")->references, 50u);
}

}  // namespace
}  // namespace stele::store
