#include "crawl/control/control_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "crawl/control/running_crawl.h"
#include "io/fault_file_system.h"
#include "io/memory_file_system.h"
#include "io/posix_file_system.h"
#include "net/http_client.h"

namespace stele::crawl {
namespace {

using namespace std::chrono_literals;

// A crawl that only writes down what it is told.
class FakeCrawl final : public Controlled {
 public:
  explicit FakeCrawl(CrawlMonitor& monitor) : monitor_(monitor) {}

  Status Pause() override { return SetState(CrawlState::kPaused); }
  Status Resume() override { return SetState(CrawlState::kRunning); }
  Status End() override { return SetState(CrawlState::kStopping); }
  Result<AddedUrls> AddUrls(const UrlsToAdd& wanted) override {
    if (is_over) return Error{ErrorCode::kNotFound, "the crawl is over"};
    if (failure) return *failure;
    urls = wanted;
    return AddedUrls{wanted.urls.size(), 0, {}};
  }
  Status ChangeLimits(const LimitChanges& changes) override {
    progress.limits = Changed(progress.limits, changes);
    monitor_.Tell(progress);
    return {};
  }
  Result<std::vector<HostQueue>> LongestQueues(std::size_t) override {
    return std::vector<HostQueue>{{"a.org", 7}};
  }

  CrawlProgress progress;
  UrlsToAdd urls;
  bool is_over = false;
  std::optional<Error> failure;

 private:
  Status SetState(CrawlState state) {
    progress.state = state;
    monitor_.Tell(progress);
    return {};
  }
  CrawlMonitor& monitor_;
};

struct Lab {
  Lab() {
    for (const char* folder : {"a", "a/crawl", "a/crawl/job"}) {
      EXPECT_TRUE(fs.MakeDirectory(folder));
    }
    crawl.progress.counts.pages = 5;
    monitor.Tell(crawl.progress);
    io::SeededRandom random(1);
    ControlOptions options;
    options.token = NewToken(random);
    auto opened = ControlServer::Open(fs, clock, "a/crawl/job", options, monitor, crawl);
    EXPECT_TRUE(opened) << opened.error().text;
    server = *std::move(opened);
    http = *net::HttpClient::Open({});
  }

  CrawlClient Client() { return {fs, *http, **FindRunningCrawl(fs, "a")}; }

  // The status of a request with these fields.
  int Ask(std::string_view method, std::string_view target,
          const std::vector<net::HeaderField>& fields, std::string_view body = "") {
    net::ClientRequest request;
    request.endpoint.host = "127.0.0.1";
    request.endpoint.port = server->port();
    request.method = method;
    request.target = target;
    request.fields = fields;
    request.body = body;
    const auto response = http->Send(request);
    EXPECT_TRUE(response);
    return response ? (*response)->status() : 0;
  }
  net::HeaderField Token() {
    std::string token = *io::ReadFile(fs, TokenPath("a/crawl/job"));
    token.pop_back();
    return {"Authorization", "Bearer " + token};
  }

  io::MemoryFileSystem fs;
  io::SystemClock clock;
  CrawlMonitor monitor{clock, "job", 1};
  FakeCrawl crawl{monitor};
  std::unique_ptr<net::HttpClient> http;
  std::unique_ptr<ControlServer> server;
};

TEST(ControlServer, I1_TellsTheStatusAndObeys) {
  Lab lab;
  const CrawlClient client = lab.Client();
  const Result<CrawlStatus> status = client.ReadStatus();
  ASSERT_TRUE(status) << status.error().text;
  EXPECT_EQ(status->progress.counts.pages, 5U);
  EXPECT_EQ(status->pid, ::getpid());
  EXPECT_EQ(ParseStatus(*client.Post("pause"))->progress.state, CrawlState::kPaused);
  EXPECT_EQ(ParseStatus(*client.Post("resume"))->progress.state, CrawlState::kRunning);
  EXPECT_EQ(ParseStatus(*client.Post("limits", "{\"max_pages\": 9}"))->progress.limits.pages_max,
            9U);
  EXPECT_EQ(ParseAddedUrls(*client.Post("urls", UrlsToAddJson({{"http://a/"}, true})))->added, 1U);
  EXPECT_EQ(lab.crawl.urls.urls, std::vector<std::string>{"http://a/"});
  EXPECT_TRUE(lab.crawl.urls.seed);
  EXPECT_EQ(ParseStatus(*client.Post("stop"))->progress.state, CrawlState::kStopping);
  const Result<std::string> wrong = client.Post("limits", "{\"moon\": 9}");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalid);
  EXPECT_NE(wrong.error().text.find("moon"), std::string::npos);
  lab.crawl.is_over = true;
  const Result<std::string> late = client.Post("urls", "{\"urls\": []}");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kNotFound);
}

