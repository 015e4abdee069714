#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/file_system.h"
#include "util/result.h"

namespace stele::crawl {

// What the logs of a run say, added up. docs/crawling.md, "Reports".
struct CrawlReport {
  struct Sum {
    std::uint64_t urls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t duplicate_urls = 0;
    std::uint64_t duplicate_bytes = 0;
  };
  struct HostSum : Sum {
    std::uint64_t robots = 0;    // kept from us by robots.txt
    std::uint64_t failures = 0;  // without an answer
  };
  struct Seed {
    std::string url;
    int status = 0;
    std::string redirect;  // where it led
    // Something could be fetched there.
    bool is_good() const { return status >= 200 && status < 400; }
  };
  // What a page needs and the archive does not have.
  struct Missing {
    std::string url;
    std::string page;
    std::string reason;
    std::string remedy;
  };
  static constexpr std::size_t kMissingMax = 10'000;

  Sum all;
  std::map<std::string, HostSum> hosts;
  std::map<std::string, Sum> types;
  std::map<int, std::uint64_t> statuses;
  std::map<std::string, std::uint64_t> rejected;  // by the reason in scope.log
  std::vector<Seed> seeds;
  std::vector<Missing> missing;  // at most kMissingMax
  std::uint64_t missing_count = 0;
};

// Reads crawl.log and scope.log in the folder of a run, once, line by line. Errors: kNotFound, kIo.
Result<CrawlReport> ReadCrawlReport(io::FileSystem& fs, const std::string& folder);

// report.json, and in the words of Heritrix seeds-report.txt, hosts-report.txt,
// mimetype-report.txt, responsecode-report.txt, and scope-report.txt. Errors: kIo, kFull.
Status WriteReports(io::FileSystem& fs, const std::string& folder, const CrawlReport& report);

std::string ReportJson(const CrawlReport& report);

}  // namespace stele::crawl
