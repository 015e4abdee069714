// What happens to the indexes of an archive at the end of a run: logs become files, these are
// merged, and PISA segments are made. Answers are compared with a list of all captures.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "archive/test_archive.h"
#include "archive/test_indexes.h"
#include "archive/verify.h"
#include "io/fault_file_system.h"
#include "util/test_stride.h"

namespace stele::archive {
namespace {

using testing::ArchiveLab;
using testing::kSmallIndexes;
using testing::PutFile;
using testing::WarcText;

constexpr int kUrls = 12;
constexpr std::int64_t kDay = 86'400'000;
constexpr Timestamp kFirstDay{1'072'915'200'000};  // 2004-01-01

std::string UrlOf(int number) { return fmt::format("http://s{}.example/page", number); }
Timestamp DayOf(int day) { return {kFirstDay.milliseconds + day * kDay}; }

// The naive twin: all captures that were brought.
class Twin {
 public:
  // A run on a day captures all URLs but one; each third run comes late and tells of earlier days.
  std::string Bring(int run) {
    const int day = run % 3 == 2 ? run / 2 : run * 2;
    WarcText warc(record::Compression::kGzip, static_cast<std::uint64_t>(run) + 1);
    for (int url = 0; url < kUrls; ++url) {
      if (url == run % kUrls) continue;
      const Timestamp time{DayOf(day).milliseconds + run};
      warc.Response(UrlOf(url), FormatIsoMillis(time), fmt::format("{} in run {}", url, run));
      captures_[UrlOf(url)].insert(time);
    }
    return warc.bytes();
  }

  // Each URL with the time of its last capture at that moment.
  std::map<std::string, Timestamp> StateAt(Timestamp moment) const {
    std::map<std::string, Timestamp> state;
    for (const auto& [url, times] : captures_) {
      const auto behind = times.upper_bound(moment);
      if (behind != times.begin()) state[url] = *std::prev(behind);
    }
    return state;
  }
  std::size_t size() const {
    std::size_t sum = 0;
    for (const auto& [url, times] : captures_) sum += times.size();
    return sum;
  }

