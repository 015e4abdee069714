#include "catalog/pisa_printed.h"

#include <gtest/gtest.h>

#include "catalog/pisa.h"
#include "catalog/pisa_test_lab.h"

// What the procedures answer as they are printed, and what ours answer to the same question.
// docs/decisions/0009-pisa-as-printed.md
namespace stele::catalog {
namespace {

constexpr std::size_t kBlockMax = 15;
constexpr std::size_t kBlockMin = 3;

// Both trees with the same captures; the capture's number is its location.
class Both {
 public:
  explicit Both(printed::Corrections corrections)
      : printed_(kBlockMax, kBlockMin, corrections), ours_({kSmallPisa}) {}

  void Insert(const std::string& key, int time) {
    ++captures_;
    found_all_ &= printed_.Insert({key, time, printed::kForever, static_cast<int>(captures_)});
    EXPECT_TRUE(ours_.Insert(key, Timestamp{time}, {0, captures_}));
    twin_.Insert(key, Timestamp{time}, {0, captures_});
  }

  // 0 when there is none.
  int Printed(const std::string& key, int time) const {
    const auto found = printed_.UrlTimeQuery(key, time).entry;
    return found ? found->loc : 0;
  }
  int Ours(const std::string& key, int time) const {
    const auto found = FindPisaCapture(ours_, key, Timestamp{time});
    return *found ? static_cast<int>((*found)->capture.serial) : 0;
  }
  int Right(const std::string& key, int time) const {
    const auto found = twin_.Answer({Timestamp{time}, Timestamp{time}, key, key + '\0'});
    return found.empty() ? 0 : static_cast<int>(found[0].capture.serial);
  }
  // Whether each Insert() of the printed one ended.
  bool found_all() const { return found_all_; }
  const printed::Tree& tree() const { return printed_; }
  const Pisa& ours() const { return ours_; }

