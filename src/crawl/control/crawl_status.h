#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/result.h"
#include "util/timestamp.h"

// A running crawl as data: what it tells, and what may be changed. docs/formats/crawl-status.md
namespace stele::crawl {

// How far a run is, with what an interrupted part of it did.
struct CrawlCounts {
  std::uint64_t pages = 0;
  std::uint64_t files = 0;       // responses, pages included
  std::uint64_t bytes = 0;       // of payloads
  std::uint64_t duplicates = 0;  // of files
  std::uint64_t failures = 0;    // URLs without an answer
  std::uint64_t milliseconds = 0;
};

// What of a crawl can be changed while it runs. 0 is no limit.
inline constexpr std::size_t kConnectionsMax = 10'000;
struct CrawlLimits {
  std::uint64_t pages_max = 0;
  std::uint64_t bytes_max = 0;
  std::chrono::seconds time_max{0};
  std::uint64_t rate_max = 0;                      // bytes in a second, of each connection
  std::optional<std::chrono::milliseconds> delay;  // nothing: by the rules of politeness
  std::size_t connections = 0;

  friend bool operator==(const CrawlLimits&, const CrawlLimits&) = default;
};

enum class CrawlState {
  kRunning,
  kPaused,    // what was under way is finished, nothing new is asked for
  kStopping,  // the same, and then it ends
  kDone,      // over: nothing was left
  kLimit,     // over: a limit was reached
  kStopped,   // over: it can be gone on with
};
std::string_view NameOf(CrawlState state);  // "running" and so on
bool IsOver(CrawlState state);

struct CrawlProgress {
  CrawlCounts counts;
  std::uint64_t waiting = 0;
  std::uint64_t hosts = 0;  // that something waits for
  std::size_t under_way = 0;
  CrawlState state = CrawlState::kRunning;
  CrawlLimits limits;
  std::string limit;  // "pages", "bytes" or "time", where it was reached
};

// Of the last seconds.
struct CrawlRates {
  double pages = 0;  // in a second
  double files = 0;
  double bytes = 0;
};

struct CrawlStatus {
  std::string job;
  std::uint32_t run = 0;
  std::int64_t pid = 0;
  Timestamp started;  // this process; the run may be older
  Timestamp time;     // of what is told here
  CrawlProgress progress;
  CrawlRates rates;
  // What is known now, at this rate and within the limits; links that are still to be found make
  // it more. Nothing where it cannot be told.
  std::optional<std::chrono::seconds> left;
};

// One JSON object in one line, without a line end.
std::string StatusJson(const CrawlStatus& status);
// Errors: kCorrupt. Members that are not known are passed over.
Result<CrawlStatus> ParseStatus(std::string_view json);

// In the text form of Prometheus.
std::string StatusMetrics(const CrawlStatus& status);

// What is to be changed of the limits: nothing, or to this.
struct LimitChanges {
  std::optional<std::uint64_t> pages_max;
  std::optional<std::uint64_t> bytes_max;
  std::optional<std::chrono::seconds> time_max;
  std::optional<std::uint64_t> rate_max;
  std::optional<std::optional<std::chrono::milliseconds>> delay;
  std::optional<std::size_t> connections;
};
CrawlLimits Changed(CrawlLimits limits, const LimitChanges& changes);
std::string LimitChangesJson(const LimitChanges& changes);
// Errors: kInvalid, for the person who asked.
Result<LimitChanges> ParseLimitChanges(std::string_view json);

// URLs that a person gives to a running crawl.
struct UrlsToAdd {
  std::vector<std::string> urls;
  bool seed = false;  // they, and their hosts, belong to the crawl whatever its scope is
};
std::string UrlsToAddJson(const UrlsToAdd& urls);
// Errors: kInvalid.
Result<UrlsToAdd> ParseUrlsToAdd(std::string_view json);

// What became of them.
struct AddedUrls {
  std::uint64_t added = 0;
  std::uint64_t known = 0;                                   // the run has come to them already
  std::vector<std::pair<std::string, std::string>> refused;  // URL, reason
};
std::string AddedUrlsJson(const AddedUrls& added);
// Errors: kCorrupt.
Result<AddedUrls> ParseAddedUrls(std::string_view json);

struct HostQueue {
  std::string host;
  std::uint64_t waiting = 0;
};
std::string HostQueuesJson(const std::vector<HostQueue>& queues);

}  // namespace stele::crawl
