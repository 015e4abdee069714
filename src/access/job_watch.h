#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "archive/archive_view.h"
#include "net/http_client.h"

namespace stele::access {

// A crawl job of an archive, as its files and the process that runs it tell:
// docs/formats/crawl-status.md.
struct WatchedJob {
  std::string name;
  std::string status;  // a JSON object; empty where it does not run
  std::string queues;  // a JSON array: the hosts with most to do; empty where it does not run
};

// Asks the crawls of archives how they do. Thread-safe.
class JobWatch {
 public:
  struct Options {
    std::chrono::milliseconds interval{1000};  // between two looks of a stream of events
    int streams_max = 8;                       // each keeps a thread
  };

  explicit JobWatch(const Options& options);

  // In the order of their names. What cannot be read or asked does not run.
  std::vector<WatchedJob> JobsOf(const archive::ArchiveView& view) const;

  // One stream of events, from its begin to its end. Borrows the watch.
  class Stream {
   public:
    explicit Stream(JobWatch& watch);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    bool is_open() const { return open_; }  // false: there are too many
    // Waits until it is time to look again; false: it is over.
    bool Wait();

   private:
    JobWatch& watch_;
    bool open_ = false;
  };
  // All streams are over, and no more begin.
  void Stop();

 private:
  std::string Ask(const std::string& address, std::uint16_t port, const std::string& target) const;

  const Options options_;
  std::unique_ptr<net::HttpClient> client_;
  std::mutex mutex_;
  std::condition_variable wake_;
  int streams_ = 0;
  bool stopping_ = false;
};

}  // namespace stele::access
