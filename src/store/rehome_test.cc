// Instances whose members come, go, fill up and change their minds, against a plain count of what
// was acknowledged.
#include "store/rehome.h"
#include "store/copies.h"
#include "store/migrate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>
#include <thread>

#include "io/fault_file_system.h"
#include "store/migrate.h"
#include "store/test_team.h"

namespace stele::store {
namespace {

using testing::IsEmpty;

Instance::StoreOptions As(const std::string& owner, const std::string& id,
                          StoreMode mode = StoreMode::kRegular) {
  return {mode, "text/html", {owner, id}, std::nullopt};
}

// An application: what it stored, what it was told, and what it gave back.
class Client {
 public:
  Client(TeamLab& lab, const Composition& composition, std::string owner, StoreMode mode)
      : instance_(lab.Connect(composition)), owner_(std::move(owner)), mode_(mode) {}

  // With the weak signatures of tests, every fourth one has the same.
  static std::string ContentOf(std::uint64_t number) {
    return fmt::format("{}-{}", static_cast<char>('a' + number % 4), number);
  }

  bool Store(std::uint64_t number) {
    const std::string id = fmt::format("s{}", ++operations_);
    const Result<Stored> stored = instance_->Store(ContentOf(number), As(owner_, id, mode_));
    if (!stored) {
      failures_.push_back(stored.error().text);
      return false;
    }
    held_[number].push_back(stored->key);
    return true;
  }
  void Delete(std::uint64_t number) {
    std::vector<ContentKey>& keys = held_[number];
    if (keys.empty()) return;
    const Status deleted =
        instance_->Delete(keys.back(), {owner_, fmt::format("d{}", ++operations_)});
    EXPECT_TRUE(deleted) << deleted.error().text;
    keys.pop_back();
  }
  void Work(std::uint64_t seed, int steps, std::uint64_t contents) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < steps; ++i) {
      const std::uint64_t number = random() % contents;
      if (random() % 3 == 0) {
        Delete(number);
      } else {
        Store(number);
      }
    }
  }

  Instance& instance() { return *instance_; }
  const std::map<std::uint64_t, std::vector<ContentKey>>& held() const { return held_; }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  std::unique_ptr<Instance> instance_;
  const std::string owner_;
  const StoreMode mode_;
  int operations_ = 0;
  std::map<std::uint64_t, std::vector<ContentKey>> held_;
  std::vector<std::string> failures_;
};

// Nothing is lost and the counts are right; with `exact`, each content has one block.
void Verify(TeamLab& lab, std::vector<std::unique_ptr<Client>>& clients, bool exact) {
  std::map<std::uint64_t, std::map<ContentKey, std::uint64_t>> wanted;
  std::uint64_t references = 0;
  for (const auto& client : clients) {
    for (const auto& [number, keys] : client->held()) {
      for (const ContentKey& key : keys) ++wanted[number][key];
      references += keys.size();
    }
  }
  std::uint64_t blocks = 0;
  for (const auto& [number, keys] : wanted) {
    EXPECT_TRUE(keys.size() == 1 || !exact) << Client::ContentOf(number);
    for (const auto& [key, count] : keys) {
      ++blocks;
      const Result<std::string> content = ReadAll(clients.front()->instance().Retrieve(key));
      ASSERT_TRUE(content) << content.error().text;
      EXPECT_EQ(*content, Client::ContentOf(number));
      EXPECT_EQ(clients.front()->instance().Stat(key)->references, count) << key.Text();
    }
  }
  EXPECT_EQ(lab.Blocks(), blocks);
  EXPECT_EQ(lab.References(), references);
}

struct Case {
  int before;
  int after;
  Placement placement;
  bool weak;
};

std::string NameOf(const Case& of) {
  return fmt::format("{}_to_{}_{}{}", of.before, of.after, PlacementName(of.placement),
                     of.weak ? "_weak" : "");
}
void PrintTo(const Case& of, std::ostream* out) { *out << NameOf(of); }

class RehomeTest : public testing::TestWithParam<Case> {
 protected:
  std::vector<std::unique_ptr<Client>> Clients(TeamLab& lab, const Composition& composition,
                                               int count) {
    const StoreMode mode = GetParam().weak ? StoreMode::kCompare : StoreMode::kRegular;
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < count; ++i) {
      clients.push_back(std::make_unique<Client>(lab, composition, fmt::format("c{}", i), mode));
    }
    return clients;
  }
};

