#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive_view.h"
#include "cli/change_counts.h"
#include "crawl/crawl_report.h"
#include "util/result.h"

namespace stele::cli {

// How much of what run `run` missed came with another.
struct PatchCount {
  std::uint32_t run = 0;
  std::uint64_t wanted = 0;
  std::uint64_t found = 0;
};

// What a run of a crawl came to, for people and programs.
struct CrawlSummary {
  std::uint32_t run = 0;
  std::uint64_t pages = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;   // of the payloads that were fetched, known to the crawl alone
  std::uint64_t stored = 0;  // of those that were not here
  std::uint64_t milliseconds = 0;
  std::uint64_t failed = 0;           // URLs that could not be fetched
  std::vector<std::string> given_up;  // origins that did not answer
  std::uint64_t missing = 0;          // that pages need
  std::uint64_t too_deep = 0;         // links that were not followed
  std::uint64_t links_left_out = 0;
  std::uint64_t traps = 0;
  std::uint64_t trapped_urls = 0;       // that were left alone in them
  std::uint64_t repeated_secrets = 0;   // responses with a cookie in them that a person gave
  bool is_partial = false;              // a limit ended it: what it has not, need not be gone
  std::optional<ChangeCounts> changes;  // since the run before, where there is one
  std::vector<crawl::CrawlReport::Seed> failed_seeds;

  std::optional<PatchCount> patch;  // of a run that fills the gaps of another

  std::string Text() const;  // "Run 1  142 pages, ..."
  std::string Json() const;
};

// `before` is the run of the same job that was last. Errors: those of the archive.
Result<CrawlSummary> SummarizeCrawl(const archive::ArchiveView& view, std::uint32_t run,
                                    std::optional<std::uint32_t> before);

}  // namespace stele::cli
