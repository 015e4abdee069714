#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/archive_view.h"
#include "crawl/missing_embeds.h"
#include "crawl/page_trouble.h"
#include "dedup/dedup_report.h"
#include "io/file_system.h"
#include "util/result.h"

namespace stele::crawl {

// In crawl.log, of a seed that is redirected and leads to no page; "nowhere", "circle" or
// "too-often" follow.
inline constexpr std::string_view kRedirectLost = "redirectLost:";

// What the logs of a run say, added up. docs/crawling.md, "Reports".
struct CrawlReport {
  struct Sum {
    std::uint64_t urls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t duplicate_urls = 0;
    std::uint64_t duplicate_bytes = 0;
  };
  struct HostSum : Sum {
    std::uint64_t robots = 0;     // kept from us by robots.txt
    std::uint64_t failures = 0;   // without an answer
    std::uint64_t remaining = 0;  // waited when a limit ended the run; no log tells
    // Of the duplicates: those whose bodies were not fetched, and what came of them nevertheless.
    std::uint64_t not_modified_urls = 0;
    std::uint64_t not_modified_bytes = 0;
  };
  struct Seed {
    std::string url;
    int status = 0;
    std::string redirect;  // where it led
    std::string problem;   // why nothing could be fetched, in words; empty where something was
    std::string by_https;  // why it was, in place of http; empty where it was not
    // Something could be fetched there.
    bool is_good() const { return status >= 200 && status < 400 && problem.empty(); }
  };
  // A page that is probably not what a person would have seen.
  struct Suspect {
    std::string url;
    int status = 0;
    PageTrouble::Kind trouble = PageTrouble::Kind::kChallenge;
    std::string why;
  };
  // A URL that could not be fetched.
  struct Failed {
    std::string url;
    std::string problem;  // in words
  };
  // An origin that did not answer several times in a row.
  struct GivenUp {
    std::uint64_t urls = 0;  // that were not asked for, or not once more
    std::string problem;
  };
  // Where URLs come without end.
  struct Trap {
    std::uint64_t urls = 0;  // that were left alone
    std::string example;
  };
  // So many are named, of each kind; the others are counted.
  static constexpr std::size_t kMissingMax = 10'000;

  Sum all;
  std::map<std::string, HostSum> hosts;
  std::map<std::string, Sum> types;
  std::map<int, std::uint64_t> statuses;
  std::map<std::string, std::uint64_t, std::less<>> rejected;  // by the reason in scope.log
  std::vector<Seed> seeds;
  std::vector<Failed> failed;  // at most kMissingMax
  std::uint64_t failed_count = 0;
  std::map<std::string, GivenUp> given_up;  // by origin
  std::vector<MissingEmbed> missing;        // at most kMissingMax
  std::uint64_t missing_count = 0;
  std::uint64_t came_later = 0;   // was missing, and the archive has it now
  std::vector<Suspect> suspects;  // at most kMissingMax
  std::uint64_t suspect_count = 0;
  // By their kinds ("endless-parameters") and places; at most kMissingMax.
  std::map<std::pair<std::string, std::string>, Trap> traps;
  std::uint64_t trapped_urls = 0;      // that were left alone
  dedup::DedupReport duplicates;       // without how they were looked for
  std::uint64_t links_left_out = 0;    // of pages with too many of them
  std::uint64_t repeated_secrets = 0;  // responses with a cookie in them that a person gave

  std::uint64_t CountRejected(std::string_view reason) const {
    const auto found = rejected.find(reason);
    return found == rejected.end() ? 0 : found->second;
  }
  // Answers that only say that the server has no time (429, 503).
  std::uint64_t CountBusy() const {
    std::uint64_t urls = 0;
    for (const int status : {429, 503}) {
      if (const auto found = statuses.find(status); found != statuses.end()) urls += found->second;
    }
    return urls;
  }
};

// What to do where a trap of this kind is none.
std::string_view RemedyForTrap(std::string_view kind);

// Reads crawl.log and scope.log in the folder of a run, once, line by line. Errors: kNotFound, kIo.
Result<CrawlReport> ReadCrawlReport(io::FileSystem& fs, const std::string& folder);

// Leaves out what is not missing any more: this run or a later one captured it after all. Looks at
// what is named only. Errors: those of the catalog.
Status DropCaptured(const archive::ArchiveView& view, std::uint32_t run, CrawlReport& report);

// report.json, and in the words of Heritrix seeds-report.txt, hosts-report.txt,
// mimetype-report.txt, responsecode-report.txt, and scope-report.txt. Errors: kIo, kFull.
Status WriteReports(io::FileSystem& fs, const std::string& folder, const CrawlReport& report);

std::string ReportJson(const CrawlReport& report);

}  // namespace stele::crawl