// Homes lose and find room while clients store the same contents: one block for each.
TEST_P(RehomeTest, W11_OneBlockForEachContentWhileStatesChange) {
  TeamLab lab(GetParam().before, GetParam().weak);
  auto clients = Clients(lab, lab.Of(GetParam().before, 1, GetParam().placement), 8);
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    threads.emplace_back([&, i] { clients[i]->Work(i + 1, 60, 12); });
  }
  std::thread changer([&] {
    std::mt19937_64 random(99);
    while (!done) {
      Member& member = lab.member(fmt::format("v{}", random() % GetParam().before));
      const bool closed = member.state() == VolumeState::kReadOnly;
      EXPECT_TRUE(member.SetState(closed ? VolumeState::kWritable : VolumeState::kReadOnly));
    }
  });
  for (std::thread& thread : threads) thread.join();
  done = true;
  changer.join();
  for (const auto& client : clients) {
    for (const std::string& failure : client->failures()) {
      EXPECT_THAT(failure, testing::AnyOf(testing::HasSubstr("takes no new blocks"),
                                          testing::HasSubstr("no volume takes new blocks")));
    }
  }
  Verify(lab, clients, true);
}

// A volume joins while clients work: they are refused, learn of it and go on, and find everything.
TEST_P(RehomeTest, W8_ClientsGoOnWhileTheEpochChanges) {
  TeamLab lab(GetParam().after, GetParam().weak);
  auto clients = Clients(lab, lab.Of(GetParam().before, 1, GetParam().placement), 8);
  for (std::uint64_t number = 0; number < 40; ++number) ASSERT_TRUE(clients[0]->Store(number));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    threads.emplace_back([&, i] { clients[i]->Work(i + 1, 80, 60); });
  }
  const auto admin = lab.Connect(lab.Of(GetParam().after, 2, GetParam().placement));
  RehomeOptions options;
  options.batch = 7;
  const Result<Rehomed> rehomed = Rehome(*admin, options);
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(rehomed) << rehomed.error().text;
  EXPECT_THAT(rehomed->failures, IsEmpty());
  for (const auto& client : clients) {
    EXPECT_THAT(client->failures(), IsEmpty());
    EXPECT_TRUE(client->Store(1000));
    EXPECT_EQ(client->instance().composition().epoch, 2u);
  }
  Verify(lab, clients, true);
  for (int i = 0; i < GetParam().after; ++i) {
    EXPECT_EQ(lab.member(fmt::format("v{}", i)).GetMembership()->settled,
              Membership::Settled::kAll);
  }
}

// Before any home is told, filters find what lies elsewhere; afterwards stubs do.
TEST_P(RehomeTest, W11_TheSearchIsExactBeforeAndAfterTheHomesAreTold) {
  TeamLab lab(GetParam().after, GetParam().weak);
  const Composition next = lab.Of(GetParam().after, 2, GetParam().placement);
  auto clients = Clients(lab, lab.Of(GetParam().before, 1, GetParam().placement), 2);
  for (std::uint64_t number = 0; number < 40; ++number) ASSERT_TRUE(clients[0]->Store(number));
  for (const std::string& name : next.volumes) {
    ASSERT_TRUE(lab.member(name).Join(next, "", false));
  }
  for (std::uint64_t number = 0; number < 50; ++number) ASSERT_TRUE(clients[1]->Store(number));
  Verify(lab, clients, true);
  ASSERT_THAT(Rehome(clients[1]->instance(), {})->failures, IsEmpty());
  for (std::uint64_t number = 0; number < 60; ++number) ASSERT_TRUE(clients[0]->Store(number));
  Verify(lab, clients, true);
}

INSTANTIATE_TEST_SUITE_P(Compositions, RehomeTest,
                         testing::Values(Case{1, 2, Placement::kModulo, false},
                                         Case{3, 4, Placement::kModulo, false},
                                         Case{3, 4, Placement::kRendezvous, false},
                                         Case{8, 9, Placement::kRendezvous, false},
                                         Case{3, 4, Placement::kModulo, true},
                                         Case{5, 6, Placement::kRendezvous, true}),
                         [](const auto& of) { return NameOf(of.param); });

class DeadHome : public testing::Test {
 protected:
  // A content whose home is v0.
  std::string Content() {
    for (;;) {
      const std::string content = "content " + std::to_string(++number_);
      if (lab_.Sign(content).Modulo(3) == 0) return content;
    }
  }
  Result<Stored> Put(const std::string& content) {
    return instance_->Store(content, As("me", std::to_string(++operations_)));
  }

