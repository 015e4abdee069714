#include "catalog/pisa_segment.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/pisa_cursor.h"
#include "catalog/pisa_page.h"
#include "catalog/pisa_test_lab.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "io/posix_file_system.h"
#include "util/test_paths.h"

namespace stele::catalog {
namespace {

using testing::HasSubstr;

const std::string kGoldenSegment = SourcePath("src/catalog/golden/pisa-segment-3");

// From 1400 to 2000: about the middle of what scenarios have.
PisaSegmentOptions SmallSegment() { return {Timestamp{1400}, Timestamp{2000}, kSmallPisa, 4000}; }

std::vector<PisaCapture> ExampleCaptures(std::uint64_t seed = 1) {
  io::SeededRandom dice(seed);
  return ByKey(MakeScenario({}, dice));
}

// Nothing when it is there, sound and as it should be, else why not.
std::optional<Error> SegmentError(io::FileSystem& fs, const std::string& path) {
  PageCache cache(1 << 20);
  const Result<std::unique_ptr<PisaSegment>> segment = PisaSegment::Open(fs, path, cache);
  if (!segment) return segment.error();
  std::optional<Error> first;
  const Status checked = (*segment)->Validate([&](const Error& error) {
    if (!first) first = error;
  });
  if (!checked) return checked.error();
  if (first) return first;
  const PisaSelection selection = AliveDuring(Timestamp{1400}, Timestamp{1999});
  if (ReadAll(**segment, selection) != TwinOf(ExampleCaptures()).Answer(selection)) {
    return Error{ErrorCode::kInvalid, "other captures than were written"};
  }
  return std::nullopt;
}

class PisaSegmentTest : public testing::Test {
 protected:
  std::unique_ptr<PisaSegment> Open() {
    Result<std::unique_ptr<PisaSegment>> segment = PisaSegment::Open(disk_, "s", cache_);
    EXPECT_TRUE(segment) << segment.error().text;
    return segment ? std::move(*segment) : nullptr;
  }

  io::MemoryFileSystem disk_;
  PageCache cache_{1 << 16};
};

TEST_F(PisaSegmentTest, P2_AnswersAsItsTwinDoes) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    io::SeededRandom dice(seed);
    const std::vector<PisaCapture> captures = ByKey(MakeScenario({}, dice));
    const PisaSegmentOptions options = SmallSegment();
    ASSERT_TRUE(WriteSegment(disk_, "s", options, captures));
    const auto segment = Open();
    ASSERT_NE(segment, nullptr);
    EXPECT_GT(segment->parts().size(), 1u);
    const Status checked =
        segment->Validate([](const Error& error) { ADD_FAILURE() << error.text; });
    EXPECT_TRUE(checked);
    const PisaTwin twin = TwinOf(captures);
    for (int i = 0; i < 60; ++i) {
      PisaSelection selection = AnySelection(captures, dice);
      selection.first = std::clamp(selection.first, options.first, Timestamp{1999});
      selection.last = std::clamp(selection.last, options.first, Timestamp{1999});
      EXPECT_EQ(ReadAll(*segment, selection), twin.Answer(selection));

      const std::string key = captures[dice.Next() % captures.size()].key;
      PisaSelection of_key{selection.first, selection.last, key, key + '\0'};
      const auto backwards = BacktrackPisaCaptures(*segment, key, of_key.first, of_key.last);
      ASSERT_TRUE(backwards);
      EXPECT_EQ(*backwards, twin.Answer(of_key));
      of_key.first = of_key.last;
      const auto at = FindPisaCapture(*segment, key, of_key.last);
      ASSERT_TRUE(at);
      EXPECT_EQ(*at ? std::vector{**at} : std::vector<PisaCapture>(), twin.Answer(of_key));
    }
  }
}

// As an archive has it: long keys, pages of full size, parts of a thousand captures and more.
TEST_F(PisaSegmentTest, P2_AnswersAsItsTwinDoesWithPagesOfFullSize) {
  io::SeededRandom dice(11);
  std::vector<PisaCapture> captures;
  for (std::uint32_t i = 0; i < 40000; ++i) {
    const std::uint64_t page = dice.Next() % 100 < 20 ? 7 : dice.Next() % 9000;
    std::string key = fmt::format("com,example{})/articles/{:08x}", page % 13, page * 2654435761);
    key.append(page % 50 == 0 ? 470 : page % 40, 'x');
    captures.push_back({key, Timestamp{1000 + i / 2}, kEndOfTime, {200405, i}});
  }
  const PisaTwin twin = TwinOf(captures);
  const PisaSegmentOptions options{Timestamp{6000}, Timestamp{18000}, {}, 200000};
  ASSERT_TRUE(WriteSegment(disk_, "s", options, ByKey(captures)));
  const auto segment = Open();
  ASSERT_NE(segment, nullptr);
  EXPECT_GT(segment->parts().size(), 3u);
  EXPECT_TRUE(segment->Validate([](const Error& error) { ADD_FAILURE() << error.text; }));
  for (std::int64_t first = 6000; first < 18000; first += 3777) {
    for (std::int64_t last = first; last < 18000; last += 3555) {
      const PisaSelection all = AliveDuring(Timestamp{first}, Timestamp{last});
      EXPECT_TRUE(ReadAll(*segment, all) == twin.Answer(all)) << first << " " << last;
      const PisaSelection some = AliveDuring(Timestamp{first}, Timestamp{last}, "com,example5)/");
      EXPECT_TRUE(ReadAll(*segment, some) == twin.Answer(some)) << first << " " << last;
    }
  }
}

