#include "crawl/run_log.h"

#include <gtest/gtest.h>

#include "io/memory_file_system.h"

namespace stele::crawl {
namespace {

TEST(RunLog, I1_WhatWasFlushedSurvivesAPowerCut) {
  io::MemoryFileSystem disk;
  ASSERT_TRUE(disk.MakeDirectory("run"));
  ASSERT_TRUE(disk.SyncDirectory("."));
  RunLog::Sizes sizes;
  {
    const Result<std::unique_ptr<RunLog>> log = RunLog::Open(disk, "run", {});
    ASSERT_TRUE(log) << log.error().text;
    Candidate candidate;
    candidate.url = "http://a.org/";
    (*log)->AddRejected(candidate, "outside", Timestamp{});
    crawl_log::Line line;
    line.uri = candidate.url;
    (*log)->Add(line, Timestamp{});
    (*log)->AddEmbed(candidate, Timestamp{});
    ASSERT_TRUE((*log)->Flush());
    sizes = (*log)->sizes();
  }
  disk.Crash();
  for (const auto& [path, size] : {std::pair(RunLog::CrawlLogPath("run"), sizes.crawl),
                                   {RunLog::ScopeLogPath("run"), sizes.scope},
                                   {RunLog::EmbedLogPath("run"), sizes.embeds}}) {
    const Result<std::string> text = io::ReadFile(disk, path);
    ASSERT_TRUE(text) << text.error().text;
    EXPECT_GT(size, 0U);
    EXPECT_EQ(text->size(), size) << path;
  }
}

}  // namespace
}  // namespace stele::crawl