  ContentKey PutIn(const std::string& volume, const std::string& content) {
    Instance::StoreOptions options = As("me", std::to_string(++operations_));
    options.volume = volume;
    const Result<Stored> stored = instance_->Store(content, options);
    EXPECT_TRUE(stored) << stored.error().text;
    return stored->key;
  }
  Result<Rehomed> RehomeAndMerge() {
    RehomeOptions options;
    options.merge = [&](const Signature& signature, MemberVolume& from, MemberVolume& to) {
      return mover_.Merge(signature, from, to);
    };
    return Rehome(*instance_, options);
  }

  TeamLab lab_{3};
  std::unique_ptr<Instance> instance_ = lab_.Connect(lab_.Of(3, 1, Placement::kModulo));
  io::SeededRandom random_{1};
  Mover mover_{*instance_, random_};
  int number_ = 0;
  int operations_ = 0;
};

TEST_F(DeadHome, W11_TheNextOneStandsInAndTellsTheHomeLater) {
  const std::string content = Content();
  lab_.Cut("v0", true);
  const Result<Stored> stored = Put(content);
  ASSERT_TRUE(stored) << stored.error().text;
  EXPECT_EQ(stored->key.volume, "v1");
  EXPECT_EQ(Put(content)->key, stored->key);
  const Result<Rehomed> waiting = Rehome(*instance_, {});
  ASSERT_TRUE(waiting);
  std::vector<std::string> texts;
  for (const Error& failure : waiting->failures) texts.push_back(failure.text);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "volume v0 does not answer"), 1)
      << testing::PrintToString(texts);
  lab_.Cut("v0", false);
  ASSERT_THAT(Rehome(*instance_, {})->failures, IsEmpty());
  EXPECT_THAT(*lab_.member("v1").Owed(std::nullopt, 9), IsEmpty());
  const Result<Stored> again = Put(content);
  EXPECT_EQ(again->key, stored->key);
  EXPECT_EQ(instance_->Stat(stored->key)->references, 3u);
  EXPECT_EQ(lab_.Blocks(), 1u);
}

TEST_F(DeadHome, W11_AStandInThatCannotJoinTellsTheHomeAllTheSame) {
  lab_.Cut("v0", true);
  ASSERT_TRUE(Put(Content()));
  lab_.Cut("v0", false);
  ASSERT_EQ(lab_.member("v1").Owed(std::nullopt, 9)->size(), 1u);
  const auto later = lab_.Connect(lab_.Of(3, 2, Placement::kModulo));
  lab_.Cram("v1", true);
  const Result<Rehomed> waiting = Rehome(*later, {});
  ASSERT_TRUE(waiting) << waiting.error().text;
  EXPECT_EQ(waiting->settled, 0u);
  EXPECT_THAT(*lab_.member("v1").Owed(std::nullopt, 9), IsEmpty());
  lab_.Cram("v1", false);
  ASSERT_THAT(Rehome(*later, {})->failures, IsEmpty());
}

TEST_F(DeadHome, W11_WhatBothHaveIsHandedToBeMerged) {
  const std::string content = Content();
  const ContentKey at_home = Put(content)->key;
  lab_.Cut("v0", true);
  const ContentKey at_stand_in = Put(content)->key;
  EXPECT_NE(at_home.volume, at_stand_in.volume);
  lab_.Cut("v0", false);
  EXPECT_EQ(Put(content)->key, at_home);
  std::vector<std::string> merged;
  RehomeOptions options;
  options.merge = [&](const Signature& signature, MemberVolume& from, MemberVolume& to) {
    merged.push_back(signature.Hex() + ' ' + from.name() + ' ' + to.name());
    return Status();
  };
  ASSERT_THAT(Rehome(*instance_, options)->failures, IsEmpty());
  EXPECT_THAT(merged, testing::ElementsAre(lab_.Sign(content).Hex() + " v1 v0"));
  EXPECT_EQ(instance_->Stat(at_home)->references, 2u);
  EXPECT_EQ(instance_->Stat(at_stand_in)->references, 1u);
}

