#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "archive/test_archive.h"
#include "crawl/crawler.h"
#include "crawl/fake_web.h"
#include "dedup/archive_originals.h"
#include "dedup/digest_table.h"
#include "io/fault_file_system.h"

// Crawls in memory: an archive, a web, and what counts what happens between them.
namespace stele::crawl::testing {

// Counts how often the list of seeds is written, and keeps all that ever was.
class CountingTable final : public store::BlockTable {
 public:
  Result<std::optional<std::string>> Get(const std::string& key) const override {
    return table_.Get(key);
  }
  Status Write(const Changes& changes) override {
    if (changes.contains("nseeds")) ++seeds_written;
    for (const auto& [key, value] : changes) written += key + value.value_or("");
    return table_.Write(changes);
  }
  Status ScanAfter(const std::string& prefix, const std::string& after,
                   const Visit& visit) const override {
    return table_.ScanAfter(prefix, after, visit);
  }
  Status Flush() override { return table_.Flush(); }
  Status Clear() override { return table_.Clear(); }

  Changes Rows() const {
    Changes rows;
    EXPECT_TRUE(table_.Scan("", [&](std::string_view key, std::string_view value) {
      rows.emplace(key, value);
      return true;
    }));
    return rows;
  }

  int seeds_written = 0;
  std::string written;

 private:
  store::MemoryBlockTable table_;
};

// Counts how often somebody asks for the time, which may make it go on by itself.
class CountingClock final : public io::Clock {
 public:
  Timestamp Now() const override {
    ++asked;
    return Timestamp{clock_.Now().milliseconds + (ahead_ += step)};
  }

  mutable std::atomic<int> asked = 0;
  std::atomic<std::int64_t> step = 0;  // milliseconds that pass with each question

 private:
  const io::SystemClock clock_;
  mutable std::atomic<std::int64_t> ahead_ = 0;
};

// Knows no documents, and tells when it is asked.
class EmptySource final : public dedup::OriginalSource {
 public:
  explicit EmptySource(std::function<void()> asked) : asked_(std::move(asked)) {}
  bool MayHave(const dedup::PayloadDigest&) const override { return true; }
  Documents ByUrl(std::string_view) override { return None(); }
  Documents NewestByUrl(std::string_view) override { return None(); }
  Documents NewestWith(std::string_view, const dedup::PayloadDigest&, bool) override {
    return None();
  }
  Documents ByEquivalentUrl(std::string_view, const dedup::PayloadDigest&) override {
    return None();
  }
  Documents ByDigest(const dedup::PayloadDigest&) override { return None(); }
  Status TakeHeaders(dedup::KnownDocument&) override { return {}; }
  Status Complete(dedup::KnownDocument&) override { return {}; }

 private:
  Documents None() {
    asked_();
    return std::vector<dedup::KnownDocument>();
  }

  const std::function<void()> asked_;
};

// An archive in memory, a web in memory, and a crawl between them.
struct Lab {
  Lab() {
    EXPECT_TRUE(disk.MakeDirectory("run"));
    archive::ArchiveConfig config;
    config.volumes = {{.name = "main", .path = ""}};
    EXPECT_TRUE(archive::ArchiveWriter::Create(disk, "archive", config));
    settings.seeds = {"http://a.org/"};
    settings.favicons = false;  // but for tests that are about them
    settings.politeness.delay = std::chrono::milliseconds(0);
    settings.politeness.back_off_min = std::chrono::milliseconds(1);
    settings.connections = 4;
  }

