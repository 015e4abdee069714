#include "store/member.h"

#include <gmock/gmock.h>

#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "store/test_team.h"

namespace stele::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Outcome = Lookup::Outcome;

// Does something when its content has been read.
class ActingSource final : public io::Source {
 public:
  ActingSource(std::string_view content, std::function<void()> act)
      : base_(content), act_(std::move(act)) {}
  Result<std::size_t> Read(std::span<char> out) override {
    Result<std::size_t> read = base_.Read(out);
    if (*read == 0 && act_) std::exchange(act_, nullptr)();
    return read;
  }

 private:
  io::MemorySource base_;
  std::function<void()> act_;
};

// v0 of two.
class MemberTest : public testing::Test {
 protected:
  MemberTest() { EXPECT_TRUE(member_.Join(lab_.Of(2, 1, Placement::kModulo), "", true)); }

  StoreRequest RequestOf(std::string_view content, const std::string& id, bool as_home = true) {
    StoreRequest request{lab_.Sign(content), content.size(), StoreMode::kRegular, "", {"me", id}};
    request.home.epoch = 1;
    request.home.as_home = as_home;
    return request;
  }
  Result<Stored> StoreIt(const StoreRequest& request, std::string_view content) {
    io::MemorySource source(content);
    return member_.Store(request, source);
  }
  // A content whose home is v0, or v1.
  std::string ContentAt(std::size_t home) {
    for (;; ++number_) {
      const std::string content = "content " + std::to_string(number_);
      if (lab_.Sign(content).Modulo(2) == home && ++number_ > 0) return content;
    }
  }
  Stubs StubsOf(const std::string& content, const std::string& volume, const std::string& id) {
    return {1, volume, {lab_.Sign(content)}, Operation{"me", id}};
  }

  TeamLab lab_{2};
  Member& member_ = lab_.member("v0");
  int number_ = 0;
};

TEST_F(MemberTest, W11_AHomeSaysWhereAContentLies) {
  const std::string content = ContentAt(0);
  EXPECT_THAT(member_.Reference(RequestOf(content, "1"))->elsewhere, IsEmpty());
  ASSERT_TRUE(member_.Publish(StubsOf(content, "v1", "1")));
  const Result<Lookup> found = member_.Reference(RequestOf(content, "2"));
  EXPECT_EQ(found->outcome, Outcome::kUnknown);
  EXPECT_THAT(found->elsewhere, ElementsAre("v1"));
  // Whoever has not asked there makes no block.
  EXPECT_EQ(StoreIt(RequestOf(content, "2"), content).error().code, ErrorCode::kBusy);
  StoreRequest request = RequestOf(content, "2");
  request.home.asked = {"v1"};
  EXPECT_TRUE(StoreIt(request, content));
  EXPECT_EQ(member_.Reference(RequestOf(content, "3"))->outcome, Outcome::kReferenced);
}

TEST_F(MemberTest, W11_AClaimOfAnEndlessContentKeepsOthersWaitingToo) {
  const std::string content = ContentAt(0);
  StoreRequest claiming = RequestOf(content, "1");
  claiming.home.claim = true;
  claiming.size = 100'000'000'000'000'000;  // of which a nanosecond count has no room
  ASSERT_TRUE(member_.Reference(claiming));
  EXPECT_EQ(member_.Reference(RequestOf(content, "2")).error().code, ErrorCode::kBusy);
}

TEST_F(MemberTest, W11_AClaimKeepsOthersWaiting) {
  const std::string content = ContentAt(0);
  StoreRequest claiming = RequestOf(content, "1");
  claiming.home.claim = true;
  EXPECT_EQ(member_.Reference(claiming)->outcome, Outcome::kUnknown);
  EXPECT_EQ(member_.Reference(claiming)->outcome, Outcome::kUnknown);  // its own again
  EXPECT_EQ(member_.Reference(RequestOf(content, "2")).error().code, ErrorCode::kBusy);
  EXPECT_EQ(StoreIt(RequestOf(content, "2"), content).error().code, ErrorCode::kBusy);
  ASSERT_TRUE(member_.Publish(StubsOf(content, "v1", "1")));
  EXPECT_THAT(member_.Reference(RequestOf(content, "2"))->elsewhere, ElementsAre("v1"));

  const std::string other = ContentAt(0);
  claiming = RequestOf(other, "3");
  claiming.home.claim = true;
  ASSERT_TRUE(member_.Reference(claiming));
  EXPECT_EQ(member_.Reference(RequestOf(other, "4")).error().code, ErrorCode::kBusy);
  ASSERT_TRUE(member_.GiveBack(claiming.signature, claiming.operation));
  EXPECT_TRUE(StoreIt(RequestOf(other, "4"), other)->is_new);
}