TEST_F(DeadHome, W11_WhatBothHaveBecomesOneBlock) {
  const std::string content = Content();
  const std::string only_there = Content();
  const ContentKey at_home = Put(content)->key;
  lab_.Cut("v0", true);
  const ContentKey at_stand_in = Put(content)->key;
  const ContentKey alone = Put(only_there)->key;
  lab_.Cut("v0", false);
  EXPECT_EQ(lab_.Blocks(), 3u);
  ASSERT_THAT(RehomeAndMerge()->failures, IsEmpty());
  EXPECT_EQ(lab_.Blocks(), 2u);
  EXPECT_EQ(lab_.References(), 3u);
  EXPECT_EQ(instance_->Stat(at_home)->references, 2u);
  EXPECT_EQ(instance_->Stat(at_stand_in)->references, 2u);
  EXPECT_EQ(*ReadAll(instance_->Retrieve(at_stand_in)), content);
  EXPECT_EQ(lab_.member("v1").Stat(alone)->references, 1u);  // nothing to merge
  // Copies stay where they are for good reason.
  ASSERT_EQ(*Copies(*instance_, random_).Ensure(at_home, 2), 2);
  ASSERT_TRUE(mover_.Merge(at_home.signature, *instance_->Find("v1"), *instance_->Find("v0")));
  EXPECT_EQ(lab_.Blocks(), 3u);
  ASSERT_THAT(RehomeAndMerge()->failures, IsEmpty());
  EXPECT_EQ(lab_.Blocks(), 3u);
  ASSERT_TRUE(instance_->Delete(at_stand_in, {"me", "d1"}));
  ASSERT_TRUE(instance_->Delete(at_home, {"me", "d2"}));
  EXPECT_EQ(lab_.Blocks(), 2u);
}

TEST_F(DeadHome, W10_ASecondBlockForAHolderThatDidNotAnswerGoesWhenItDoes) {
  const std::string content = Content();
  const ContentKey chosen = PutIn("v2", content);
  EXPECT_EQ(Put(content)->key, chosen);
  lab_.Cut("v2", true);
  const ContentKey second = Put(content)->key;
  EXPECT_EQ(second.volume, "v0");
  EXPECT_THAT(RehomeAndMerge()->failures, testing::Not(IsEmpty()));
  EXPECT_EQ(lab_.Blocks(), 2u);
  lab_.Cut("v2", false);
  ASSERT_THAT(RehomeAndMerge()->failures, IsEmpty());
  EXPECT_EQ(lab_.Blocks(), 1u);
  EXPECT_EQ(lab_.References(), 3u);
  EXPECT_EQ(lab_.member("v2").Stat(chosen)->references, 3u);
  EXPECT_EQ(*ReadAll(instance_->Retrieve(second)), content);
  EXPECT_EQ(Put(content)->key, chosen);
  EXPECT_THAT(*lab_.member("v0").Owed(std::nullopt, 9), IsEmpty());
}

TEST_F(DeadHome, W10_TheSameWhereTheHomeTakesNoBlocks) {
  const std::string content = Content();
  const ContentKey chosen = PutIn("v2", content);
  ASSERT_TRUE(lab_.member("v0").SetState(VolumeState::kReadOnly));
  lab_.Cut("v2", true);
  const ContentKey second = Put(content)->key;
  EXPECT_EQ(second.volume, "v1");
  lab_.Cut("v2", false);
  ASSERT_THAT(RehomeAndMerge()->failures, IsEmpty());
  EXPECT_EQ(lab_.Blocks(), 1u);
  EXPECT_EQ(instance_->Stat(second)->references, 2u);
  EXPECT_EQ(*ReadAll(instance_->Retrieve(chosen)), content);
}

// The stand-in cannot know what only the home has been told.
TEST_F(DeadHome, W10_WhatTheStandInStoredJoinsWhatTheHomeKnowsOf) {
  const std::string content = Content();
  const ContentKey chosen = PutIn("v2", content);
  lab_.Cut("v0", true);
  EXPECT_EQ(Put(content)->key.volume, "v1");
  lab_.Cut("v0", false);
  ASSERT_THAT(RehomeAndMerge()->failures, IsEmpty());
  EXPECT_EQ(lab_.Blocks(), 1u);
  EXPECT_EQ(lab_.member("v2").Stat(chosen)->references, 2u);
}

TEST_F(DeadHome, W10_BlocksThatAClientWantedApartStayApart) {
  const std::string content = Content();
  PutIn("v1", content);
  PutIn("v2", content);
  lab_.Cut("v1", true);
  lab_.Cut("v2", true);
  EXPECT_EQ(Put(content)->key.volume, "v0");
  lab_.Cut("v1", false);
  lab_.Cut("v2", false);
  ASSERT_THAT(RehomeAndMerge()->failures, IsEmpty());
  EXPECT_EQ(lab_.member("v0").Stats()->blocks, 0u);
  EXPECT_EQ(lab_.member("v1").Stats()->blocks, 1u);
  EXPECT_EQ(lab_.member("v2").Stats()->blocks, 1u);
  EXPECT_EQ(lab_.References(), 3u);
}

