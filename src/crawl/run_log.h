#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "crawl/candidate.h"
#include "formats/crawl_log/line.h"
#include "io/file_system.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::crawl {

// The logs of a run: crawl.log, a line for each URL that was finished, and scope.log, a line for
// each that was left alone, with the reason. Lines wait in memory until Flush(). Not thread-safe.
class RunLog {
 public:
  // How much of the files is good.
  struct Sizes {
    std::uint64_t crawl = 0;
    std::uint64_t scope = 0;
  };

  static std::string CrawlLogPath(const std::string& folder) { return folder + "/crawl.log"; }
  static std::string ScopeLogPath(const std::string& folder) { return folder + "/scope.log"; }

  // Goes on behind `sizes`; what follows there was never acknowledged, and goes. Errors: kIo.
  static Result<std::unique_ptr<RunLog>> Open(io::FileSystem& fs, const std::string& folder,
                                              const Sizes& sizes);

  void Add(crawl_log::Line line, Timestamp now);
  // The same URL for the same reason is logged once, as far as memory goes.
  void AddRejected(const Candidate& candidate, std::string_view reason, Timestamp now);

  // Errors: kIo, kFull.
  Status Flush();
  // Of what was flushed.
  const Sizes& sizes() const { return sizes_; }

 private:
  RunLog() = default;

  std::unique_ptr<io::WritableFile> crawl_;
  std::unique_ptr<io::WritableFile> scope_;
  Sizes sizes_;
  std::string crawl_lines_;
  std::string scope_lines_;
  std::unordered_set<std::uint64_t> rejected_;  // checksums
};

// Gives all lines of a log without their ends. Errors: kNotFound, kIo.
Status ReadLogLines(io::FileSystem& fs, const std::string& path,
                    const std::function<void(std::string_view line)>& take);

}  // namespace stele::crawl
