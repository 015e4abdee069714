#include "access/job_watch.h"

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "access/test_access.h"

namespace stele::access {
namespace {

using nlohmann::json;
using testing::PutFile;
using testing::Serving;

// A process that crawls, as far as others see it.
class CrawlJobs : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    for (const std::string folder : {"a/crawl", "a/crawl/example.org", "a/crawl/other"}) {
      ASSERT_TRUE(fs_.MakeDirectory(folder));
    }
  }
  void Run(std::uint16_t port, const std::string& address = "127.0.0.1") {
    PutFile(fs_, "a/crawl/example.org/running.json",
            fmt::format("{{\"job\": \"example.org\", \"run\": 1, \"pid\": 1, \"address\": \"{}\", "
                        "\"port\": {}, \"started\": \"2026-11-16T14:45:00.000Z\"}}",
                        address, port));
  }
  json AskForJobs() { return json::parse(Get("/api/v1/jobs").body)["jobs"]; }

  net::FunctionHandler::Function crawl_ = [this](net::Request& request,
                                                 net::ResponseWriter& response) {
    const bool is_hosts = request.path() == "/hosts";
    const std::string body =
        is_hosts ? "[{\"host\": \"example.org\", \"waiting\": 7}]"
                 : fmt::format(
                       "{{\"job\": \"example.org\", \"run\": 1, \"pid\": 4711, \"state\": "
                       "\"running\", \"pages\": {}, \"waiting\": 7, \"seconds_left\": null}}",
                       ++pages_);
    static_cast<void>(response.Reply(200, "application/json", body));
  };
  std::atomic<int> pages_ = 0;
};

TEST_F(CrawlJobs, I8_ACrawlThatRunsIsAskedHowItDoes) {
  net::TestServer crawl(crawl_);
  const std::uint32_t run = *archive_->BeginRun("crawl", "example.org: http://example.org/");
  ASSERT_TRUE(archive_->EndRun(run));
  Run(crawl->port());
  Serve();
  const json jobs = AskForJobs();
  ASSERT_EQ(jobs.size(), 1u);  // the other folder is no job
  EXPECT_EQ(jobs[0]["job"], "example.org");
  EXPECT_EQ(jobs[0]["running"], true);
  EXPECT_EQ(jobs[0]["status"]["state"], "running");
  EXPECT_EQ(jobs[0]["status"]["waiting"], 7);
  EXPECT_TRUE(jobs[0]["status"]["seconds_left"].is_null());
  EXPECT_FALSE(jobs[0]["status"].contains("pid"));
  EXPECT_EQ(jobs[0]["queues"][0]["host"], "example.org");
  EXPECT_EQ(jobs[0]["last_run"]["run"], run);
}

TEST_F(CrawlJobs, I8_WhatOnlyLooksAsIfItRanDoesNot) {
  const std::uint32_t run = *archive_->BeginRun("crawl", "example.org: http://example.org/");
  ASSERT_TRUE(archive_->EndRun(run));
  std::uint16_t gone = 0;
  {
    net::TestServer crawl(crawl_);
    gone = crawl->port();
  }
  net::TestServer crawl(crawl_);
  Serve();
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("{\"port\": 1}"),
        fmt::format("{{\"address\": \"127.0.0.1\", \"port\": {}}}", gone),
        fmt::format("{{\"address\": \"192.0.2.1\", \"port\": {}}}", crawl->port()),
        fmt::format("{{\"address\": \"localhost.example\", \"port\": {}}}", crawl->port()),
        std::string("{\"address\": \"127.0.0.1\", \"port\": 99999}")}) {
    PutFile(fs_, "a/crawl/example.org/running.json", text);
    const json jobs = AskForJobs();
    ASSERT_EQ(jobs.size(), 1u);
    EXPECT_EQ(jobs[0]["running"], false) << text;
    EXPECT_TRUE(jobs[0]["status"].is_null()) << text;
  }
  EXPECT_EQ(pages_, 0);
}

TEST_F(CrawlJobs, I8_RulesHideTheHostsOfQueuesAndJobsThatBroughtNothingElse) {
  for (const std::string job : {"example.org", "other"}) {
    Bring(testing::WarcText(record::Compression::kGzip, job.size())
              .Response(fmt::format("http://{}/", job), "2014-01-01T00:00:00Z", job),
          {.kind = "crawl", .note = job + ": http://a.org/"});
  }
  net::TestServer crawl(crawl_);
  Run(crawl->port());
  PutFile(fs_, "a/access.aclj", "other)/ - {\"access\": \"exclude\"}\n");
  Serve();
  WaitForSums();
  const json jobs = AskForJobs();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0]["job"], "example.org");
  EXPECT_EQ(jobs[0]["running"], true);
  EXPECT_TRUE(jobs[0]["queues"].empty());
}

TEST_F(CrawlJobs, I8_ChangesAreSentAsEventsUntilTheServerStops) {
  net::TestServer crawl(crawl_);
  Run(crawl->port());
  AccessServerOptions options;
  options.jobs.interval = std::chrono::milliseconds(5);
  options.jobs.streams_max = 1;
  Serve(options);
  net::RawClient client(server_->pages_port());
  ASSERT_TRUE(client.Send("GET /api/v1/jobs/events HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  while (pages_ < 3) std::this_thread::yield();
  const testing::Answer refused = Get("/api/v1/jobs/events");
  EXPECT_EQ(refused.status, 503);  // each keeps a thread
  EXPECT_EQ(refused.Header("Retry-After"), "30");
  server_->Stop(std::chrono::seconds(10));
  const std::string events = client.ReceiveAll();
  EXPECT_NE(events.find("Content-Type: text/event-stream"), std::string::npos);
  EXPECT_NE(events.find("event: jobs\ndata: {\"jobs\": [{\"job\": \"example.org\""),
            std::string::npos)
      << events;
  EXPECT_NE(events.find("\"pages\":2"), std::string::npos) << events;
}

TEST_F(CrawlJobs, I8_AReportTellsWhatPagesLack) {
  const std::uint32_t run = *archive_->BeginRun("crawl", "example.org: http://example.org/");
  ASSERT_TRUE(archive_->EndRun(run));
  const std::string folder = fmt::format("a/crawl/example.org/run-{}", run);
  ASSERT_TRUE(fs_.MakeDirectory(folder));
  const std::string target = fmt::format("/api/v1/runs/{}/report", run);
  Serve();
  EXPECT_EQ(json::parse(Get(target).body)["missing"]["count"], 0);
  PutFile(fs_, folder + "/report.json",
          "{\"missing_count\": 9, \"missing\": [{\"url\": \"http://example.org/x.png\", \"page\": "
          "\"http://example.org/\", \"reason\": \"it is gone\", \"remedy\": \"nothing\"}], "
          "\"suspect_count\": 1, \"suspects\": [{\"url\": \"http://example.org/\", \"status\": "
          "200, \"trouble\": \"challenge\", \"why\": \"a riddle\", \"remedy\": \"ask\"}]}");
  const json report = json::parse(Get(target).body);
  EXPECT_EQ(report["missing"]["count"], 9);
  EXPECT_EQ(report["missing"]["first"][0]["page"], "http://example.org/");
  EXPECT_EQ(report["missing"]["first"][0]["remedy"], "nothing");
  EXPECT_EQ(report["suspects"]["first"][0]["trouble"], "challenge");
  PutFile(fs_, folder + "/report.json", "{\"missing\": [1, {}], \"suspects\": 7}");
  EXPECT_EQ(json::parse(Get(target).body)["missing"]["first"].size(), 2u);
}

}  // namespace
}  // namespace stele::access