TEST_F(DeadHome, W9_AKeyIsFollowedToWhereItsContentHasMoved) {
  const std::string content = Content();
  const ContentKey old_key = Put(content)->key;
  Instance::StoreOptions options = As("me", "copy");
  options.volume = "v2";
  const ContentKey new_key = instance_->Store(content, options)->key;
  ASSERT_TRUE(lab_.member("v2").LogMove(old_key, new_key));
  ASSERT_TRUE(lab_.member("v0").Depart(old_key, new_key, 1));
  ASSERT_TRUE(lab_.member("v0").volume().Delete(old_key, {"me", "moved"}));
  EXPECT_EQ(*ReadAll(instance_->Retrieve(old_key)), content);
  EXPECT_EQ(instance_->Stat(old_key)->references, 1u);
  EXPECT_EQ(Put(content)->key, new_key);
  // A volume that has left: the home knows.
  const ContentKey left{"v9", old_key.signature, 0};
  ASSERT_TRUE(lab_.member("v0").LogMove(left, new_key));
  EXPECT_EQ(*ReadAll(instance_->Retrieve(left)), content);
  ASSERT_TRUE(instance_->Delete(old_key, {"me", "d1"}));
  EXPECT_EQ(instance_->Stat(new_key)->references, 1u);
}

TEST_F(DeadHome, W9_WhatAFrozenHomeHoldsIsStoredElsewhereOnce) {
  const std::string content = Content();
  ASSERT_EQ(Put(content)->key.volume, "v0");
  ASSERT_TRUE(lab_.member("v0").SetState(VolumeState::kFrozen));
  const Result<Stored> second = Put(content);
  ASSERT_TRUE(second) << second.error().text;
  EXPECT_EQ(second->key.volume, "v1");
  EXPECT_EQ(Put(content)->key, second->key);
  EXPECT_EQ(lab_.Blocks(), 2u);
}

// One application, whose homes die and come back while it works. What was not acknowledged is done
// again with the same operation when all are back.
class StubbornClient {
 public:
  explicit StubbornClient(Instance& instance) : instance_(instance) {}

  void Store(std::uint64_t number) { Try({number, std::nullopt, NewId()}); }
  void Delete(std::uint64_t number) {
    std::vector<ContentKey>& keys = held_[number];
    if (keys.empty()) return;
    const ContentKey key = keys.back();
    keys.pop_back();
    Try({number, key, NewId()});
  }
  void TryAgain() {
    for (const Wish& wish : std::exchange(wishes_, {})) Try(wish);
    EXPECT_THAT(wishes_, IsEmpty());
  }

  // Each content is there under every key that was given for it, in one block, and has as many
  // references as were acknowledged.
  void Verify(TeamLab& lab) {
    std::uint64_t references = 0;
    std::uint64_t contents = 0;
    for (const auto& [number, keys] : held_) {
      const std::string content = Client::ContentOf(number);
      for (const ContentKey& key : keys) {
        const Result<std::string> read = ReadAll(instance_.Retrieve(key));
        ASSERT_TRUE(read) << read.error().text;
        EXPECT_EQ(*read, content);
      }
      std::uint64_t counted = 0;
      for (MemberVolume* volume : instance_.volumes()) {
        // Numbers whose contents have moved are not given again.
        for (std::uint32_t overflow = 0; overflow < 20; ++overflow) {
          const auto info = volume->Stat({volume->name(), lab.Sign(content), overflow});
          if (info) counted += info->references;
        }
      }
      EXPECT_EQ(counted, keys.size()) << content;
      references += keys.size();
      contents += keys.empty() ? 0 : 1;
    }
    EXPECT_EQ(lab.References(), references);
    EXPECT_EQ(lab.Blocks(), contents);
  }

 private:
  struct Wish {
    std::uint64_t number;
    std::optional<ContentKey> deletes;  // none: stores
    std::string id;
  };

