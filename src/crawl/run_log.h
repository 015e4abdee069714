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

// The status in crawl.log of what robots.txt forbids, as Heritrix has it.
inline constexpr int kRobotsPrecluded = -9998;

// The logs of a run: crawl.log, a line for each URL that was finished; scope.log, a line for each
// that was left alone, with the reason; and embeds.log, a line for what a page needs and had been
// linked before, so that its line in crawl.log does not tell. Lines wait in memory until Flush().
// Not thread-safe.
class RunLog {
 public:
  // How much of the files is good.
  struct Sizes {
    std::uint64_t crawl = 0;
    std::uint64_t scope = 0;
    std::uint64_t embeds = 0;

    std::string Encode() const;
    // Zeros where there is nothing.
    static Sizes Decode(std::string_view bytes);
  };

  static std::string CrawlLogPath(const std::string& folder) { return folder + "/crawl.log"; }
  static std::string ScopeLogPath(const std::string& folder) { return folder + "/scope.log"; }
  static std::string EmbedLogPath(const std::string& folder) { return folder + "/embeds.log"; }

  // Goes on behind `sizes`; what follows there was never acknowledged, and goes. Errors: kIo.
  static Result<std::unique_ptr<RunLog>> Open(io::FileSystem& fs, const std::string& folder,
                                              const Sizes& sizes);

  void Add(crawl_log::Line line, Timestamp now);
  // The same URL for the same reason is logged once, as far as memory goes; as a page and as what a
  // page needs it counts as two.
  void AddRejected(const Candidate& candidate, std::string_view reason, Timestamp now);
  // Something that a page needs and the crawl knows already. Once, as far as memory goes.
  void AddEmbed(const Candidate& candidate, Timestamp now);
  // That was added, as far as memory goes.
  bool HasEmbed(std::string_view url) const;

  // Errors: kIo, kFull.
  Status Flush();
  // Of what was flushed.
  const Sizes& sizes() const { return sizes_; }

 private:
  RunLog() = default;
  // Remembers what the logs have, so that it is not logged again.
  Status Remember(io::FileSystem& fs, const std::string& folder);

  std::unique_ptr<io::WritableFile> crawl_;
  std::unique_ptr<io::WritableFile> scope_;
  std::unique_ptr<io::WritableFile> embeds_;
  Sizes sizes_;
  std::string crawl_lines_;
  std::string scope_lines_;
  std::string embed_lines_;
  std::unordered_set<std::uint64_t> rejected_;    // checksums
  std::unordered_set<std::uint64_t> embed_urls_;  // likewise
};

// A text in the JSON at the end of a line of crawl.log; empty: there is none.
std::string ExtraText(const crawl_log::Line& line, const char* name);

// Gives all lines of a log without their ends. Errors: kNotFound, kIo.
Status ReadLogLines(io::FileSystem& fs, const std::string& path,
                    const std::function<void(std::string_view line)>& take);

}  // namespace stele::crawl
