#include "catalog/pisa_timeline.h"

#include <gtest/gtest.h>

#include "catalog/location_memtable.h"
#include "catalog/pisa_roll.h"
#include "catalog/pisa_test_lab.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"

namespace stele::catalog {
namespace {

PisaTimelineQuery QueryOf(const PisaSelection& selection) {
  PisaTimelineQuery query{selection.first, selection.last};
  query.what = {{{selection.key_first, selection.key_end.value_or("\xff")}}};
  const std::optional<PisaPosition>& after = selection.after;
  if (after) query.resume = EncodePosition({after->key, after->birth, {}});
  query.limit = selection.limit;
  return query;
}

PisaTimelineQuery At(std::int64_t time) { return {Timestamp{time}, Timestamp{time}}; }

// An archive in small: segments, and what is in none of them.
class PisaTimelineTest : public testing::Test {
 protected:
  void Add(const PisaCapture& one) {
    loose_.push_back(one);
    twin_.Insert(one.key, one.birth, one.capture);
  }

  PisaTimelineCursor Ask(PisaTimelineQuery query) {
    std::vector<LocationEntry> entries;
    for (const PisaCapture& one : loose_) entries.push_back({one.key, one.birth, one.capture});
    sorted_ = SortedEntries::Sort(entries);
    return PisaTimelineCursor(segments_, sorted_->NewCursor(), std::move(query));
  }

  std::vector<PisaCapture> Read(PisaTimelineQuery query, std::string* resume = nullptr) {
    PisaTimelineCursor cursor = Ask(std::move(query));
    std::vector<PisaCapture> found;
    for (;;) {
      const Result<bool> more = cursor.Next();
      EXPECT_TRUE(more) << more.error().text;
      if (!more || !*more) return found;
      found.push_back(
          {std::string(cursor.key()), cursor.birth(), cursor.death(), cursor.capture()});
      if (resume != nullptr) *resume = cursor.Resume();
    }
  }

  PisaSegmentPointer Build(Timestamp first, Timestamp end) {
    return Build({first, end, kSmallPisa, 4000});
  }
  PisaSegmentPointer Build(const PisaSegmentOptions& options) {
    const std::string path = "segment-" + std::to_string(++files_);
    PisaTimelineCursor cursor = Ask(QueryFor(options.first, options.end));
    EXPECT_TRUE(WritePisaSegments(disk_, {{path, options}}, cursor));
    Result<std::unique_ptr<PisaSegment>> segment = PisaSegment::Open(disk_, path, cache_);
    EXPECT_TRUE(segment);
    EXPECT_TRUE((*segment)->Validate([](const Error& e) { ADD_FAILURE() << e.text; }));
    return std::move(*segment);
  }

  // A segment from the end of the last one until `end`.
  void Roll(Timestamp end) {
    const Timestamp first = segments_.empty() ? kBeginningOfTime : segments_.back()->end();
    segments_.push_back(Build(first, end));
    ForgetLoose(first, end);
  }
  // The segments from number `from` on again: then what came late is in them.
  void Rebuild(std::size_t from) {
    for (std::size_t i = from; i < segments_.size(); ++i) {
      segments_[i] = Build(segments_[i]->first(), segments_[i]->end());
    }
    ForgetLoose(segments_[from]->first(), segments_.back()->end());
  }
  void ForgetLoose(Timestamp first, Timestamp end) {
    std::erase_if(loose_,
                  [&](const PisaCapture& one) { return first <= one.birth && one.birth < end; });
  }

  void ExpectRight(const std::vector<PisaCapture>& captures, io::Random& dice) {
    ASSERT_TRUE(CheckPisaTimeline(segments_));
    for (int i = 0; i < 60; ++i) {
      const PisaSelection selection = AnySelection(captures, dice);
      EXPECT_EQ(Read(QueryOf(selection)), twin_.Answer(selection));
    }
  }

  io::MemoryFileSystem disk_;
  PageCache cache_{1 << 16};
  std::vector<PisaSegmentPointer> segments_;
  std::vector<PisaCapture> loose_;
  std::shared_ptr<const SortedEntries> sorted_;
  PisaTwin twin_;
  int files_ = 0;
};

// One in `late` captures is held back until all others are there.
std::pair<std::vector<PisaCapture>, std::vector<PisaCapture>> InTimeAndLate(
    std::uint64_t seed, std::uint64_t late, std::size_t still_percent = 0) {
  io::SeededRandom dice(seed);
  std::pair<std::vector<PisaCapture>, std::vector<PisaCapture>> both;
  for (const PisaCapture& one : MakeScenario({900, 60, 20, still_percent}, dice)) {
    (dice.Next() % late == 0 ? both.second : both.first).push_back(one);
  }
  return both;
}

TEST_F(PisaTimelineTest, P2_AnswersAsItsTwinDoesWhileTimeGoesOn) {
  io::SeededRandom dice(7);
  const std::vector<PisaCapture> captures = InTimeAndLate(1, 1000000).first;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    Add(captures[i]);
    if (i % 200 == 150) Roll(captures[i].birth);
    if (i % 100 == 99) ExpectRight(captures, dice);
  }
  EXPECT_EQ(segments_.size(), 4u);
  EXPECT_LT(loose_.size(), 200u);
}

TEST_F(PisaTimelineTest, P2_CapturesThatComeLateTakeTheirPlace) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    segments_.clear();
    loose_.clear();
    twin_ = {};
    io::SeededRandom dice(seed);
    const auto [in_time, late] = InTimeAndLate(seed, 10);
    for (std::size_t i = 0; i < in_time.size(); ++i) {
      Add(in_time[i]);
      if (i % 200 == 150) Roll(in_time[i].birth);
    }
    for (const PisaCapture& one : late) Add(one);
    ExpectRight(in_time, dice);
    Roll(in_time.back().birth);  // what was late for the others is not for this one
    ExpectRight(in_time, dice);
    Rebuild(2);
    ExpectRight(in_time, dice);
    Rebuild(0);
    EXPECT_LT(loose_.size(), 10u);
    ExpectRight(in_time, dice);
  }
}