  std::string NewId() { return fmt::format("o{}", ++operations_); }
  void Try(const Wish& wish) {
    if (wish.deletes) {
      if (!instance_.Delete(*wish.deletes, {"me", wish.id})) wishes_.push_back(wish);
      return;
    }
    const Result<Stored> stored =
        instance_.Store(Client::ContentOf(wish.number), As("me", wish.id));
    if (stored) held_[wish.number].push_back(stored->key);
    if (!stored) wishes_.push_back(wish);
  }

  Instance& instance_;
  int operations_ = 0;
  std::map<std::uint64_t, std::vector<ContentKey>> held_;
  std::vector<Wish> wishes_;
};

TEST(DyingHomes, W10_NothingIsLostOrCountedTwiceUnderRandomLoad) {
  constexpr int kMembers = 4;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    TeamLab lab(kMembers);
    const auto placement = seed % 2 == 0 ? Placement::kModulo : Placement::kRendezvous;
    const auto instance = lab.Connect(lab.Of(kMembers, 1, placement));
    StubbornClient client(*instance);
    const auto rehome = [&] {
      io::SeededRandom dice(seed);
      Mover mover(*instance, dice);
      RehomeOptions options;
      options.merge = [&](const Signature& signature, MemberVolume& from, MemberVolume& to) {
        return mover.Merge(signature, from, to);
      };
      return Rehome(*instance, options);
    };
    for (int step = 0; step < 300; ++step) {
      if (random() % 10 == 0) {
        lab.Cut(fmt::format("v{}", random() % kMembers), random() % 2 == 0);
      }
      const std::uint64_t number = random() % 25;
      if (random() % 3 == 0) {
        client.Delete(number);
      } else {
        client.Store(number);
      }
      if (step % 97 == 96) {
        ASSERT_TRUE(rehome());
      }
    }
    for (int i = 0; i < kMembers; ++i) lab.Cut(fmt::format("v{}", i), false);
    client.TryAgain();
    const Result<Rehomed> rehomed = rehome();
    ASSERT_TRUE(rehomed) << rehomed.error().text;
    for (const Error& failure : rehomed->failures) ADD_FAILURE() << failure.text;
    client.Verify(lab);
    if (HasFailure()) return;
  }
}

// The home's stub is durable before a client hears that its content is stored.
TEST(HomeDurability, W11_AStubIsDurableBeforeTheStoreIsAcknowledged) {
  const Composition composition{1, "sha256", Placement::kModulo, {"v0", "v1"}};
  std::string content = "content";
  while (Sha256Signatures().Of(content).Modulo(2) != 0) content += '!';
  const auto open = [&](io::FileSystem& fs) -> Result<std::unique_ptr<Instance>> {
    Instance::Composed composed{composition, "", {}};
    for (const std::string& name : composition.volumes) {
      Result<std::unique_ptr<TreeVolume>> volume = TreeVolume::Open(fs, name, {});
      if (!volume) return volume.error();
      Result<std::unique_ptr<Member>> member = OpenMember(fs, *std::move(volume));
      if (!member) return member.error();
      composed.members.push_back(*std::move(member));
    }
    Instance::Options options;
    options.signature = std::make_shared<Sha256Signatures>();
    return std::make_unique<Instance>(std::move(composed), std::move(options));
  };
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    for (const std::string& name : composition.volumes) {
      ASSERT_TRUE(NewMember(disk, {.name = name})->Join(composition, "", true));
    }
    {
      const auto instance = open(disk);
      ASSERT_TRUE((*instance)->Find("v0")->SetState(VolumeState::kReadOnly));
    }
    ASSERT_TRUE(disk.SyncDirectory("."));
    bool acknowledged = false;
    {
      io::FaultFileSystem fs(disk, fail_at);
      const auto instance = open(fs);
      acknowledged = instance && (*instance)->Store(content, As("me", "1")).ok();
    }
    disk.Crash();
    const auto instance = open(disk);
    ASSERT_TRUE(instance) << instance.error().text;
    StoreRequest request{
        Sha256Signatures().Of(content), content.size(), StoreMode::kRegular, "", {"me", "2"}};
    request.home = {.epoch = 1, .as_home = true};
    const Result<Lookup> found = (*instance)->Find("v0")->Reference(request);
    ASSERT_TRUE(found) << found.error().text;
    if (!acknowledged) continue;
    EXPECT_THAT(found->elsewhere, testing::ElementsAre("v1"));
    const Result<Stored> again = (*instance)->Store(content, As("me", "3"));
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_FALSE(again->is_new);
    EXPECT_EQ((*instance)->Stat(again->key)->references, 2u);
    break;
  }
}

}  // namespace
}  // namespace stele::store
