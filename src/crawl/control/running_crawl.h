#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "crawl/control/crawl_status.h"
#include "io/file_system.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::net {
class ClientResponse;
class HttpClient;
}  // namespace stele::net

// How other processes find a crawl and talk to it: docs/formats/crawl-status.md
namespace stele::crawl {

// What the file crawl/<job>/running.json says: where a crawl can be talked to.
struct RunningCrawl {
  std::string job;
  std::uint32_t run = 0;
  std::int64_t pid = 0;
  std::string address;  // "127.0.0.1"
  std::uint16_t port = 0;
  Timestamp started;
  // The folder of the job, where the token is: not in the file.
  std::string folder;
};

// Where it lies in the folder of a job, and where the token does.
std::string RunningPath(const std::string& job_folder);
std::string TokenPath(const std::string& job_folder);

std::string FormatRunning(const RunningCrawl& crawl);
// Errors: kCorrupt, naming `path`.
Result<RunningCrawl> ParseRunning(std::string_view json, const std::string& path);

// The crawl that runs in an archive; there is at most one. A file that a killed process left is
// recognised by its process or its port and passed over. Nothing: none runs. Errors: kIo.
Result<std::optional<RunningCrawl>> FindRunningCrawl(io::FileSystem& fs,
                                                     const std::string& archive);

// Speaks to a running crawl. Thread-safe. Errors of all: kNotFound when it is over by now, kInvalid
// with its words when it refuses, kIo with its words when it fails, kBusy when it does not answer.
class CrawlClient final {
 public:
  // Borrows the first two for life. Reading needs no token; whatever changes something reads it
  // from the folder of the job, which only its owner may.
  CrawlClient(io::FileSystem& fs, net::HttpClient& http, RunningCrawl crawl)
      : fs_(fs), http_(http), crawl_(std::move(crawl)) {}

  const RunningCrawl& crawl() const { return crawl_; }

  // As JSON, to be passed on as it is.
  Result<std::string> StatusText() const;
  Result<CrawlStatus> ReadStatus() const;
  // Gives a piece of the stream of events as soon as it comes, until the crawl is over or `take`
  // returns false. Waits as long.
  Status Events(const std::function<bool(std::string_view piece)>& take) const;

  // "pause", "resume", "stop", "urls", "limits", with a body of JSON or without. Gives the answer.
  Result<std::string> Post(std::string_view what, std::string_view body = "") const;

 private:
  Result<std::unique_ptr<net::ClientResponse>> Send(std::string_view method,
                                                    std::string_view target,
                                                    std::string_view body) const;

  io::FileSystem& fs_;
  net::HttpClient& http_;
  const RunningCrawl crawl_;
};

}  // namespace stele::crawl