TEST_F(PisaTimelineTest, P2_OfCapturesWithOneTimeTheLargestIdIsShown) {
  for (const std::uint32_t serial : {2, 3, 1}) {
    loose_.push_back({"a", Timestamp{5}, kEndOfTime, {1, serial}});
    if (serial == 3) Roll(Timestamp{10});
  }
  const std::vector<PisaCapture> shown = {{"a", Timestamp{5}, kEndOfTime, {1, 3}}};
  EXPECT_EQ(Read(At(7)), shown);
  EXPECT_EQ(Read({Timestamp{0}, Timestamp{99}}), shown);
}

// A domain is three ranges of keys; a limit of four is reached in each of them.
TEST_F(PisaTimelineTest, P3_AsksForADomainAndGoesOnWhereItStopped) {
  std::vector<std::string> keys;
  for (const char* host : {"com,other)/", "org,example)/", "org,example,www)/",
                           "org,example:8080)/", "org,example2)/"}) {
    for (int page = 0; page < 9; ++page) keys.push_back(host + std::to_string(page));
  }
  std::uint32_t serial = 0;
  for (std::int64_t time = 0; time < 400; ++time) {
    const std::string& key = keys[static_cast<std::size_t>(time) * 31 % keys.size()];
    loose_.push_back({key, Timestamp{time}, kEndOfTime, {1, ++serial}});
  }
  twin_ = TwinOf(loose_);
  segments_.push_back(Build({kBeginningOfTime, Timestamp{150}, {1000, 40}, 4000}));
  segments_.push_back(Build({Timestamp{150}, Timestamp{300}, {1000, 40}, 4000}));
  ForgetLoose(kBeginningOfTime, Timestamp{300});

  PisaTimelineQuery query{Timestamp{100}, Timestamp{350}, SelectDomain("example.org")};
  const std::vector<PisaCapture> whole = Read(query);
  std::vector<PisaCapture> expected = twin_.AliveDuring(query.first, query.last);
  std::erase_if(expected, [&](const PisaCapture& one) { return !query.what.Has(one.key); });
  EXPECT_GT(expected.size(), 100u);
  EXPECT_EQ(whole, expected);

  query.limit = 4;
  std::vector<PisaCapture> together;
  for (;;) {
    const std::vector<PisaCapture> some = Read(query, &query.resume);
    if (some.empty()) break;
    together.insert(together.end(), some.begin(), some.end());
  }
  EXPECT_EQ(together, whole);
}

TEST_F(PisaTimelineTest, P2_RefusesToGoOnFromNowhere) {
  PisaTimelineQuery query = At(5);
  query.resume = "x";
  PisaTimelineCursor cursor = Ask(query);
  const Result<bool> more = cursor.Next();
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::kInvalid);
}

TEST_F(PisaTimelineTest, P2_ANewArchiveHasOnlyLooseCaptures) {
  EXPECT_TRUE(Read(At(7)).empty());
  Add({"a", Timestamp{5}, kEndOfTime, {1, 1}});
  EXPECT_EQ(Read(At(7)).size(), 1u);
  EXPECT_TRUE(Read(At(4)).empty());
}

TEST_F(PisaTimelineTest, P2_AGapBetweenSegmentsIsNamed) {
  Roll(Timestamp{10});
  segments_.push_back(Build(Timestamp{11}, Timestamp{20}));
  const Status checked = CheckPisaTimeline(segments_);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(checked.error().text.substr(0, 10), "segment-2:");
}

TEST_F(PisaTimelineTest, P1_AFailingDiskIsReportedToWhoeverBuilds) {
  const auto [in_time, late] = InTimeAndLate(3, 5);
  for (const PisaCapture& one : in_time) Add(one);
  Roll(Timestamp{2000});
  for (const PisaCapture& one : late) Add(one);
  const PisaSegmentOptions options{kBeginningOfTime, Timestamp{3000}, kSmallPisa, 4000};
  for (int fail_at = 1;; ++fail_at) {
    io::FaultFileSystem fs(disk_, fail_at);
    PageCache cache(0);
    auto segment = PisaSegment::Open(fs, "segment-1", cache);
    if (!segment) continue;
    Ask(At(0));
    PisaTimelineCursor cursor({std::move(*segment)}, sorted_->NewCursor(),
                              QueryFor(options.first, options.end));
    const Status written = WritePisaSegments(fs, {{"again", options}}, cursor);
    if (!written) {
      EXPECT_EQ(written.error().code, ErrorCode::kIo);
      continue;
    }
    const auto again = PisaSegment::Open(disk_, "again", cache_);
    ASSERT_TRUE(again);
    EXPECT_EQ(ReadAll(**again, AliveDuring(Timestamp{0}, Timestamp{2999})),
              twin_.Answer(AliveDuring(Timestamp{0}, Timestamp{2999})));
    EXPECT_GT(fail_at, 20);
    break;
  }
}

}  // namespace
}  // namespace stele::catalog
