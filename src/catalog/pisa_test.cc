#include "catalog/pisa.h"

#include <gtest/gtest.h>

#include "catalog/pisa_check.h"
#include "catalog/pisa_cursor.h"
#include "catalog/pisa_test_lab.h"

namespace stele::catalog {
namespace {

void ExpectValid(const Pisa& pisa) {
  const Result<PisaCounts> counts =
      CheckPisa(pisa, pisa.limits(), [](const Error& error) { ADD_FAILURE() << error.text; });
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts->blocks, pisa.block_count());
}

void CheckAgainstTwin(const PisaScenario& scenario, std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  io::SeededRandom dice(seed);
  const std::vector<PisaCapture> captures = MakeScenario(scenario, dice);
  Pisa pisa({kSmallPisa});
  PisaTwin twin;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    const PisaCapture& one = captures[i];
    ASSERT_TRUE(pisa.Insert(one.key, one.birth, one.capture).ok());
    twin.Insert(one.key, one.birth, one.capture);
    if (i % 100 == 99) ExpectValid(pisa);
  }
  ExpectValid(pisa);
  for (int i = 0; i < 60; ++i) {
    const PisaSelection selection = AnySelection(captures, dice);
    EXPECT_EQ(ReadAll(pisa, selection), twin.Answer(selection));

    const std::string key = captures[dice.Next() % captures.size()].key + (i % 10 == 0 ? "!" : "");
    PisaSelection of_key{selection.first, selection.last, key, key + '\0'};
    EXPECT_EQ(pisa.CapturesDuring(key, of_key.first, of_key.last), twin.Answer(of_key));
    const auto backwards = BacktrackPisaCaptures(pisa, key, of_key.first, of_key.last);
    ASSERT_TRUE(backwards.ok());
    EXPECT_EQ(*backwards, twin.Answer(of_key));
    of_key.first = of_key.last;
    const auto at = FindPisaCapture(pisa, key, of_key.last);
    ASSERT_TRUE(at.ok());
    EXPECT_EQ(*at ? std::vector{**at} : std::vector<PisaCapture>(), twin.Answer(of_key));
  }
}

TEST(PisaTest, P2_AnswersAsItsTwinDoes) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) CheckAgainstTwin({}, seed);
}

TEST(PisaTest, P2_AnswersAsItsTwinDoesWhenKeysAreManyAndOld) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) CheckAgainstTwin({700, 500, 0, 0}, seed);
}

TEST(PisaTest, P2_AnswersAsItsTwinDoesWhenKeysAreFewAndHot) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) CheckAgainstTwin({700, 5, 60, 5}, seed);
}

TEST(PisaTest, P2_AnswersAsItsTwinDoesWhenMuchHappensAtOneMoment) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) CheckAgainstTwin({700, 200, 10, 97}, seed);
}

TEST(PisaTest, P2_CarriesABaseWithItsTrueBirths) {
  Pisa pisa({kSmallPisa, Timestamp{100}});
  PisaTwin twin;
  for (std::uint32_t i = 0; i < 150; ++i) {
    const std::string key = ScenarioKey(i, 12);
    const Timestamp birth{static_cast<std::int64_t>(i * 31 % 100)};
    ASSERT_TRUE(pisa.Carry(key, birth, {1, i}).ok());
    twin.Insert(key, birth, {1, i});
  }
  EXPECT_EQ(pisa.parts()[0].roots.size(), 1u);
  for (std::uint32_t i = 0; i < 300; ++i) {
    const std::string key = ScenarioKey(i * 13 % 200, 12);
    const Timestamp time{100 + i / 4};
    ASSERT_TRUE(pisa.Insert(key, time, {2, i}).ok());
    twin.Insert(key, time, {2, i});
  }
  ExpectValid(pisa);
  for (std::int64_t first = 100; first < 180; first += 7) {
    for (std::int64_t last = first; last < 180; last += 11) {
      const PisaSelection selection = AliveDuring(Timestamp{first}, Timestamp{last});
      EXPECT_EQ(ReadAll(pisa, selection), twin.Answer(selection));
    }
  }
}

TEST(PisaTest, P2_GoesOnWhereACursorStopped) {
  io::SeededRandom dice(5);
  const std::vector<PisaCapture> captures = MakeScenario({}, dice);
  Pisa pisa({kSmallPisa});
  for (const PisaCapture& one : captures) {
    ASSERT_TRUE(pisa.Insert(one.key, one.birth, one.capture).ok());
  }
  const PisaSelection whole = AliveDuring(Timestamp{1200}, Timestamp{1900}, "a");
  PisaSelection part = whole;
  part.limit = 7;
  std::vector<PisaCapture> together;
  for (;;) {
    const std::vector<PisaCapture> some = ReadAll(pisa, part);
    if (some.empty()) break;
    EXPECT_LE(some.size(), 7u);
    together.insert(together.end(), some.begin(), some.end());
    part.after = PisaPosition{some.back().key, some.back().birth};
  }
  EXPECT_GT(together.size(), 50u);
  EXPECT_EQ(together, ReadAll(pisa, whole));
}