TEST(ControlServer, I1_StrangersAreRefused) {
  Lab lab;
  const net::HeaderField token = lab.Token();
  EXPECT_EQ(lab.Ask("GET", "/status", {}), 200);
  EXPECT_EQ(lab.Ask("GET", "/hosts", {}), 200);
  EXPECT_EQ(lab.Ask("GET", "/metrics", {}), 200);
  EXPECT_EQ(lab.Ask("GET", "/moon", {}), 404);
  EXPECT_EQ(lab.Ask("PUT", "/status", {}), 405);
  const std::string port = std::to_string(lab.server->port());
  EXPECT_EQ(lab.Ask("GET", "/status", {{"Host", "localhost:" + port}}), 200);
  EXPECT_EQ(lab.Ask("GET", "/status", {{"Host", "evil.example:" + port}}), 403);
  EXPECT_EQ(lab.Ask("GET", "/status", {{"Host", "127.0.0.1"}}), 403);
  EXPECT_EQ(lab.Ask("GET", "/status", {{"Origin", "http://evil.example"}}), 403);
  EXPECT_EQ(lab.Ask("POST", "/pause", {}), 403);
  EXPECT_EQ(lab.Ask("POST", "/pause", {{"Authorization", "Bearer "}}), 403);
  EXPECT_EQ(lab.Ask("POST", "/pause", {{"Authorization", token.value + "0"}}), 403);
  EXPECT_EQ(lab.Ask("POST", "/pause", {token, {"Origin", "http://127.0.0.1:" + port}}), 403);
  EXPECT_EQ(lab.monitor.Now().progress.state, CrawlState::kRunning);
  EXPECT_EQ(lab.Ask("POST", "/pause", {token}), 200);
  EXPECT_EQ(lab.monitor.Now().progress.state, CrawlState::kPaused);
}

TEST(ControlServer, I1_StreamsTellEachStateAndEndWithTheCrawl) {
  Lab lab;
  std::string events;
  const CrawlClient client = lab.Client();
  int pieces = 0;
  std::thread ender;
  const Status watched = client.Events([&](std::string_view piece) {
    events += piece;
    // What comes now is seen by the stream, at once and not after a second.
    if (++pieces == 1) {
      EXPECT_TRUE(lab.crawl.Pause());
    }
    if (pieces == 2) {
      lab.crawl.progress.state = CrawlState::kDone;
      lab.monitor.Tell(lab.crawl.progress);
      ender = std::thread([&] { lab.server.reset(); });
    }
    return true;
  });
  ASSERT_TRUE(ender.joinable());
  ender.join();
  EXPECT_TRUE(watched) << watched.error().text;
  EXPECT_TRUE(events.starts_with("event: status\ndata: {\"job\": \"job\""));
  EXPECT_NE(events.find("\"state\": \"paused\""), std::string::npos);
  const std::size_t end = events.find("event: end\n");
  ASSERT_NE(end, std::string::npos);
  EXPECT_NE(events.find("\"state\": \"done\"", end), std::string::npos);
}

TEST(ControlServer, I1_ItsFilesGoWithIt) {
  Lab lab;
  const CrawlClient client = lab.Client();
  EXPECT_EQ(io::ReadFile(lab.fs, TokenPath("a/crawl/job"))->size(), 65U);
  lab.server.reset();
  EXPECT_FALSE(*lab.fs.Exists(RunningPath("a/crawl/job")));
  EXPECT_FALSE(*lab.fs.Exists(TokenPath("a/crawl/job")));
  const Result<CrawlStatus> status = client.ReadStatus();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
}

// Whoever opened a file that lay there, and could, does not read the token of this crawl.
TEST(ControlServer, I1_TheTokenIsForItsOwnerAlone) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / fmt::format("stele-token-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const std::string path = TokenPath(folder.string());
  std::ofstream(path) << "old\n";
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  std::ifstream stranger(path);
  Lab lab;
  io::PosixFileSystem fs;
  const auto server =
      ControlServer::Open(fs, lab.clock, folder.string(), {0, "secret"}, lab.monitor, lab.crawl);
  ASSERT_TRUE(server) << server.error().text;
  EXPECT_EQ(*io::ReadFile(fs, path), "secret\n");
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0600));
  std::string seen;
  stranger >> seen;
  EXPECT_EQ(seen, "old");
  std::filesystem::remove_all(folder);
}

TEST(ControlServer, I1_WhatACrawlCannotDoIsToldFromWhatItRefuses) {
  Lab lab;
  const CrawlClient client = lab.Client();
  for (const ErrorCode code : {ErrorCode::kFull, ErrorCode::kIo}) {
    lab.crawl.failure = Error{code, "the disk does not want to"};
    const Result<std::string> failed = client.Post("urls", "{\"urls\": []}");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::kIo);
    EXPECT_EQ(failed.error().text, "the disk does not want to");
  }
  EXPECT_EQ(client.Post("urls", "[]").error().code, ErrorCode::kInvalid);
}

TEST(ControlServer, I1_EveryFailureOfTheDiskIsTold) {
  for (int fail_at = 1;; ++fail_at) {
    Lab lab;
    lab.server.reset();
    io::FaultFileSystem fs(lab.fs, fail_at);
    const auto server =
        ControlServer::Open(fs, lab.clock, "a/crawl/job", {0, "x"}, lab.monitor, lab.crawl);
    if (!server) continue;
    EXPECT_TRUE(*lab.fs.Exists(RunningPath("a/crawl/job")));
    break;
  }
}

}  // namespace
}  // namespace stele::crawl
