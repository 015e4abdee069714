#include "catalog/pisa_roll.h"

#include <gtest/gtest.h>

#include "catalog/location_memtable.h"
#include "catalog/pisa_test_lab.h"
#include "io/memory_file_system.h"

namespace stele::catalog {
namespace {

// One capture of each of `keys` keys at each of the moments from 0 to `moments`.
std::vector<PisaCapture> Rounds(std::int64_t moments, int keys) {
  std::vector<PisaCapture> captures;
  for (int key = 0; key < keys; ++key) {
    for (std::int64_t moment = 0; moment < moments; ++moment) {
      captures.push_back({"key" + std::to_string(100 + key),
                          Timestamp{moment},
                          kEndOfTime,
                          {1, static_cast<std::uint32_t>(moment)}});
    }
  }
  return captures;
}

class PisaRollTest : public testing::Test {
 protected:
  // From captures at moments of which each has ten keys.
  void AddSegment(Timestamp first, Timestamp end) {
    const std::string path = "segment-" + std::to_string(segments_.size());
    ASSERT_TRUE(WriteSegment(disk_, path, {first, end}, Rounds(end.milliseconds, 10)));
    Result<std::unique_ptr<PisaSegment>> segment = PisaSegment::Open(disk_, path, cache_);
    ASSERT_TRUE(segment) << segment.error().text;
    segments_.push_back(std::move(*segment));
  }