TEST(PisaTest, P1_RefusesWhatATreeCannotHold) {
  Pisa pisa({kSmallPisa, Timestamp{10}, "m"});
  EXPECT_EQ(pisa.Insert("nnnnnnnnnnnnn", Timestamp{11}, {}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(pisa.Insert("a", Timestamp{11}, {}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(pisa.Insert("n", Timestamp{9}, {}).error().code, ErrorCode::kInvalid);
  ASSERT_TRUE(pisa.Insert("n", Timestamp{12}, {}).ok());
  EXPECT_EQ(pisa.Insert("o", Timestamp{11}, {}).error().code, ErrorCode::kInvalid);
}

// 4.5.3: of N entries there are never more than 2N / (B_min - 2) + 2 blocks; in bytes, each new
// block takes B_min bytes of insertions, and a split makes at most two.
TEST(PisaTest, P1_SpaceGrowsWithInsertionsAndNotWithHistory) {
  io::SeededRandom dice(9);
  const std::vector<PisaCapture> captures = MakeScenario({20000, 300, 20, 5}, dice);
  Pisa pisa({kSmallPisa});
  std::size_t bytes = 0;
  for (const PisaCapture& one : captures) {
    ASSERT_TRUE(pisa.Insert(one.key, one.birth, one.capture).ok());
    bytes += one.key.size() + kPisaKeyBytes + kPisaVersionBytes;
  }
  ExpectValid(pisa);
  const std::size_t smallest = kSmallPisa.block_bytes_min();
  EXPECT_LE(pisa.block_count(), 2 * bytes / (smallest - smallest / 10) + 2);
}

// 4.5.1: each block that is read has B_min of the answer, and the rest is the way there.
TEST(PisaTest, P2_AMomentCostsWhatItsAnswerHasHoweverLongTheHistory) {
  Pisa pisa({kSmallPisa});
  std::vector<std::size_t> reads;
  Timestamp time{0};
  for (int round = 0; round < 100; ++round) {
    for (std::uint32_t i = 0; i < 200; ++i) {
      ++time.milliseconds;
      ASSERT_TRUE(pisa.Insert(ScenarioKey(i, 12), time, {1, i}).ok());
    }
    CountingForest counting(pisa);
    std::size_t bytes = 0;
    for (const PisaCapture& one : ReadAll(counting, StateAt(time))) {
      bytes += one.key.size() + kPisaKeyBytes + kPisaVersionBytes;
    }
    const std::size_t blocks_max = bytes / kSmallPisa.block_bytes_min();
    EXPECT_LE(counting.reads, 2 * blocks_max + 1);
    reads.push_back(counting.reads);
  }
  CountingForest early(pisa);
  ReadAll(early, StateAt(Timestamp{400}));
  EXPECT_LE(reads.back(), 2 * reads.front());
  EXPECT_LE(early.reads, 2 * reads.front());
}

// The history of one key among many: backtracking meets the blocks of all that changed around it,
// the access list only those of its own.
TEST(PisaTest, P2_AccessListsReadOnlyBlocksOfTheKey) {
  Pisa pisa({kSmallPisa});
  std::uint32_t serial = 0;
  Timestamp time{0};
  for (int round = 0; round < 90; ++round) {
    for (int i = 0; i < 40; ++i) {
      ++time.milliseconds;
      const std::string key = i == 0 ? "page" : ScenarioKey(static_cast<std::size_t>(i), 12);
      ASSERT_TRUE(pisa.Insert(key, time, {1, ++serial}).ok());
    }
  }
  std::size_t by_list = 0;
  EXPECT_EQ(pisa.CapturesDuring("page", Timestamp{0}, time, &by_list).size(), 90u);
  CountingForest counting(pisa);
  const auto backwards = BacktrackPisaCaptures(counting, "page", Timestamp{0}, time);
  ASSERT_TRUE(backwards.ok());
  EXPECT_EQ(backwards->size(), 90u);
  const std::size_t per_block = kSmallPisa.block_bytes_max / kPisaVersionBytes;
  EXPECT_LE(by_list, 90 / per_block + 2 + 3);  // the list, both ends, and the way from the root
  EXPECT_GT(counting.reads, 3 * by_list);
}

}  // namespace
}  // namespace stele::catalog