 private:
  printed::Tree printed_;
  Pisa ours_;
  PisaTwin twin_;
  std::uint32_t captures_ = 0;
  bool found_all_ = true;
};

std::string Letter(int i) { return std::string(1, static_cast<char>('a' + i)); }

// How many questions of a hundred about the past of a tree with many splits are answered wrongly.
int WrongOfAHundred(printed::Corrections corrections) {
  io::SeededRandom dice(4);
  Both both(corrections);
  for (int time = 1; time <= 600; ++time) both.Insert(Letter(dice.Next() % 26), time);
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string key = Letter(dice.Next() % 26);
    const int time = 30 + static_cast<int>(dice.Next() % 500);
    EXPECT_EQ(both.Ours(key, time), both.Right(key, time));
    if (both.Printed(key, time) != both.Right(key, time)) ++wrong;
  }
  return wrong / 10;
}

TEST(PisaPrinted, P2_MostQuestionsAboutThePastAreAnsweredWrongly) {
  EXPECT_GT(WrongOfAHundred({.descent = true}), 50);
  EXPECT_GT(WrongOfAHundred({.descent = true, .query = true}), 50);
  EXPECT_GT(WrongOfAHundred({.descent = true, .query = true, .births = true}), 50);
}

// Figure 4.3, lines 4 to 13: an index block's first entry has the key of the entry that led to it,
// which line 7 wants to be smaller, so that ie stays, and its block is searched again and again.
TEST(PisaPrinted, P2_TheSearchDoesNotEndBelowASecondRoot) {
  Both both({});
  for (int i = 0; i < 16; ++i) both.Insert(Letter(i), 1);
  for (int time = 2; time < 300; ++time) both.Insert("a", time);
  EXPECT_FALSE(both.found_all());
}

// Figure 4.3, line 6: index keys must be smaller than the key, but a key split makes the median's
// own key the index key of its block.
TEST(PisaPrinted, P2_TheMedianItselfIsNotFoundAfterAKeySplit) {
  Both both({});
  for (int i = 0; i < 16; ++i) both.Insert(Letter(i), 1);
  EXPECT_EQ(both.Printed("d", 1), 0);  // the median: three keys are smaller
  EXPECT_EQ(both.Right("d", 1), 4);
  EXPECT_EQ(both.Ours("d", 1), 4);
}

// Figure 4.3, line 15: the birth of a data entry is not looked at.
TEST(PisaPrinted, P2_AKeyIsFoundBeforeItIsBorn) {
  Both both({});
  both.Insert("a", 5);
  EXPECT_EQ(both.Printed("a", 2), 1);
  EXPECT_EQ(both.Ours("a", 2), 0);
}

// Figure 4.8, line 14: the new block's entry is born with the old block, and thus kills the old
// block's entry at its own birth. What the old block knows is out of reach.
TEST(PisaPrinted, P2_AVersionSplitHidesTheOldBlock) {
  Both both({.descent = true, .query = true, .births = true});
  for (int time = 1; time <= 16; ++time) both.Insert("a", time);
  EXPECT_EQ(both.Printed("a", 5), 0);
  EXPECT_EQ(both.Ours("a", 5), 5);
}

// Figure 4.9, line 12: copies are born at the split. With the index corrected, what is found is
// right, but not since when: the time of the capture is lost.
TEST(PisaPrinted, P2_AVersionSplitForgetsWhenCapturesWereMade) {
  Both both({.descent = true, .query = true, .index = true});
  both.Insert("b", 1);
  for (int time = 2; time <= 20; ++time) both.Insert("a", time);
  EXPECT_EQ(both.tree().UrlTimeQuery("b", 20).entry->t_birth, 16);
  EXPECT_EQ((*FindPisaCapture(both.ours(), "b", Timestamp{20}))->birth, Timestamp{1});
}

// Figure 4.10: live entries are moved, and the new block's entry goes into the parent that is
// alive. Figure 4.8, line 10, as printed, lets it begin now: until now the old block is asked,
// which has them no more.
TEST(PisaPrinted, P2_AKeySplitTakesEntriesOutOfThePast) {
  Both both({.descent = true, .query = true, .births = true});
  for (int i = 0; i < 16; ++i) both.Insert(Letter(i), i < 4 ? 1 : 2 + i);
  EXPECT_EQ(both.Printed("p", 17), 16);
  EXPECT_EQ(both.Printed("h", 12), 0);
  EXPECT_EQ(both.Right("h", 12), 8);
  EXPECT_EQ(both.Ours("h", 12), 8);
}

// Figure 4.10, line 4: here the oldest entry has the smallest key, so that there is no median. The
// block that the version split makes is told to nobody, nor is what is split off it.
TEST(PisaPrinted, P2_WithoutAMedianABlockIsToldToNobody) {
  Both both({.descent = true, .query = true, .index = true, .births = true, .median = false});
  for (int i = 0; i < 16; ++i) both.Insert(Letter(i), 1 + i);
  EXPECT_EQ(both.tree().without_median(), 1);
  EXPECT_EQ(both.Printed("p", 16), 0);
  EXPECT_EQ(both.Right("p", 16), 16);
  EXPECT_EQ(both.Ours("p", 16), 16);
}

TEST(PisaPrinted, P2_WithTrueBirthsMostKeySplitsHaveNoMedian) {
  io::SeededRandom dice(4);
  Both both({.descent = true, .query = true, .index = true, .births = true});
  for (int time = 1; time <= 3000; ++time) {
    both.Insert(Letter(dice.Next() % 26) + Letter(dice.Next() % 26), time);
  }
  EXPECT_GT(both.tree().key_splits(), 20);
  EXPECT_GT(2 * both.tree().without_median(), both.tree().key_splits());
}

// The same with each of these lines corrected. Here the root was split between the birth of a data
// block and its key split: the root of the time before has no entry for the new block, and from
// the old one the entries are gone.
TEST(PisaPrinted, P2_AKeySplitTakesEntriesFromDeadParents) {
  Both both({.descent = true, .query = true, .index = true, .births = true});
  for (int i = 0; i < 16; ++i) both.Insert(Letter(i), 1);
  for (int time = 2; time < 300; ++time) both.Insert("a", time);
  EXPECT_EQ(both.Printed("n", 50), 14);
  for (int i = 16; i < 26; ++i) both.Insert(Letter(i), 300 + i);
  EXPECT_TRUE(both.found_all());
  EXPECT_EQ(both.Printed("n", 50), 0);
  EXPECT_EQ(both.Right("n", 50), 14);
  EXPECT_EQ(both.Ours("n", 50), 14);
}

// Figure 4.4: from each block one entry is taken, but a block can have many of one key.
TEST(PisaPrinted, P2_ASpanMissesTheVersionsInOneBlock) {
  Both both({.descent = true, .query = true, .index = true, .births = true});
  for (int time = 1; time <= 5; ++time) both.Insert("a", time);
  EXPECT_EQ(both.tree().UrlTimeSpanQuery("a", 1, 5).size(), 1u);
  EXPECT_EQ(both.ours().CapturesDuring("a", Timestamp{1}, Timestamp{5}).size(), 5u);
}

// Figure 4.5, line 9: an entry that was born before the span and dies with its end.
TEST(PisaPrinted, P2_ATimeSliceMissesWhatDiesAtItsEnd) {
  EXPECT_FALSE(printed::IsInTimeSlice({"a", 1, 5}, 2, 5));
  EXPECT_TRUE(printed::IsInTimeSlice({"a", 1, 6}, 2, 5));
  EXPECT_TRUE(printed::IsInTimeSlice({"a", 1, 4}, 2, 5));
  Pisa ours({kSmallPisa});
  ASSERT_TRUE(ours.Insert("a", Timestamp{1}, {0, 1}));
  ASSERT_TRUE(ours.Insert("a", Timestamp{5}, {0, 2}));
  EXPECT_EQ(ReadAll(ours, AliveDuring(Timestamp{2}, Timestamp{5}))[0].capture.serial, 1u);
}

}  // namespace
}  // namespace stele::catalog