  io::MemoryFileSystem disk_;
  PageCache cache_{1 << 16};
  std::vector<PisaSegmentPointer> segments_;
};

TEST_F(PisaRollTest, P2_ThreeCapturesForEachKeyAreDue) {
  EXPECT_EQ(PisaCapturesDue(10, 100000), 100000u);
  EXPECT_EQ(PisaCapturesDue(1000000, 100000), 3000000u);
  EXPECT_EQ(PisaSegmentCaptures(10, 100000), 100000u);
  EXPECT_EQ(PisaSegmentCaptures(1000000, 100000), 6000000u);
}

TEST_F(PisaRollTest, P2_LooseCapturesAreCountedByTheirSegment) {
  AddSegment(kBeginningOfTime, Timestamp{10});
  AddSegment(Timestamp{10}, Timestamp{20});
  std::vector<LocationEntry> entries;
  for (const std::int64_t time : {-5, 3, 9, 10, 20, 21, 22}) {
    entries.push_back({"a", Timestamp{time}, {}});
  }
  const auto sorted = SortedEntries::Sort(entries);
  const Result<LooseCaptures> counts = CountLooseCaptures(segments_, *sorted->NewCursor());
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->late, (std::vector<std::uint64_t>{3, 1}));
  EXPECT_EQ(counts->newest, 3u);
  EXPECT_EQ(counts->last, Timestamp{22});
}

TEST_F(PisaRollTest, P2_NewCapturesAreRolledWhenThereIsOneForEachKey) {
  AddSegment(kBeginningOfTime, Timestamp{10});
  EXPECT_FALSE(PlanPisaRoll(segments_, {{0}, 9, Timestamp{30}}, {5}));
  const auto roll = PlanPisaRoll(segments_, {{0}, 10, Timestamp{30}}, {5});
  ASSERT_TRUE(roll);
  EXPECT_EQ(roll->kept, 1u);
  EXPECT_EQ(roll->first, Timestamp{10});
  EXPECT_EQ(roll->end, Timestamp{31});
}

// A segment that was rolled with three captures for each key is built again with the next ones, and
// one that has six is not.
TEST_F(PisaRollTest, P2_ASegmentGrowsUntilItIsLongBesideWhatItCarries) {
  AddSegment(kBeginningOfTime, Timestamp{3});
  const auto roll = PlanPisaRoll(segments_, {{0}, 30, Timestamp{30}}, {5});
  ASSERT_TRUE(roll);
  EXPECT_EQ(roll->kept, 0u);
  EXPECT_EQ(roll->first, kBeginningOfTime);
  segments_.clear();
  AddSegment(kBeginningOfTime, Timestamp{6});
  EXPECT_EQ(PlanPisaRoll(segments_, {{0}, 30, Timestamp{30}}, {5})->kept, 1u);
}

// Each of the segments has a hundred captures.
TEST_F(PisaRollTest, P2_SegmentsAreBuiltAgainForManyLateCaptures) {
  AddSegment(kBeginningOfTime, Timestamp{10});
  AddSegment(Timestamp{10}, Timestamp{20});
  EXPECT_FALSE(PlanPisaRoll(segments_, {{0, 12}, 0, Timestamp{15}}, {5}));
  auto roll = PlanPisaRoll(segments_, {{0, 13}, 0, Timestamp{15}}, {5});
  ASSERT_TRUE(roll);
  EXPECT_EQ(roll->kept, 1u);
  EXPECT_EQ(roll->end, Timestamp{20});
  EXPECT_FALSE(PlanPisaRoll(segments_, {{24, 0}, 0, Timestamp{5}}, {5}));
  roll = PlanPisaRoll(segments_, {{25, 0}, 0, Timestamp{5}}, {5});
  ASSERT_TRUE(roll);
  EXPECT_EQ(roll->kept, 0u);
  EXPECT_EQ(roll->first, kBeginningOfTime);
}

TEST_F(PisaRollTest, P2_AllMeansAll) {
  AddSegment(kBeginningOfTime, Timestamp{10});
  AddSegment(Timestamp{10}, Timestamp{20});
  EXPECT_FALSE(PlanPisaRoll(segments_, {{0, 0}}, {5, true}));
  EXPECT_EQ(PlanPisaRoll(segments_, {{0, 1}, 0, Timestamp{15}}, {5, true})->kept, 1u);
  EXPECT_EQ(PlanPisaRoll(segments_, {{1, 0}, 0, Timestamp{5}}, {5, true})->kept, 0u);
  EXPECT_EQ(PlanPisaRoll(segments_, {{0, 0}, 1, Timestamp{25}}, {5, true})->kept, 2u);
  // A segment that is smaller than it should be grows, where so little is new.
  EXPECT_EQ(PlanPisaRoll(segments_, {{0, 0}, 1, Timestamp{25}}, {500, true})->kept, 1u);
  EXPECT_FALSE(PlanPisaRoll({}, {{}, 0}, {5, true}));
}

TEST_F(PisaRollTest, P2_TheEndOfTimeIsNoPlaceForASegment) {
  segments_.clear();
  AddSegment(kBeginningOfTime, Timestamp{10});
  const auto roll = PlanPisaRoll(segments_, {{0}, 50, kEndOfTime}, {5});
  ASSERT_TRUE(roll);
  EXPECT_EQ(roll->end, kEndOfTime);
}

TEST_F(PisaRollTest, P2_ALongRollIsCutWhereCapturesAreDue) {
  std::vector<LocationEntry> entries;
  const std::vector<PisaCapture> captures = Rounds(100, 10);
  for (const PisaCapture& one : captures) entries.push_back({one.key, one.birth, one.capture});
  const auto sorted = SortedEntries::Sort(entries);
  const PisaRoll roll{0, kBeginningOfTime, Timestamp{100}};
  PisaTimelineCursor cursor({}, sorted->NewCursor(), QueryFor(roll.first, roll.end));
  const Result<std::vector<Timestamp>> ends = CutPisaRoll(roll, cursor, {20});
  ASSERT_TRUE(ends);
  // Sixty captures of ten keys are six moments; the last four are a segment, too.
  ASSERT_EQ(ends->size(), 17u);
  EXPECT_EQ(ends->at(0), Timestamp{6});
  EXPECT_EQ(ends->at(1), Timestamp{12});
  EXPECT_EQ(ends->back(), Timestamp{100});

  std::vector<PisaTarget> targets;
  for (const Timestamp end : *ends) {
    PisaSegmentOptions options;
    options.first = targets.empty() ? roll.first : targets.back().options.end;
    options.end = end;
    targets.push_back({"cut-" + std::to_string(targets.size()), options});
  }
  PisaTimelineCursor again({}, sorted->NewCursor(), QueryFor(roll.first, roll.end));
  ASSERT_TRUE(WritePisaSegments(disk_, targets, again));
  const PisaTwin twin = TwinOf(captures);
  for (const PisaTarget& target : targets) {
    const auto segment = PisaSegment::Open(disk_, target.path, cache_);
    ASSERT_TRUE(segment) << segment.error().text;
    EXPECT_TRUE((*segment)->Validate([](const Error& e) { ADD_FAILURE() << e.text; }));
    const Timestamp last{target.options.end.milliseconds - 1};
    const PisaSelection during = AliveDuring(target.options.first, last);
    EXPECT_EQ(ReadAll(**segment, during), twin.Answer(during));
  }
}

}  // namespace
}  // namespace stele::catalog
