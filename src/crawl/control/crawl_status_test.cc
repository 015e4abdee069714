#include "crawl/control/crawl_status.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "crawl/control/crawl_monitor.h"
#include "crawl/control/running_crawl.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"

namespace stele::crawl {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kNow{1'700'000'000'000};

CrawlStatus Example() {
  CrawlStatus status;
  status.job = "a \"quoted\" job";
  status.run = 3;
  status.pid = 4711;
  status.started = kNow;
  status.time = Timestamp{kNow.milliseconds + 1'234};
  status.progress.counts = {1, 2, 3, 4, 5, 6'789};
  status.progress.waiting = 10;
  status.progress.hosts = 11;
  status.progress.under_way = 12;
  status.progress.state = CrawlState::kPaused;
  status.progress.limits = {100, 200, 300s, 400, 2'500ms, 7};
  status.progress.limit = "pages";
  status.rates = {1.5, 2.25, 1000};
  status.left = 42s;
  return status;
}

TEST(CrawlStatus, I1_IsReadAsItWasWritten) {
  const std::string json = StatusJson(Example());
  const Result<CrawlStatus> again = ParseStatus(json);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(StatusJson(*again), json);
  EXPECT_EQ(again->job, "a \"quoted\" job");
  EXPECT_EQ(again->progress.counts.milliseconds, 6'789U);
  EXPECT_EQ(again->progress.limits.delay, 2'500ms);
  EXPECT_EQ(again->left, 42s);
  EXPECT_EQ(json.find('\n'), std::string::npos);
}

TEST(CrawlStatus, I1_WhatIsNoStatusIsRefused) {
  for (const char* wrong : {"", "[]", "{}", "{\"state\": \"running\"}", "{\"run\": 1}",
                            "{\"run\": 1, \"state\": \"flying\"}", "{\"run\": 1"}) {
    EXPECT_FALSE(ParseStatus(wrong)) << wrong;
  }
  // Members that a later version has are passed over; those of another kind count as missing.
  const Result<CrawlStatus> status =
      ParseStatus("{\"run\": 1, \"state\": \"done\", \"moon\": 1, \"pages\": \"many\"}");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->progress.counts.pages, 0U);
}

TEST(CrawlStatus, I1_MetricsHaveHelpTypeAndLabels) {
  const std::string metrics = StatusMetrics(Example());
  EXPECT_NE(metrics.find("# TYPE stele_crawl_pages_total counter\n"
                         "stele_crawl_pages_total{job=\"a \\\"quoted\\\" job\",run=\"3\"} 1\n"),
            std::string::npos);
  EXPECT_NE(metrics.find("stele_crawl_paused{job=\"a \\\"quoted\\\" job\",run=\"3\"} 1\n"),
            std::string::npos);
}

TEST(CrawlStatus, I1_LimitChangesChangeWhatTheyName) {
  const Result<LimitChanges> changes = ParseLimitChanges("{\"max_pages\": 5, \"delay\": null}");
  ASSERT_TRUE(changes) << changes.error().text;
  const CrawlLimits limits = Changed(Example().progress.limits, *changes);
  EXPECT_EQ(limits.pages_max, 5U);
  EXPECT_EQ(limits.bytes_max, 200U);
  EXPECT_EQ(limits.delay, std::nullopt);
  EXPECT_EQ(limits.connections, 7U);
  EXPECT_EQ(LimitChangesJson(*changes), "{\"max_pages\": 5, \"delay\": null}");
  EXPECT_EQ(ParseLimitChanges("{\"delay\": 1.5}")->delay, std::optional(1'500ms));
  for (const char* wrong : {"[]", "{\"moon\": 1}", "{\"max_pages\": -1}", "{\"delay\": -1}",
                            "{\"connections\": 0}", "{\"max_time\": 1e30}", "{\"delay\": 1e30}"}) {
    const Result<LimitChanges> refused = ParseLimitChanges(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  }
}

TEST(CrawlStatus, I1_UrlsAndWhatBecameOfThemAreReadAsWritten) {
  const Result<UrlsToAdd> urls = ParseUrlsToAdd(UrlsToAddJson({{"http://a/", "b\""}, true}));
  ASSERT_TRUE(urls);
  EXPECT_EQ(urls->urls, (std::vector<std::string>{"http://a/", "b\""}));
  EXPECT_TRUE(urls->seed);
  EXPECT_FALSE(ParseUrlsToAdd("{\"urls\": []}")->seed);
  for (const char* wrong : {"[]", "{}", "{\"urls\": [1]}", "{\"urls\": [], \"seed\": 1}"}) {
    EXPECT_FALSE(ParseUrlsToAdd(wrong)) << wrong;
  }
  const Result<AddedUrls> added = ParseAddedUrls(AddedUrlsJson({1, 2, {{"http://c/", "outside"}}}));
  ASSERT_TRUE(added);
  EXPECT_EQ(added->added, 1U);
  EXPECT_EQ(added->known, 2U);
  ASSERT_EQ(added->refused.size(), 1U);
  EXPECT_EQ(added->refused[0].second, "outside");
}

TEST(CrawlMonitor, I1_RatesAreThoseOfTheLastSecondsAndGiveTheTimeThatIsLeft) {
  io::ManualClock clock(kNow);
  CrawlMonitor monitor(clock, "job", 1);
  CrawlProgress progress;
  const auto tell = [&](std::int64_t seconds, std::uint64_t files, std::uint64_t waiting) {
    clock.Set(Timestamp{kNow.milliseconds + seconds * 1'000});
    progress.counts.files = files;
    progress.counts.pages = files / 2;
    progress.counts.milliseconds = static_cast<std::uint64_t>(seconds) * 1'000;
    progress.waiting = waiting;
    monitor.Tell(progress);
  };
  tell(0, 0, 100);
  EXPECT_EQ(monitor.Now().left, std::nullopt);
  for (int second = 1; second <= 20; ++second) tell(second, 100 * second, 1'000);
  EXPECT_DOUBLE_EQ(monitor.Now().rates.files, 100);
  EXPECT_EQ(monitor.Now().left, 10s);
  // Nothing came for long; what was before is forgotten.
  for (int second = 21; second <= 40; ++second) tell(second, 2'000, 1'000);
  EXPECT_DOUBLE_EQ(monitor.Now().rates.files, 0);
  EXPECT_EQ(monitor.Now().left, std::nullopt);
  progress.limits.time_max = 50s;
  tell(41, 2'000, 1'000);
  EXPECT_EQ(monitor.Now().left, 9s);
  progress.limits.pages_max = 1'100;
  tell(42, 2'100, 100'000);
  EXPECT_LT(monitor.Now().left, 9s);
}

// Takes connections as long as it lives.
class OpenPort {
 public:
  OpenPort() {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, place, size), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
    EXPECT_EQ(::getsockname(socket_, place, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~OpenPort() { Close(); }
  OpenPort(const OpenPort&) = delete;
  OpenPort& operator=(const OpenPort&) = delete;

  std::uint16_t port() const { return port_; }
  void Close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

 private:
  int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
};

TEST(RunningCrawl, I1_IsFoundByItsFileWhileItsProcessLives) {
  io::MemoryFileSystem fs;
  EXPECT_FALSE(FindRunningCrawl(fs, "a")->has_value());
  for (const char* folder : {"a", "a/crawl", "a/crawl/dead", "a/crawl/job", "a/crawl/quiet"}) {
    ASSERT_TRUE(fs.MakeDirectory(folder));
  }
  RunningCrawl crawl;
  crawl.job = "job";
  crawl.run = 2;
  crawl.address = "127.0.0.1";
  OpenPort door;
  crawl.port = door.port();
  crawl.started = kNow;
  // More than any system gives out.
  crawl.pid = INT32_MAX;
  ASSERT_TRUE(io::ReplaceFile(fs, RunningPath("a/crawl/dead"), FormatRunning(crawl)));
  EXPECT_FALSE(FindRunningCrawl(fs, "a")->has_value());
  crawl.pid = ::getpid();
  ASSERT_TRUE(io::ReplaceFile(fs, RunningPath("a/crawl/job"), FormatRunning(crawl)));
  const Result<std::optional<RunningCrawl>> found = FindRunningCrawl(fs, "a");
  ASSERT_TRUE(found);
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->port, door.port());
  EXPECT_EQ((*found)->folder, "a/crawl/job");
  // A file that says nothing is as good as none.
  for (const char* wrong : {"", "{}", "[1]", "{\"pid\": 1, \"port\": 99999}"}) {
    EXPECT_FALSE(ParseRunning(wrong, "x")) << wrong;
    ASSERT_TRUE(io::ReplaceFile(fs, RunningPath("a/crawl/job"), wrong));
    EXPECT_FALSE(FindRunningCrawl(fs, "a")->has_value());
  }
}

// The file of a crawl that was killed, after which another process got its number.
TEST(RunningCrawl, I1_IsOverWhereNobodyListensWhateverItsProcessIsNow) {
  io::MemoryFileSystem fs;
  for (const char* folder : {"a", "a/crawl", "a/crawl/job"}) ASSERT_TRUE(fs.MakeDirectory(folder));
  OpenPort door;
  RunningCrawl crawl;
  crawl.pid = ::getpid();
  crawl.port = door.port();
  crawl.started = kNow;
  const auto is_found = [&](const std::string& address) {
    crawl.address = address;
    EXPECT_TRUE(io::ReplaceFile(fs, RunningPath("a/crawl/job"), FormatRunning(crawl)));
    return FindRunningCrawl(fs, "a")->has_value();
  };
  EXPECT_TRUE(is_found("127.0.0.1"));
  // Nobody is sent to other machines by a file.
  EXPECT_FALSE(is_found("192.0.2.1"));
  EXPECT_FALSE(is_found("example.org"));
  door.Close();
  EXPECT_FALSE(is_found("127.0.0.1"));
}

TEST(RunningCrawl, I1_EveryFailureOfTheDiskIsToldByTheSearch) {
  for (int fail_at = 1;; ++fail_at) {
    io::MemoryFileSystem disk;
    for (const char* folder : {"a", "a/crawl", "a/crawl/job"}) {
      ASSERT_TRUE(disk.MakeDirectory(folder));
    }
    RunningCrawl crawl;
    const OpenPort door;
    crawl.pid = ::getpid();
    crawl.port = door.port();
    crawl.address = "127.0.0.1";
    crawl.started = kNow;
    ASSERT_TRUE(io::ReplaceFile(disk, RunningPath("a/crawl/job"), FormatRunning(crawl)));
    io::FaultFileSystem fs(disk, fail_at);
    const Result<std::optional<RunningCrawl>> found = FindRunningCrawl(fs, "a");
    if (!found) continue;
    EXPECT_TRUE(found->has_value());
    break;
  }
}

}  // namespace
}  // namespace stele::crawl
