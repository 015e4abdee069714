// The power goes while a member of an instance and its directory in RocksDB work on one disk.
// Whatever was not synced is lost, kept in part or garbled; every stub, move, debt and epoch that
// was acknowledged is there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "io/fault_file_system.h"
#include "store/container_rocks_table.h"
#include "store/container_test_lab.h"
#include "store/test_member.h"
#include "store/test_rocks_machine.h"
#include "util/test_stride.h"

namespace stele::store {
namespace {

// Member "v", until the disk goes.
class MemberMachine {
 public:
  explicit MemberMachine(io::FileSystem& fs) : env_(fs) {
    auto volume = TreeVolume::Open(fs, "v", {});
    if (!volume) error_ = volume.error().text;
    if (!volume) return;
    auto table = OpenDurableRocksTableOn(env_, "v/directory");
    if (!table) error_ = table.error().text;
    if (!table) return;
    table_ = *std::move(table);
    auto member =
        Member::Open(fs, "v", *std::move(volume), std::make_unique<BorrowedTable>(*table_), {});
    if (!member) error_ = member.error().text;
    if (member) member_ = *std::move(member);
  }
  Member* member() { return member_.get(); }
  BlockTable& table() { return *table_; }
  const std::string& error() const { return error_; }

 private:
  RocksMachine env_;
  std::string error_;
  std::unique_ptr<BlockTable> table_;
  std::unique_ptr<Member> member_;
};

Signature SignatureOf(std::uint64_t number) {
  return Sha256Signatures().Of(std::to_string(number));
}

// What a member must know, once it has said so.
struct Knowledge {
  std::map<Signature, std::set<std::string>> stubs;
  std::map<ContentKey, ContentKey> moves;
  std::set<Signature> owed;
  std::uint64_t epoch = 0;
  Membership::Settled settled = Membership::Settled::kNo;
};

// Tells the member things and remembers what it has confirmed. Each of them can be told twice.
class Teller {
 public:
  explicit Teller(io::Random& dice) : dice_(dice) {}

  // Stops at the first error.
  void Work(MemberMachine& machine, int steps) {
    for (int i = 0; i < steps; ++i) {
      if (dice_.Next() % 20 == 0 && !machine.table().Flush()) return;
      open_ = NewTopic();
      if (!Finish(*machine.member())) return;
    }
  }

  // Tells once more what was not confirmed.
  bool Finish(Member& member) {
    if (!open_) return true;
    if (!open_->tell(member)) return false;
    known_ = open_->known_then;
    open_.reset();
    return true;
  }

  // What was confirmed, and of the rest at most what was told.
  void Verify(Member& member) {
    const Knowledge& then = open_ ? open_->known_then : known_;
    const Result<Membership> membership = member.GetMembership();
    ASSERT_TRUE(membership);
    const std::pair now(membership->composition.epoch, membership->settled);
    EXPECT_TRUE(now == std::pair(known_.epoch, known_.settled) ||
                now == std::pair(then.epoch, then.settled))
        << now.first << " " << static_cast<int>(now.second);
    for (const auto& [signature, volumes] : then.stubs) {
      const std::set<std::string> holders = HoldersOf(member, signature);
      for (const std::string& volume : known_.stubs[signature]) {
        EXPECT_TRUE(holders.contains(volume)) << signature.Hex() << " " << volume;
      }
      for (const std::string& volume : holders) EXPECT_TRUE(volumes.contains(volume));
    }
    for (const auto& [from, to] : then.moves) {
      const auto moved = member.MovedTo(from);
      ASSERT_TRUE(moved) << moved.error().text;
      EXPECT_TRUE(*moved == to || !known_.moves.contains(from)) << from.Text();
    }
    const auto listed = member.Owed(std::nullopt, 1000);
    ASSERT_TRUE(listed) << listed.error().text;
    std::set<Signature> owed;
    for (const OwedStub& stub : *listed) owed.insert(stub.signature);
    for (std::uint64_t number = 0; number < kSignatures; ++number) {
      const Signature signature = SignatureOf(number);
      const bool before = known_.owed.contains(signature);
      if (before == then.owed.contains(signature)) {
        EXPECT_EQ(owed.contains(signature), before) << signature.Hex();
      }
    }
  }

 private:
  static constexpr std::uint64_t kSignatures = 40;

  struct Topic {
    std::function<Status(Member&)> tell;
    Knowledge known_then;
  };

