#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "access/served_archive.h"
#include "access/sight.h"
#include "archive/run_report.h"
#include "io/clock.h"

namespace stele::access {

// Sums over all captures that somebody may see, and the titles of pages. Immutable.
struct Overview {
  struct Month {
    archive::CaptureSum all;
    std::uint64_t pages = 0;
  };
  struct Site {
    std::string host;
    std::string url;  // of its shortest page
    Timestamp first;
    Timestamp last;
    std::uint64_t urls = 0;
    std::uint64_t captures = 0;
    std::uint64_t pages = 0;
    std::uint64_t bytes = 0;
    std::map<std::string, std::uint64_t> months;  // "2014-01": captures
  };
  // A URL that is a page, as it was captured last.
  struct Page {
    std::string url;
    std::string title;
    std::string words;  // title and URL in lower case, to be searched
    Timestamp first;
    Timestamp last;
    std::uint64_t captures = 0;
  };

  std::map<std::string, Month> months;
  std::map<std::string, archive::CaptureSum> types;
  std::map<std::uint32_t, archive::CaptureSum> runs;
  std::map<std::string, archive::CaptureSum> statuses;
  archive::CaptureSum all;
  std::uint64_t stored_bytes = 0;  // of their records, as they lie in containers
  std::uint64_t pages = 0;
  archive::CaptureSum revisits;
  archive::CaptureSum repeated;  // payloads that an earlier capture of the URL had
  std::optional<Timestamp> first;
  std::optional<Timestamp> last;
  std::vector<Site> sites;      // those with most pages first
  std::vector<Page> page_list;  // in the order of keys; at most kPagesMax
  bool titles_complete = false;

  static constexpr std::size_t kPagesMax = 200'000;
};

// Goes through the whole index, and opens the last capture of each page for its title: those that
// `before` knows are taken from there. `stop` is asked now and then. Errors: kCorrupt, kIo; kBusy
// when it was stopped.
Result<Overview> MakeOverview(const Sight& sight, const Overview* before,
                              const std::function<bool()>& stop);

// The overviews of all archives, made in the background, again whenever captures came. Those for
// the public are made at once, those for others when they first ask. Thread-safe.
class Overviews {
 public:
  // Borrows both for life.
  Overviews(const ServedArchives& archives, const io::Clock& clock);
  ~Overviews();
  Overviews(const Overviews&) = delete;
  Overviews& operator=(const Overviews&) = delete;

  // The latest of what the client may see; null before the first is ready.
  std::shared_ptr<const Overview> Of(const Sight& sight);

 private:
  struct Made {
    Viewer viewer;    // one of those who see the same
    Timestamp asked;  // last
    std::shared_ptr<const Overview> overview;
    std::shared_ptr<const Snapshot> from;
    Timestamp begun;
    Timestamp rest;  // no other is made before
  };
  using ByClass = std::map<std::string, Made>;  // by AccessRules::ClassOf()

  void Loop();
  // Adds that of the public, and drops those of rules that are no more.
  std::vector<std::string> ClassesOf(const Snapshot& now);
  void Renew(const std::shared_ptr<const Snapshot>& now, const std::string& viewers);

  const ServedArchives& archives_;
  const io::Clock& clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, ByClass> made_;  // by the archive's name
  bool stopping_ = false;
  bool wanted_ = false;  // somebody asked for a new one
  std::thread thread_;
};

}  // namespace stele::access
