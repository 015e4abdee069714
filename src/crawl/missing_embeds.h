#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "archive/archive_view.h"
#include "formats/crawl_log/line.h"
#include "io/file_system.h"
#include "util/result.h"

// What pages need and a run did not bring, as its logs tell. docs/crawling.md, "Reports".
namespace stele::crawl {

struct MissingEmbed {
  enum class Why {
    kRobots,
    kScope,
    kError,  // of the server, or on the way to it
    kLimit,  // of pages, bytes, time, URLs of a host, or the size of a file
  };

  std::string url;
  std::string page;  // or whatever else named it, before any redirects
  std::string hops;  // as in Candidate
  Why why = Why::kError;
  std::string reason;
  std::string remedy;
  bool in_circle = false;  // it is a redirect that leads back to itself
};
std::string_view NameOf(MissingEmbed::Why why);  // "robots", "scope", "error", "limit"

// What a status in crawl.log that is no success means, in words.
std::string MeaningOf(int status);
// And a reason in scope.log.
std::string MeaningOf(std::string_view reason);

// A line of scope.log; views into its text.
struct ScopeLine {
  std::string_view url;
  std::string_view hops;
  std::string_view via;
  std::string_view reason;
};
std::optional<ScopeLine> ParseScopeLine(std::string_view text);

// Nothing where a line is not about something that a page needs, or it was captured whole.
std::optional<MissingEmbed> MissingOf(const crawl_log::Line& line);
std::optional<MissingEmbed> MissingOf(const ScopeLine& line);

// Tells what is missing from the lines of a run's logs: first those of crawl.log, then those of
// scope.log, then those of embeds.log. Each URL is told once. Memory: some bytes for each URL that
// is missing, for each page that failed, and for each redirect.
class MissingFinder {
 public:
  std::optional<MissingEmbed> TakeCrawl(const crawl_log::Line& line);
  // After the last line of crawl.log: what stands behind redirects, whose lines may come later.
  std::vector<MissingEmbed> TakeRedirected();
  std::optional<MissingEmbed> TakeScope(const ScopeLine& line);
  std::optional<MissingEmbed> TakeEmbed(const ScopeLine& line);

 private:
  // What became of a page that a page may need as well.
  struct Failure {
    std::string url;
    int status = 0;     // or it was cut
    std::string notes;  // how, or the reason in scope.log
  };
  // Who needs what is redirected.
  struct Need {
    std::string via;
    bool is_behind_another = false;  // `via` is a redirect, too
  };
  void TakeRedirect(const crawl_log::Line& line);
  std::optional<MissingEmbed> Once(std::optional<MissingEmbed> missing);

  // By checksums of what URLs of one page share.
  std::unordered_set<std::uint64_t> named_;
  std::unordered_map<std::uint64_t, Failure> failed_pages_;
  std::unordered_map<std::uint64_t, std::uint64_t> redirects_;
  std::unordered_set<std::uint64_t> redirect_targets_;
  std::unordered_map<std::uint64_t, Need> needs_;
  std::vector<MissingEmbed> redirected_;
};

// All of a run, of which `folder` has the logs; each URL once, as far as one log tells. Errors:
// kNotFound, kIo, and those of `visit`, which end it.
Status VisitMissing(io::FileSystem& fs, const std::string& folder,
                    const std::function<Status(const MissingEmbed& missing)>& visit);

// The last run that captured this URL whole and without an error, from `since` on; nothing where
// none did. Errors: those of the catalog.
Result<std::optional<std::uint32_t>> RunThatHas(const archive::ArchiveView& view,
                                                std::string_view url, std::uint32_t since);
// The same of what was missing: a redirect in a circle is none that has it.
Result<std::optional<std::uint32_t>> RunThatHas(const archive::ArchiveView& view,
                                                const MissingEmbed& missing, std::uint32_t since);

}  // namespace stele::crawl