 private:
  std::map<std::string, std::set<Timestamp>> captures_;
};

std::map<std::string, Timestamp> Answer(const ArchiveView& view, const CaptureQuery& query) {
  std::map<std::string, Timestamp> found;
  CaptureResults results(view, query);
  for (;;) {
    const Result<const catalog::HeldCapture*> held = results.Next();
    EXPECT_TRUE(held) << held.error().text;
    if (!held || *held == nullptr) return found;
    EXPECT_TRUE(found.emplace((*held)->row.url, (*held)->row.time).second) << (*held)->row.url;
  }
}

void ExpectSameAnswers(const ArchiveView& view, const Twin& twin, int days) {
  EXPECT_EQ(testing::Lines(view).size(), twin.size());
  for (int day = 0; day <= days; day += 3) {
    SCOPED_TRACE(day);
    CaptureQuery query;
    query.where.what = catalog::SelectAll();
    query.where.pick = catalog::LocationQuery::Pick::kBefore;
    query.where.from = DayOf(day);
    const std::map<std::string, Timestamp> state = twin.StateAt(DayOf(day));
    EXPECT_EQ(Answer(view, query), state);
    query.where.what = catalog::SelectUrl(UrlOf(day % kUrls));
    const auto one = Answer(view, query);
    const auto expected = state.find(UrlOf(day % kUrls));
    EXPECT_EQ(one.size(), expected == state.end() ? 0u : 1u);
    if (expected != state.end() && !one.empty()) {
      EXPECT_EQ(one.begin()->second, expected->second);
    }
  }
  const auto outcome = Verify(view, {}, [](const std::string& defect) { ADD_FAILURE() << defect; });
  EXPECT_TRUE(outcome) << outcome.error().text;
}

Status BringRun(ArchiveWriter& archive, const std::string& name) {
  const Result<std::uint32_t> run = archive.BeginRun("import", "");
  if (!run) return run.error();
  const Result<ImportOutcome> outcome = ImportFile(archive, *run, name, {});
  if (!outcome) return outcome.error();
  return archive.EndRun(*run);
}

TEST(IndexMerge, P2_AnswersAreRightWhenRunsEndWithMergesAndPisaSegments) {
  io::MemoryFileSystem fs;
  ArchiveLab lab(fs, kSmallIndexes);
  ASSERT_TRUE(lab.Create());
  Twin twin;
  constexpr int kRuns = 18;
  bool was_merged = false;
  std::size_t segments = 0;
  auto archive = lab.Open();
  ASSERT_TRUE(archive) << archive.error().text;
  for (int run = 0; run < kRuns && !HasFailure(); ++run) {
    SCOPED_TRACE(run);
    PutFile(fs, "in.warc.gz", twin.Bring(run));
    const Status brought = BringRun(**archive, "in.warc.gz");
    ASSERT_TRUE(brought) << brought.error().text;
    const ArchiveView view = (*archive)->View();
    const catalog::Manifest& manifest = view.catalog().files().manifest;
    for (const auto& line : manifest.runs) was_merged = was_merged || line.level > 0;
    segments = std::max(segments, manifest.pisa.size());
    ExpectSameAnswers(view, twin, 2 * run + 3);
  }
  EXPECT_TRUE(was_merged);
  EXPECT_GT(segments, 1u);
  // Another process sees the same, and so does whoever opens it next.
  auto reader = ArchiveReader::Open(fs, "a");
  ASSERT_TRUE(reader) << reader.error().text;
  ExpectSameAnswers((*reader)->View(), twin, 2 * kRuns);
  archive->reset();
  archive = lab.Open(ArchiveWriter::Rebuild::kCatalog);
  ASSERT_TRUE(archive) << archive.error().text;
  ExpectSameAnswers((*archive)->View(), twin, 2 * kRuns);
}

// A disk fails, and loses power, while index files are merged and PISA segments are made.
TEST(IndexMerge, P2_NothingIsLostWhereverTheDiskFailsAtTheEndOfARun) {
  constexpr int kRuns = 7;
  int failed_at_end = 0;
  for (int fail_at = 1;; fail_at += 3 * kTestStride) {
    SCOPED_TRACE(fail_at);
    io::MemoryFileSystem disk;
    ArchiveLab lab(disk, kSmallIndexes);
    ASSERT_TRUE(lab.Create());
    Twin twin;
    {
      auto archive = lab.Open();
      const Result<std::uint32_t> run = (*archive)->BeginRun("import", "");
      for (int i = 0; i < kRuns; ++i) {
        PutFile(disk, "in.warc.gz", twin.Bring(i));
        ASSERT_TRUE(ImportFile(**archive, *run, "in.warc.gz", {}));
      }
    }
    disk.SyncAll();
    bool ended = false;
    bool was_open = false;
    {
      io::FaultFileSystem fs(disk, fail_at);
      ArchiveLab failing(fs, kSmallIndexes);
      auto archive = failing.Open();
      was_open = archive.ok();
      ended = was_open && (*archive)->EndRun(1);
      if (ended) {
        EXPECT_FALSE((*archive)->View().catalog().files().pisa.empty());
      }
    }
    if (was_open && !ended) ++failed_at_end;
    io::SeededRandom dice(static_cast<std::uint64_t>(fail_at));
    disk.Crash(dice);
    auto archive = lab.Open();
    ASSERT_TRUE(archive) << archive.error().text;
    ExpectSameAnswers((*archive)->View(), twin, 2 * kRuns);
    const Result<std::uint32_t> next = (*archive)->BeginRun("import", "");
    ASSERT_TRUE(next);
    ASSERT_TRUE((*archive)->EndRun(*next));
    ExpectSameAnswers((*archive)->View(), twin, 2 * kRuns);
    EXPECT_FALSE((*archive)->View().catalog().files().pisa.empty());
    if (ended || HasFailure()) break;
  }
  EXPECT_GT(failed_at_end, 5);
}

}  // namespace
}  // namespace stele::archive
