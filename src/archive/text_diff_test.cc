#include "archive/text_diff.h"

#include <gtest/gtest.h>

#include <random>

#include "archive/text_diff_testing.h"

namespace stele::archive {
namespace {

using testing::Edited;

std::size_t SizeOf(const std::vector<LineEdit>& edits) {
  std::size_t lines = 0;
  for (const LineEdit& edit : edits) {
    lines += edit.before_end - edit.before_begin + edit.after_end - edit.after_begin;
  }
  return lines;
}

// How many lines must be removed and added, by the longest common subsequence in a full table.
std::size_t FewestEdits(const TextLines& a, const TextLines& b) {
  std::vector<std::vector<std::size_t>> common(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      common[i][j] = a[i - 1] == b[j - 1] ? common[i - 1][j - 1] + 1
                                          : std::max(common[i - 1][j], common[i][j - 1]);
    }
  }
  return a.size() + b.size() - 2 * common[a.size()][b.size()];
}

TextLines RandomLines(std::mt19937& dice, std::size_t lines_max, std::size_t words) {
  static constexpr std::string_view kWords[] = {"", "a", "b", "c", "d", "e", "f", "g"};
  TextLines lines(dice() % (lines_max + 1));
  for (std::string_view& line : lines) line = kWords[dice() % words];
  return lines;
}

TEST(TextDiff, SplitsLines) {
  EXPECT_EQ(LinesOf(""), TextLines());
  EXPECT_EQ(LinesOf("one"), TextLines{"one"});
  EXPECT_EQ(LinesOf("one\n\ntwo\n"), (TextLines{"one", "", "two"}));
}

TEST(TextDiff, FindsWhatWasReplacedAddedAndRemoved) {
  const TextLines before = {"a", "b", "c", "d", "e"};
  const TextLines after = {"a", "B", "c", "e", "f"};
  EXPECT_EQ(DiffLines(before, after),
            (std::vector<LineEdit>{{1, 2, 1, 2}, {3, 4, 3, 3}, {5, 5, 4, 5}}));
  EXPECT_EQ(DiffLines(before, before), std::vector<LineEdit>());
  EXPECT_EQ(DiffLines({}, after), (std::vector<LineEdit>{{0, 0, 0, 5}}));
  EXPECT_EQ(DiffLines(before, {}), (std::vector<LineEdit>{{0, 5, 0, 0}}));
}

TEST(TextDiff, LeadsFromAnyTextToAnyOtherInTheFewestEdits) {
  std::mt19937 dice(5);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t words = 1 + dice() % 8;
    const TextLines before = RandomLines(dice, 24, words);
    const TextLines after = RandomLines(dice, 24, words);
    const std::vector<LineEdit> edits = DiffLines(before, after);
    ASSERT_EQ(Edited(before, after, edits), after) << "round " << round;
    ASSERT_EQ(SizeOf(edits), FewestEdits(before, after)) << "round " << round;
    for (std::size_t i = 1; i < edits.size(); ++i) {
      ASSERT_LT(edits[i - 1].before_end, edits[i].before_begin) << "round " << round;
      ASSERT_LT(edits[i - 1].after_end, edits[i].after_begin) << "round " << round;
    }
  }
}

TEST(TextDiff, ReplacesAllBetweenTheCommonEndsWhenTooMuchDiffers) {
  const TextLines before = {"same", "a", "x", "b", "end"};
  const TextLines after = {"same", "c", "x", "d", "end"};
  EXPECT_EQ(DiffLines(before, after, 4), (std::vector<LineEdit>{{1, 2, 1, 2}, {3, 4, 3, 4}}));
  EXPECT_EQ(DiffLines(before, after, 3), (std::vector<LineEdit>{{1, 4, 1, 4}}));
  std::mt19937 dice(6);
  for (int round = 0; round < 1000; ++round) {
    const TextLines from = RandomLines(dice, 24, 6);
    const TextLines to = RandomLines(dice, 24, 6);
    ASSERT_EQ(Edited(from, to, DiffLines(from, to, dice() % 20)), to) << "round " << round;
  }
}

TEST(TextDiff, HunksHaveLinesAroundThemAndJoinWhenTheseMeet) {
  const std::vector<LineEdit> edits = {{4, 5, 4, 6}, {9, 9, 10, 11}, {30, 31, 32, 32}};
  const std::vector<DiffHunk> hunks = HunksOf(edits, 32, 2);
  ASSERT_EQ(hunks.size(), 2u);
  EXPECT_EQ(hunks[0].range, (LineEdit{2, 11, 2, 13}));
  EXPECT_EQ(hunks[0].edits.size(), 2u);
  EXPECT_EQ(hunks[1].range, (LineEdit{28, 32, 30, 33}));
  const std::vector<DiffHunk> bare = HunksOf(edits, 32, 0);
  ASSERT_EQ(bare.size(), 3u);
  EXPECT_EQ(bare[1].range, edits[1]);
}

}  // namespace
}  // namespace stele::archive
