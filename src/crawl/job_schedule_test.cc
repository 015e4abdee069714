#include "crawl/job_schedule.h"

#include <gtest/gtest.h>

#include "archive/archive_writer.h"
#include "crawl/crawl_job.h"
#include "io/memory_file_system.h"

namespace stele::crawl {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kBegin{1'700'000'000'000};

archive::Run RunAt(Timestamp begin, std::optional<Timestamp> end) {
  archive::Run run;
  run.begin = begin;
  run.end = end;
  return run;
}

TEST(JobSchedule, I1_TheNextRunIsOnePeriodAfterTheBeginOfTheLast) {
  const archive::Run last = RunAt(kBegin, Timestamp{kBegin.milliseconds + 5'000});
  EXPECT_EQ(NextRun(60s, &last), (Timestamp{kBegin.milliseconds + 60'000}));
  EXPECT_EQ(NextRun(0s, &last), std::nullopt);
  EXPECT_EQ(NextRun(0s, nullptr), std::nullopt);
  // Never ran: at once.
  EXPECT_EQ(NextRun(60s, nullptr), Timestamp{});
  // Interrupted: at once, and not after a period.
  const archive::Run interrupted = RunAt(kBegin, std::nullopt);
  EXPECT_EQ(NextRun(60s, &interrupted), kBegin);
}

TEST(JobSchedule, I1_LastRunsAreReadFromTheLedgerAndWrongFilesDoNotHideOthers) {
  io::MemoryFileSystem fs;
  io::ManualClock clock(kBegin);
  io::SeededRandom random(1);
  archive::ArchiveConfig config;
  config.volumes = {{.name = "main", .path = ""}};
  ASSERT_TRUE(archive::ArchiveWriter::Create(fs, "a", config));
  CrawlSettings settings;
  settings.seeds = {"http://a.org/"};
  settings.every = 3'600s;
  ASSERT_TRUE(SaveSettings(fs, JobFolder("a", "hourly"), settings));
  ASSERT_TRUE(SaveSettings(fs, JobFolder("a", "late"), settings));
  settings.every = 0s;
  ASSERT_TRUE(SaveSettings(fs, JobFolder("a", "manual"), settings));
  ASSERT_TRUE(JobFolder("a", "wrong").Make(fs));
  ASSERT_TRUE(io::ReplaceFile(fs, JobFolder("a", "wrong").Settings(), "every = \"often\"\n"));
  auto writer = archive::ArchiveWriter::Open({fs, clock, random, "test"}, "a");
  ASSERT_TRUE(writer) << writer.error().text;
  const auto run_of = [&](const char* job, bool ends) {
    const Result<std::uint32_t> run =
        (*writer)->BeginRun("crawl", std::string(job) + ": http://a.org/");
    EXPECT_TRUE(run);
    if (!ends) return;
    EXPECT_TRUE((*writer)->EndRun(*run));
  };
  run_of("hourly", true);
  run_of("late", false);
  clock.Set(Timestamp{kBegin.milliseconds + 1'000});
  run_of("hourly", true);

  const Result<std::vector<ScheduledJob>> jobs =
      LoadSchedule(fs, "a", (*writer)->View().holdings());
  ASSERT_TRUE(jobs) << jobs.error().text;
  ASSERT_EQ(jobs->size(), 4U);
  const ScheduledJob& hourly = (*jobs)[0];
  EXPECT_EQ(hourly.name, "hourly");
  EXPECT_EQ(hourly.next, (Timestamp{kBegin.milliseconds + 3'601'000}));
  EXPECT_FALSE(hourly.is_due(clock.Now()));
  // Days later there is one run to make up for, since the next counts from that one.
  EXPECT_TRUE(hourly.is_due(Timestamp{kBegin.milliseconds + 10 * 86'400'000}));
  EXPECT_TRUE((*jobs)[1].is_interrupted());
  EXPECT_TRUE((*jobs)[1].is_due(clock.Now()));
  EXPECT_EQ((*jobs)[2].next, std::nullopt);
  ASSERT_FALSE((*jobs)[3].settings);
  EXPECT_EQ((*jobs)[3].settings.error().text,
            "a/crawl/wrong/job.toml:1: every: often is no time; write for example 90m, 12h, 7d or "
            "2w");
}

TEST(JobSchedule, I1_PeriodsAreReadAsTheyAreWritten) {
  for (const auto& [text, seconds] :
       {std::pair("90m", 5'400), std::pair("12h", 43'200), std::pair("7d", 604'800),
        std::pair("2w", 1'209'600), std::pair("45s", 45)}) {
    const Result<std::chrono::seconds> every = ParseEvery(text);
    ASSERT_TRUE(every) << text;
    EXPECT_EQ(every->count(), seconds);
    EXPECT_EQ(ParseEvery(FormatEvery(*every))->count(), seconds);
  }
  for (const char* wrong : {"", "7", "d", "0d", "-1d", "1.5d", "7 d", "7y", "99999999999999999d"}) {
    EXPECT_FALSE(ParseEvery(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace stele::crawl