// The same keys captured 3, 30 and 90 times, in segments of three captures for each key.
TEST_F(PisaSegmentTest, P2_AMomentReadsAsManyPagesHoweverLongTheHistory) {
  constexpr std::int64_t kKeys = 3000;
  std::vector<std::size_t> pages;
  std::vector<PisaCapture> captures;
  for (std::int64_t round = 0; round < 90; ++round) {
    for (std::int64_t i = 0; i < kKeys; ++i) {
      const std::string key = fmt::format("com,example)/articles/{:08}", i);
      const Timestamp time{round * kKeys + i * 7919 % kKeys};
      captures.push_back({key, time, kEndOfTime, {200405, static_cast<std::uint32_t>(i)}});
    }
    if (round != 2 && round != 29 && round != 89) continue;
    const std::int64_t first = (round - 2) * kKeys;
    const PisaSegmentOptions options{Timestamp{first}, Timestamp{first + 3 * kKeys}};
    ASSERT_TRUE(WriteSegment(disk_, "s", options, ByKey(captures)));
    const auto segment = Open();
    const CountingForest counting(*segment);
    EXPECT_EQ(ReadAll(counting, StateAt(Timestamp{first + 2 * kKeys})).size(), kKeys);
    pages.push_back(counting.reads);
  }
  ASSERT_EQ(pages.size(), 3u);
  EXPECT_LE(pages[1], pages[0] * 3 / 2);
  EXPECT_LE(pages[2], pages[1] + 1);
}

TEST_F(PisaSegmentTest, P1_KnowsWhatItHas) {
  ASSERT_TRUE(WriteSegment(disk_, "s", SmallSegment(), ExampleCaptures()));
  const PisaSegmentSummary summary = Open()->summary();
  const PisaTwin twin = TwinOf(ExampleCaptures());
  EXPECT_EQ(summary.keys, twin.Answer(StateAt(Timestamp{1999})).size());
  EXPECT_EQ(summary.carried + summary.captures,
            twin.Answer(AliveDuring(Timestamp{1400}, Timestamp{1999})).size());
  EXPECT_EQ(summary.first, Timestamp{1400});
  EXPECT_EQ(summary.end, Timestamp{2000});
}

TEST_F(PisaSegmentTest, P1_ASegmentMayBeEmpty) {
  ASSERT_TRUE(WriteSegment(disk_, "s", {}, {}));
  const auto segment = Open();
  ASSERT_NE(segment, nullptr);
  EXPECT_TRUE(ReadAll(*segment, StateAt(Timestamp{0})).empty());
  EXPECT_TRUE(segment->Validate([](const Error& error) { ADD_FAILURE() << error.text; }));
}

TEST_F(PisaSegmentTest, P1_RefusesWhatIsOutOfOrder) {
  auto writer = PisaSegmentWriter::Create(disk_, "s", SmallSegment());
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->Add("b", Timestamp{1500}, {1, 1}));
  for (const auto& [key, time] : {std::pair("a", 1500), std::pair("b", 1499), std::pair("c", 2000),
                                  std::pair("cccccccccccccc", 1500)}) {
    const Status added = (*writer)->Add(key, Timestamp{time}, {1, 2});
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, ErrorCode::kInvalid);
  }
  ASSERT_TRUE((*writer)->Add("b", Timestamp{1500}, {1, 3}));
  ASSERT_TRUE((*writer)->Finish());
  const std::vector<PisaCapture> only = {{"b", Timestamp{1500}, kEndOfTime, {1, 3}}};
  EXPECT_EQ(ReadAll(*Open(), StateAt(Timestamp{1999})), only);
}

TEST_F(PisaSegmentTest, P1_EveryFlippedBitIsFoundAndNamed) {
  ASSERT_TRUE(WriteSegment(disk_, "good", SmallSegment(), ExampleCaptures()));
  const std::string good = *io::ReadFile(disk_, "good");
  ASSERT_EQ(SegmentError(disk_, "good"), std::nullopt);
  for (std::size_t byte = 0; byte < good.size(); ++byte) {
    std::string flipped = good;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << byte % 8));
    ASSERT_TRUE(io::ReplaceFile(disk_, "s", flipped));
    const std::optional<Error> error = SegmentError(disk_, "s");
    ASSERT_TRUE(error) << byte;
    EXPECT_EQ(error->code, ErrorCode::kCorrupt);
    EXPECT_THAT(error->text, testing::StartsWith("s: "));
  }
}