TEST_F(MemberTest, W11_AClaimThatComesWhileAContentIsSentGoesFirst) {
  const std::string content = ContentAt(0);
  StoreRequest claiming = RequestOf(content, "2");
  claiming.home.claim = true;
  ActingSource source(content, [&] { EXPECT_TRUE(member_.Reference(claiming)); });
  EXPECT_EQ(member_.Store(RequestOf(content, "1"), source).error().code, ErrorCode::kBusy);
  EXPECT_EQ(member_.Stats()->blocks, 0u);
}

TEST_F(MemberTest, W8_AnotherEpochIsRefused) {
  const std::string content = ContentAt(0);
  StoreRequest request = RequestOf(content, "1");
  for (const std::uint64_t epoch : {2, 7}) {
    request.home.epoch = epoch;
    EXPECT_EQ(member_.Reference(request).error().code, ErrorCode::kOutdated);
    EXPECT_EQ(StoreIt(request, content).error().code, ErrorCode::kOutdated);
    Stubs stubs = StubsOf(content, "v1", "1");
    stubs.epoch = epoch;
    EXPECT_EQ(member_.Publish(stubs).error().code, ErrorCode::kOutdated);
    EXPECT_EQ(member_.Settle(epoch, Membership::Settled::kAll).error().code, ErrorCode::kOutdated);
  }
  request.home.epoch = 0;  // somebody who knows no epochs
  EXPECT_TRUE(StoreIt(request, content));
}

TEST_F(MemberTest, W8_AStoreThatIsOvertakenByAnEpochMakesNoBlock) {
  const std::string content = ContentAt(0);
  ActingSource source(content, [&] {
    ASSERT_TRUE(member_.Join(lab_.Of(2, 2, Placement::kRendezvous), "", false));
  });
  EXPECT_EQ(member_.Store(RequestOf(content, "1"), source).error().code, ErrorCode::kOutdated);
  EXPECT_EQ(member_.Stats()->blocks, 0u);
}

