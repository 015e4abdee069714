// A process that crawls, and merges index files at the end of each run, is killed at random points.
// Everything that it was told is there must be there afterwards, once, under its id.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>

#include "archive/test_archive.h"
#include "archive/test_crawl.h"
#include "archive/test_indexes.h"
#include "archive/verify.h"
#include "io/posix_file_system.h"
#include "io/test_kill.h"
#include "util/ascii.h"

namespace stele::archive {
namespace {

struct Heard {
  std::map<std::string, std::string> ids;  // by URL
  int last = 0;
  std::string bad;

  void Take(std::string_view line) {
    if (line.starts_with("bad")) bad += line;
    if (!line.starts_with("has ")) return;
    const std::vector<std::string_view> words = Split(line, ' ');
    if (words.size() != 4) return;
    const int number = static_cast<int>(ParseDecimal(words[1]).value_or(0));
    last = std::max(last, number);
    ids[testing::Fetched(number, "").url] = fmt::format("{}/{}", words[2], words[3]);
  }
};

TEST(RunWriterKill, I1_EveryAcknowledgedCaptureSurvivesManyKillsOnce) {
  const std::string directory =
      ::testing::TempDir() + fmt::format("stele_run_writer_{}", ::getpid());
  std::filesystem::remove_all(directory);
  io::PosixFileSystem fs;
  io::SystemClock clock;
  io::SeededRandom dice(21);
  ArchiveConfig config;
  config.volumes = {{.name = "main", .path = ""}};
  ASSERT_TRUE(ArchiveWriter::Create(fs, directory, config));
  Heard heard;
  for (int round = 0; round < 12 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    std::string text;
    io::RunAndKill({STELE_KILL_CHILD, directory, std::to_string(heard.last + 1000)}, "has ",
                   static_cast<unsigned>(dice.Next() % 60'000), text);
    if (HasFatalFailure()) return;
    for (const std::string_view line : Split(text, '\n')) heard.Take(line);
    auto archive =
        ArchiveWriter::Open({fs, clock, dice, "a test", testing::kSmallIndexes}, directory);
    ASSERT_TRUE(archive) << archive.error().text;
    const ArchiveView view = (*archive)->View();
    std::set<std::string> seen;
    for (const std::string& line : testing::Lines(view)) {
      const std::vector<std::string_view> words = Split(line, ' ');
      EXPECT_TRUE(seen.insert(std::string(words[1])).second) << line << " is there twice";
      const auto told = heard.ids.find(std::string(words[1]));
      EXPECT_TRUE(told == heard.ids.end() || told->second == words[0]) << line;
    }
    for (const auto& [url, id] : heard.ids) EXPECT_TRUE(seen.contains(url)) << url << " is lost";
    const auto outcome =
        Verify(view, {}, [](const std::string& defect) { ADD_FAILURE() << defect; });
    EXPECT_TRUE(outcome);
    // What was interrupted is merged now.
    ASSERT_TRUE((*archive)->EndRun(*(*archive)->BeginRun("crawl", "")));
    const ArchiveView merged = (*archive)->View();
    EXPECT_EQ(testing::Lines(merged), testing::Lines(view));
    if (heard.ids.size() > 100) {
      EXPECT_FALSE(merged.catalog().files().pisa.empty());
    }
  }
  EXPECT_EQ(heard.bad, "");
  EXPECT_GT(heard.ids.size(), 100u);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace stele::archive