  static Composition CompositionOf(std::uint64_t epoch) {
    return {epoch, "sha256", Placement::kModulo, {"v", "w0", "w1"}};
  }
  static std::set<std::string> HoldersOf(Member& member, const Signature& signature) {
    StoreRequest question{signature, 1, StoreMode::kForceNew, "", {"me", "q"}};
    question.home.as_home = true;
    const Result<Lookup> found = member.Reference(question);
    EXPECT_TRUE(found) << found.error().text;
    return {found->elsewhere.begin(), found->elsewhere.end()};
  }

  Topic NewTopic() {
    const Signature signature = SignatureOf(dice_.Next() % kSignatures);
    switch (known_.epoch == 0 ? 0 : dice_.Next() % 10) {
      case 0:
        return NewEpoch();
      case 1:
        return Settling();
      case 2:
      case 3:
        return Moving(signature);
      case 4:
        return Forgetting(signature);
      case 5:
      case 6:
        return Claiming(signature);
      default:
        return Publishing(signature);
    }
  }
  Topic NewEpoch() {
    Topic topic{[epoch = known_.epoch + 1](Member& member) {
                  return member.Join(CompositionOf(epoch), "", false);
                },
                known_};
    ++topic.known_then.epoch;
    topic.known_then.settled = Membership::Settled::kNo;
    return topic;
  }
  Topic Settling() {
    Topic topic{[epoch = known_.epoch](Member& member) {
                  return member.Settle(epoch, Membership::Settled::kAll);
                },
                known_};
    topic.known_then.settled = Membership::Settled::kAll;
    return topic;
  }
  Topic Moving(const Signature& signature) {
    const ContentKey from{"v", signature, 0};
    const ContentKey to{"w1", signature, 3};
    Topic topic{[from, to](Member& member) { return member.LogMove(from, to); }, known_};
    topic.known_then.moves.emplace(from, to);
    return topic;
  }
  Topic Forgetting(const Signature& signature) {
    Topic topic{[signature](Member& member) { return member.Forget(std::span(&signature, 1)); },
                known_};
    topic.known_then.owed.erase(signature);
    return topic;
  }
  // Somebody claims the content, stores it elsewhere and says where.
  Topic Claiming(const Signature& signature) {
    const Operation operation{"me", fmt::format("c{}", ++operation_)};
    Topic topic{[=, epoch = known_.epoch](Member& member) -> Status {
                  StoreRequest request{signature, 1, StoreMode::kRegular, "", operation};
                  request.home = {.epoch = epoch, .as_home = true, .claim = true};
                  const Result<Lookup> found = member.Reference(request);
                  if (!found) return found.error();
                  return member.Publish({epoch, "w0", {signature}, operation});
                },
                known_};
    topic.known_then.stubs[signature].insert("w0");
    if (!CompositionOf(known_.epoch).IsHome("v", signature)) {
      topic.known_then.owed.insert(signature);
    }
    return topic;
  }
  Topic Publishing(const Signature& signature) {
    const std::vector<Signature> signatures = {signature, SignatureOf(dice_.Next() % kSignatures)};
    const std::string volume = fmt::format("w{}", dice_.Next() % 2);
    Topic topic{[=, epoch = known_.epoch](Member& member) {
                  return member.Publish({epoch, volume, signatures, std::nullopt});
                },
                known_};
    for (const Signature& each : signatures) topic.known_then.stubs[each].insert(volume);
    return topic;
  }

  io::Random& dice_;
  int operation_ = 0;
  Knowledge known_;
  std::optional<Topic> open_;  // what was told last and not confirmed
};

TEST(DirectoryPower, W11_WhatAMemberConfirmedSurvivesThreeHundredPowerCuts) {
  int cut_at_work = 0;
  for (std::uint64_t seed = 0; seed < 30; seed += kTestStride) {
    io::SeededRandom dice(seed);
    io::MemoryFileSystem disk;
    ASSERT_TRUE(TreeVolume::Create(disk, "v", {.name = "v"}));
    Teller teller(dice);
    for (int cut = 0; cut < 10; ++cut) {
      SCOPED_TRACE(fmt::format("seed {} cut {}", seed, cut));
      {
        io::FaultFileSystem faults(disk, 1 + static_cast<int>(dice.Next() % 400));
        MemberMachine machine(faults);
        if (machine.member() != nullptr) teller.Work(machine, 100);
        if (faults.Fails()) ++cut_at_work;
        faults.FailFromNowOn();  // RocksDB's threads may still be at work
      }
      disk.Crash(dice);
      MemberMachine machine(disk);
      ASSERT_NE(machine.member(), nullptr) << machine.error();
      teller.Verify(*machine.member());
      ASSERT_TRUE(teller.Finish(*machine.member()));
      teller.Verify(*machine.member());
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(cut_at_work, 100 / kTestStride);
}

}  // namespace
}  // namespace stele::store