TEST_F(MemberTest, W8_EpochsOnlyRise) {
  ASSERT_TRUE(member_.Join(lab_.Of(2, 3, Placement::kModulo), "c", false));
  ASSERT_TRUE(member_.Join(lab_.Of(2, 3, Placement::kModulo), "c", false));
  EXPECT_EQ(member_.Join(lab_.Of(2, 2, Placement::kModulo), "", false).error().code,
            ErrorCode::kOutdated);
  EXPECT_EQ(member_.Join(lab_.Of(2, 3, Placement::kRendezvous), "", false).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(member_.Join(lab_.Of(2, 4, Placement::kModulo), "", true).error().code,
            ErrorCode::kOutdated);
  EXPECT_EQ(member_.Join({4, "sha256", Placement::kModulo, {"v1"}}, "", false).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(member_.GetMembership()->connector, "c");
  EXPECT_EQ(member_.GetMembership()->settled, Membership::Settled::kNo);
  ASSERT_TRUE(member_.Settle(3, Membership::Settled::kAll));
  ASSERT_TRUE(member_.Settle(3, Membership::Settled::kSelf));
  EXPECT_EQ(member_.GetMembership()->settled, Membership::Settled::kAll);
}

TEST_F(MemberTest, W11_AStandInRemembersWhatItOwes) {
  const std::string content = ContentAt(1);
  ASSERT_TRUE(StoreIt(RequestOf(content, "1"), content));
  const auto owed = member_.Owed(std::nullopt, 10);
  ASSERT_EQ(owed->size(), 1u);
  EXPECT_EQ(owed->front().signature, lab_.Sign(content));
  EXPECT_THAT(owed->front().holders, ElementsAre("v0"));
  const Signature paid[] = {lab_.Sign(content)};
  ASSERT_TRUE(member_.Forget(paid));
  // Not as a stand-in, by a client that knows the homes: nothing is owed. Without an epoch: yes.
  const std::string chosen = ContentAt(1);
  ASSERT_TRUE(StoreIt(RequestOf(chosen, "2", false), chosen));
  EXPECT_THAT(*member_.Owed(std::nullopt, 10), IsEmpty());
  const std::string by_curl = ContentAt(1);
  StoreRequest request = RequestOf(by_curl, "3", false);
  request.home.epoch = 0;
  ASSERT_TRUE(StoreIt(request, by_curl));
  EXPECT_EQ(member_.Owed(std::nullopt, 10)->size(), 1u);
}

TEST_F(MemberTest, W11_TheFilterHasWhatIsAtHomeElsewhere) {
  const std::string here = ContentAt(0);
  const std::string there = ContentAt(1);
  ASSERT_TRUE(StoreIt(RequestOf(here, "1", false), here));
  ASSERT_TRUE(StoreIt(RequestOf(there, "2", false), there));
  EXPECT_TRUE(member_.Filter()->MayContain(lab_.Sign(there)));
  EXPECT_FALSE(member_.Filter()->MayContain(lab_.Sign(here)));
}

TEST_F(MemberTest, W9_AMovedKeySendsItsUsersOn) {
  const std::string content = ContentAt(0);
  const ContentKey from = StoreIt(RequestOf(content, "1"), content)->key;
  const ContentKey to{"v1", from.signature, 0};
  ASSERT_TRUE(member_.LogMove(from, to));
  EXPECT_EQ(*member_.MovedTo(from), std::nullopt);  // it is still here
  EXPECT_EQ(member_.Depart(from, to, 7).error().code, ErrorCode::kBusy);
  ASSERT_TRUE(member_.Depart(from, to, 1));
  ASSERT_TRUE(member_.Depart(from, to, 1));
  EXPECT_EQ(member_.Depart(from, {"v2", from.signature, 0}, 1).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(*member_.MovedTo(from), to);
  EXPECT_EQ(member_.Delete(from, {"me", "2"}).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(member_.Stat(from).error().text, HasSubstr(to.Text()));
  EXPECT_TRUE(member_.Retrieve(from));  // as long as it is here
  // The old block takes no references any more; a new one gets a key of its own.
  const Result<Lookup> found = member_.Reference(RequestOf(content, "3"));
  EXPECT_EQ(found->outcome, Outcome::kUnknown);
  EXPECT_THAT(found->elsewhere, ElementsAre("v1"));
  ASSERT_TRUE(member_.volume().Delete(from, {"me", "4"}));
  EXPECT_EQ(StoreIt(RequestOf(content, "5"), content)->key.overflow, 1u);
}

TEST(MemberOpen, W8_AMemberThatLostItsDirectoryIsNotOpened) {
  io::MemoryFileSystem fs;
  ASSERT_TRUE(
      NewMember(fs, {.name = "v"})->Join({1, "sha256", Placement::kModulo, {"v"}}, "", true));
  ASSERT_TRUE(fs.Remove("v/directory"));
  const auto opened = OpenMember(fs, OpenVolume(fs, "v", {}));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(opened.error().text, HasSubstr("raise the epoch"));
}

// A stand-in whose disk goes may have made a block and told nobody; the home learns of it later.
TEST(MemberFailure, W11_AStandInOwesEveryBlockItHasWhereverItsDiskGoes) {
  const std::string content = "b";
  const StoreRequest request = [&] {
    StoreRequest as_home{WeakSignatures().Of(content), 1, StoreMode::kRegular, "", {"me", "1"}};
    as_home.home = {.epoch = 1, .as_home = true};
    return as_home;
  }();
  const Composition composition{1, "weak", Placement::kModulo, {"v0", "v1"}};
  const std::size_t home = composition.HomeOf(request.signature);
  const std::string name = composition.volumes[1 - home];
  int made_in_vain = 0;  // not acknowledged, and there
  bool finished = false;
  for (int fail_at = 1; !finished; ++fail_at) {
    SCOPED_TRACE(fail_at);
    ASSERT_LT(fail_at, 200);
    io::MemoryFileSystem disk;
    ASSERT_TRUE(NewMember(disk, {.name = name, .signature = "weak"}, WeakOptions())
                    ->Join(composition, "", true));
    {
      io::FaultFileSystem fs(disk, fail_at);
      Result<std::unique_ptr<TreeVolume>> volume = TreeVolume::Open(fs, name, WeakOptions());
      if (!volume) continue;
      const Result<std::unique_ptr<Member>> member = OpenMember(fs, *std::move(volume));
      if (!member) continue;
      io::MemorySource source(content);
      finished = (*member)->Store(request, source).ok();
    }
    const auto member = OpenMember(disk, OpenVolume(disk, name, WeakOptions()));
    ASSERT_TRUE(member) << member.error().text;
    const bool is_here = (*member)->Stats()->blocks == 1;
    made_in_vain += is_here && !finished ? 1 : 0;
    EXPECT_LE(is_here, (*member)->Owed(std::nullopt, 10)->size() == 1);
  }
  EXPECT_GT(made_in_vain, 0);
}

}  // namespace
}  // namespace stele::store