  // What is done before the first answer comes, by the thread of the web.
  std::function<void(Crawler&, FakeWeb&)> at_first;
  // What is done while a response is worked on, before it is kept.
  std::function<void(FakeWeb&)> at_work;
  dedup::OriginalSource* foreign = nullptr;  // what is kept elsewhere; null: nothing
  std::thread other;                         // joined when the crawl is over
  int full_after = 0;                        // answers; the disk takes no more then
  // Answers; the power goes then. Of what was not synced, the disk has what `random` gives.
  int dark_after = 0;
  bool keeps_logs = false;  // they are cut to what the frontier says, not begun anew
  // Until it is over, or `stop_after` answers have come.
  Result<CrawlEnd> Crawl(int stop_after = 0) {
    io::FaultFileSystem power(disk, 1 << 30);
    auto opened = archive::ArchiveWriter::Open({power, clock, random, "test"}, "archive");
    EXPECT_TRUE(opened) << opened.error().text;
    archive::ArchiveWriter& archive = **opened;
    if (run == 0) run = *archive.BeginRun("crawl", "test");
    archive::RunWriter writer(archive, run, writing);
    FakeWeb web;
    Frontier::Options options;
    options.query_urls_max = settings.query_urls_max;
    auto frontier = Frontier::Open(table, options);
    EXPECT_TRUE(frontier);
    dedup::ArchiveOriginals originals([&] { return archive.View(); });
    originals.JudgeAnew(KeptCaptures::Find(**frontier, archive.View(), run)->ids());
    EmptySource elsewhere([&] {
      if (at_work) at_work(web);
    });
    const bool by_payload = settings.duplicates.match == Match::kAny;
    const auto digests = dedup::DigestTable::Create(disk, "digests");
    EXPECT_TRUE(!by_payload || originals.LoadDigests(**digests));
    dedup::DuplicateFinder duplicates(*RulesOf(settings.duplicates), &originals,
                                      foreign != nullptr ? foreign : &elsewhere);
    auto log = RunLog::Open(power, "run", keeps_logs ? LogSizes(**frontier) : RunLog::Sizes());
    EXPECT_TRUE(log) << log.error().text;
    Fill(web);
    Result<CrawlEnd> end = CrawlEnd();
    int answers = 0;                                 // may come until the crawler is gone
    std::optional<store::BlockTable::Changes> rows;  // of the frontier, before the power went
    {
      Crawler crawler({clock, web, archive, writer, duplicates, **frontier, **log,
                       by_payload ? &originals : nullptr},
                      {settings, *ScopeOptionsOf(settings), credentials}, run);
      web.on_answer = [&](const std::string&) {
        if (++answers == stop_after) crawler.Stop();
        if (answers == full_after) disk.SetFreeBytes(0);
        if (answers == dark_after) {
          // It is behind the archive and the logs, never before them.
          rows = table.Rows();
          power.FailFromNowOn();
          crawler.Stop();
        }
        if (answers == 1 && at_first) at_first(crawler, web);
      };
      end = crawler.Run([&](const CrawlProgress& now) { states.push_back(now.state); });
      if (other.joinable()) other.join();
      // Nobody waits for an answer that will not come.
      EXPECT_EQ(crawler.Pause().error().code, ErrorCode::kNotFound);
    }
    const Status finished = writer.Finish();
    if (rows) {
      disk.Crash(random);
      EXPECT_TRUE(table.Clear() && table.Write(*rows));
      return end;
    }
    EXPECT_EQ(finished.ok(), end.ok());
    for (const auto& [url, count] : web.asked()) asked[url] += count;
    trusted = web.trusted();
    Look(archive.View());
    return end;
  }

  void Fill(FakeWeb& web) const {
    web.times = times;
    web.cut = cut;
    web.hanging = hanging;
    web.before = before;
    web.inside = inside;
    web.failure_takes = failure_takes;
    web.distrust = distrust;
    web.make = make;
    web.respond = respond;
    for (const auto& [url, body] : pages) web.Add(url, body);
    for (const auto& [url, to] : redirects) web.Redirect(url, to);
    for (const auto& [url, failure] : failures) web.Fail(url, failure);
    if (!address.empty()) web.address = net::IpAddress::FromText(address);
  }

  // What the archive has.
  void Look(const archive::ArchiveView& view) {
    captured.clear();
    begun.clear();
    catalog::CaptureScan scan = view.catalog().Scan({});
    for (;;) {
      const Result<const catalog::Capture*> row = scan.Next();
      EXPECT_TRUE(row);
      if (!row || *row == nullptr) break;
      captured.insert(std::string((*row)->url));
      begun[std::string((*row)->url)] = (*row)->time;
    }
  }

  static RunLog::Sizes LogSizes(Frontier& frontier) {
    const Result<std::optional<std::string>> note = frontier.Note("logs");
    EXPECT_TRUE(note);
    return RunLog::Sizes::Decode(note ? note->value_or("") : "");
  }

  io::MemoryFileSystem disk;
  CountingClock clock;
  io::SeededRandom random{1};
  CountingTable table;
  CrawlSettings settings;
  Credentials credentials;
  archive::RunWriterOptions writing;
  std::map<std::string, std::string> pages;
  std::function<std::string(const std::string& url)> make;  // pages that are not among them
  // Whole responses that come in place of all others; empty: none.
  std::function<std::string(const std::string& url, std::size_t others)> respond;
  std::map<std::string, std::string> redirects;
  std::map<std::string, net::FetchFailure> failures;
  std::map<std::string, Timestamp> times;
  std::string address;   // of all hosts; empty: it is not known
  std::string distrust;  // of all certificates
  std::chrono::seconds failure_takes{0};
  std::set<std::string> inside;
  std::map<std::string, int> cut;
  std::set<std::string> hanging;
  std::map<std::string, std::vector<std::string>> before;
  std::uint32_t run = 0;
  std::map<std::string, int> asked;
  std::set<std::string> trusted;
  std::multiset<std::string> captured;
  std::map<std::string, Timestamp> begun;  // when what was captured was asked for
  std::vector<CrawlState> states;
};

}  // namespace stele::crawl::testing
