#include "catalog/pisa_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "catalog/pisa.h"
#include "catalog/pisa_test_lab.h"

namespace stele::catalog {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Another forest with one block that is not as it was.
class EditedForest final : public PisaForest {
 public:
  EditedForest(const PisaForest& base, PisaBlockNumber number, PisaBlock block)
      : base_(base), number_(number), block_(std::make_shared<PisaBlock>(std::move(block))) {}
  const std::vector<PisaPart>& parts() const override { return base_.parts(); }
  Result<PisaBlockPointer> Read(PisaBlockNumber number) const override {
    return number == number_ ? Result<PisaBlockPointer>(block_) : base_.Read(number);
  }
  Error Corrupt(PisaBlockNumber number, std::string_view what) const override {
    return base_.Corrupt(number, what);
  }

 private:
  const PisaForest& base_;
  const PisaBlockNumber number_;
  const PisaBlockPointer block_;
};

class PisaCheckTest : public testing::Test {
 protected:
  PisaCheckTest() : tree_({kSmallPisa}) {
    io::SeededRandom dice(2);
    for (const PisaCapture& one : MakeScenario({3000, 300, 10, 10}, dice)) {
      EXPECT_TRUE(tree_.Insert(one.key, one.birth, one.capture));
    }
  }

  // A block that is no root and fits.
  PisaBlockNumber Find(const std::function<bool(const PisaBlock&)>& fits) const {
    for (PisaBlockNumber number = tree_.block_count(); number-- > 0;) {
      const PisaBlockPointer block = *tree_.Read(number);
      bool is_root = false;
      for (const PisaRoot& root : tree_.parts()[0].roots) is_root |= root.block == number;
      if (!is_root && fits(*block)) return number;
    }
    ADD_FAILURE() << "no block fits";
    return 0;
  }
  PisaBlockNumber DeadData() const {
    return Find([](const PisaBlock& block) {
      return block.level() == 0 && block.death() != kEndOfTime && block.previous() != kNoPisaBlock;
    });
  }
  PisaBlockNumber LiveData() const {
    return Find([](const PisaBlock& block) {
      return block.level() == 0 && block.death() == kEndOfTime && !block.index_key().empty() &&
             block.previous() != kNoPisaBlock;
    });
  }

  // The block again, with other keys and versions. `edit` changes a key and a birth, and says
  // whether the version stays.
  using Edit = std::function<bool(std::size_t, std::string&, Timestamp&)>;
  PisaBlock Edited(PisaBlockNumber number, const Edit& edit) const {
    const PisaBlock& old = **tree_.Read(number);
    PisaBlock block(old.level(), std::string(old.index_key()), old.birth(), old.previous());
    for (std::size_t i = 0; i < old.key_count(); ++i) {
      for (std::size_t v = old.FirstVersion(i); v < old.FirstVersion(i + 1); ++v) {
        std::string key(old.Key(i));
        Timestamp birth = old.BirthOf(v);
        if (edit(i, key, birth)) block.Append(key, birth, old.ValueOf(v));
      }
    }
    block.Close(old.death());
    return block;
  }

  std::vector<std::string> Faults(PisaBlockNumber number, PisaBlock block) const {
    std::vector<std::string> found;
    const EditedForest forest(tree_, number, std::move(block));
    EXPECT_TRUE(CheckPisa(forest, kSmallPisa, [&](const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::kCorrupt);
      found.push_back(error.text);
    }));
    return found;
  }

  Pisa tree_;
};

TEST_F(PisaCheckTest, P1_FindsNothingInASoundTree) {
  const PisaBlockNumber number = LiveData();
  EXPECT_THAT(Faults(number, **tree_.Read(number)), testing::IsEmpty());
}

TEST_F(PisaCheckTest, P1_FindsBlocksThatAreTooSmall) {
  const PisaBlockNumber number = LiveData();
  const auto few = [](std::size_t i, std::string&, Timestamp&) { return i < 2; };
  EXPECT_THAT(Faults(number, Edited(number, few)),
              Contains(HasSubstr("Invariant 1: it has fewer live bytes")));
}