// Pages whose checksums are good, and that are pages of another tree: circles, other levels, gaps.
TEST_F(PisaSegmentTest, P1_PagesThatDoNotFitTogetherAreFound) {
  ASSERT_TRUE(WriteSegment(disk_, "good", SmallSegment(), ExampleCaptures()));
  auto good = PageFile::Open(disk_, "good", kPisaSegmentKind, cache_);
  ASSERT_TRUE(good);
  for (std::uint32_t odd = 0; odd < (*good)->pages(); ++odd) {
    auto writer = PageFileWriter::Create(disk_, "s", kPisaSegmentKind);
    ASSERT_TRUE(writer);
    for (std::uint32_t page = 0; page < (*good)->pages(); ++page) {
      const std::uint32_t taken = page == odd ? (page + 1) % (*good)->pages() : page;
      ASSERT_TRUE((*writer)->Append({**(*good)->Read(taken)}));
    }
    ASSERT_TRUE((*writer)->Finish((*good)->summary()));
    const auto segment = Open();
    ASSERT_NE(segment, nullptr);
    int found = 0;
    EXPECT_TRUE(segment->Validate([&](const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::kCorrupt);
      EXPECT_THAT(error.text, HasSubstr("stele reindex"));
      ++found;
    }));
    EXPECT_GT(found, 0) << odd;
  }
}

// Whatever fails: an error is reported, the old file stays or the new one is complete, and trying
// again works.
TEST(PisaSegmentFailure, P1_AFailingDiskLeavesTheOldFileOrTheNew) {
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    ASSERT_TRUE(io::ReplaceFile(disk, "s", "old"));
    io::FaultFileSystem fs(disk, fail_at);
    const Status written = WriteSegment(fs, "s", SmallSegment(), ExampleCaptures());
    const std::string left = *io::ReadFile(disk, "s");
    EXPECT_TRUE((!written && left == "old") || !SegmentError(disk, "s")) << fail_at;
    if (written) {
      EXPECT_GT(fail_at, 5);
      break;
    }
    EXPECT_EQ(written.error().code, ErrorCode::kIo);
    EXPECT_TRUE(WriteSegment(disk, "s", SmallSegment(), ExampleCaptures()));
    EXPECT_EQ(SegmentError(disk, "s"), std::nullopt);
  }
}

// Reading from a disk that fails is an error, never a wrong answer.
TEST(PisaSegmentFailure, P1_AFailingDiskIsReportedToWhoeverReads) {
  io::MemoryFileSystem disk;
  ASSERT_TRUE(WriteSegment(disk, "s", SmallSegment(), ExampleCaptures()));
  for (int fail_at = 1;; ++fail_at) {
    io::FaultFileSystem fs(disk, fail_at);
    const std::optional<Error> error = SegmentError(fs, "s");
    if (!error) break;
    EXPECT_EQ(error->code, ErrorCode::kIo) << error->text;
  }
}

// The power fails after each step of writing.
TEST(PisaSegmentFailure, P1_ACrashLeavesTheOldFileOrTheNew) {
  io::SeededRandom dice(3);
  for (int fail_at = 1;; ++fail_at) {
    bool finished = false;
    for (int round = 0; round < 4; ++round) {
      io::MemoryFileSystem disk;
      ASSERT_TRUE(io::ReplaceFile(disk, "s", "old"));
      io::FaultFileSystem fs(disk, fail_at);
      const Status written = WriteSegment(fs, "s", SmallSegment(), ExampleCaptures());
      round == 0 ? disk.Crash() : disk.Crash(dice);
      const std::string left = *io::ReadFile(disk, "s");
      EXPECT_TRUE((!written && left == "old") || !SegmentError(disk, "s")) << fail_at;
      EXPECT_TRUE(WriteSegment(disk, "s", SmallSegment(), ExampleCaptures()));
      finished = written.ok();
    }
    if (finished) break;
  }
}

TEST(PisaSegmentGolden, P1_TheGoldenFileIsRead) {
  io::PosixFileSystem files;
  const std::optional<Error> error = SegmentError(files, kGoldenSegment);
  EXPECT_FALSE(error) << error->text;
}

TEST(PisaSegmentGolden, P1_TheSameCapturesMakeTheSamePages) {
  io::PosixFileSystem files;
  const std::string made = testing::TempDir() + "pisa-segment-3";
  ASSERT_TRUE(WriteSegment(files, made, SmallSegment(), ExampleCaptures()));
  PageCache cache(1 << 20);
  const auto now = PageFile::Open(files, made, kPisaSegmentKind, cache);
  const auto golden = PageFile::Open(files, kGoldenSegment, kPisaSegmentKind, cache);
  ASSERT_TRUE(golden) << "what is written now is in " << made;
  ASSERT_EQ((*now)->pages(), (*golden)->pages());
  EXPECT_EQ((*now)->summary(), (*golden)->summary());
  for (std::uint32_t page = 0; page < (*now)->pages(); ++page) {
    EXPECT_EQ(**(*now)->Read(page), **(*golden)->Read(page)) << page;
  }
}

}  // namespace
}  // namespace stele::catalog