TEST_F(PisaCheckTest, P1_FindsBlocksThatAreTooLarge) {
  const PisaBlockNumber number = LiveData();
  PisaBlock block = **tree_.Read(number);
  for (std::int64_t i = 0; i < 30; ++i) {
    block.Append(block.Key(block.key_count() - 1), Timestamp{100000 + i}, 1);
  }
  EXPECT_THAT(Faults(number, block), Contains(HasSubstr("Invariant 1: it has more bytes")));
}

TEST_F(PisaCheckTest, P1_FindsNewBlocksWithoutRoom) {
  const PisaBlockNumber number = LiveData();
  PisaBlock block = **tree_.Read(number);
  const std::string last(block.Key(block.key_count() - 1));
  for (int i = 0; i < 20; ++i) {
    block.Append(last + std::string(1, static_cast<char>('a' + i)), kBeginningOfTime, 1);
  }
  const std::vector<std::string> faults = Faults(number, block);
  EXPECT_THAT(faults, Contains(HasSubstr("Invariant 2: it was born with more bytes")));
  EXPECT_THAT(faults, Contains(HasSubstr("Versions: an entry that is older than its block")));
}

TEST_F(PisaCheckTest, P1_FindsBlocksThatWereSplitTooEarly) {
  const PisaBlockNumber number = DeadData();
  std::size_t last = PisaBlock::kNone;
  const auto one_version = [&](std::size_t i, std::string&, Timestamp&) {
    return std::exchange(last, i) != i;
  };
  EXPECT_THAT(Faults(number, Edited(number, one_version)),
              Contains(HasSubstr("Observation 2: it was split before it was full")));
}

TEST_F(PisaCheckTest, P1_FindsKeysOutsideOfTheirRange) {
  const PisaBlockNumber number = LiveData();
  const auto behind = [](std::size_t, std::string& key, Timestamp&) {
    key.insert(0, "~");
    return true;
  };
  const auto before = [](std::size_t i, std::string& key, Timestamp&) {
    if (i == 0) key.clear();
    return true;
  };
  EXPECT_THAT(Faults(number, Edited(number, behind)),
              Contains(HasSubstr("Order: a key is behind its range")));
  EXPECT_THAT(Faults(number, Edited(number, before)),
              Contains(HasSubstr("Order: a key is before its range")));
}

TEST_F(PisaCheckTest, P1_FindsChildrenThatDieAtAnotherTime) {
  const PisaBlockNumber number = DeadData();
  PisaBlock block = **tree_.Read(number);
  block.Close(Timestamp{block.death().milliseconds + 1});
  const std::vector<std::string> faults = Faults(number, block);
  EXPECT_THAT(faults, Contains(HasSubstr("Index: an entry and its child do not die")));
  EXPECT_THAT(faults, Contains(HasSubstr("it is not the earlier version of its successor")));
}

TEST_F(PisaCheckTest, P1_FindsEntriesThatWereLostOrChangedInASplit) {
  const PisaBlockNumber number = LiveData();
  const auto lose = [](std::size_t i, std::string&, Timestamp&) { return i != 2; };
  EXPECT_THAT(Faults(number, Edited(number, lose)),
              Contains(HasSubstr("Versions: a live entry of its predecessor is missing")));
  const Timestamp birth = (*tree_.Read(number))->birth();
  const auto rejuvenate = [birth](std::size_t, std::string&, Timestamp& version) {
    if (version < birth) version = Timestamp{birth.milliseconds - 1};
    return true;
  };
  EXPECT_THAT(Faults(number, Edited(number, rejuvenate)),
              Contains(HasSubstr("Versions: an entry is not as it was in its predecessor")));
}

TEST_F(PisaCheckTest, P1_FindsLimitsThatAreTooTight) {
  std::vector<std::string> found;
  EXPECT_TRUE(
      CheckPisa(tree_, {100, 12}, [&](const Error& error) { found.push_back(error.text); }));
  EXPECT_THAT(found, Contains(HasSubstr("too small for three entries")));
}

}  // namespace
}  // namespace stele::catalog
