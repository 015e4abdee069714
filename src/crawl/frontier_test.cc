#include "crawl/frontier.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

namespace stele::crawl {
namespace {

// A table in memory that is durable after each write, and can fail.
class DurableTable final : public store::BlockTable {
 public:
  Result<std::optional<std::string>> Get(const std::string& key) const override {
    return rows_.Get(key);
  }
  Status Write(const Changes& changes) override {
    ++writes;
    if (writes == fail_at) return Error{ErrorCode::kIo, "the disk is gone"};
    return rows_.Write(changes);
  }
  Status ScanAfter(const std::string& prefix, const std::string& after,
                   const Visit& visit) const override {
    return rows_.ScanAfter(prefix, after, visit);
  }
  Status Flush() override { return {}; }
  Status Clear() override { return rows_.Clear(); }

  int writes = 0;
  int fail_at = 0;

 private:
  store::MemoryBlockTable rows_;
};

Candidate At(const std::string& url, const std::string& hops = "L") {
  Candidate candidate;
  candidate.url = url;
  candidate.hops = hops;
  return candidate;
}

std::unique_ptr<Frontier> Opened(store::BlockTable& table, const Frontier::Options& options = {}) {
  Result<std::unique_ptr<Frontier>> frontier = Frontier::Open(table, options);
  EXPECT_TRUE(frontier) << frontier.error().text;
  return *std::move(frontier);
}

Frontier::Taken TakeOne(Frontier& frontier, const std::string& host) {
  Result<std::optional<Frontier::Taken>> taken = frontier.Take(host);
  EXPECT_TRUE(taken && *taken) << host;
  return taken && *taken ? **taken : Frontier::Taken{};
}

std::vector<std::string> TakeAll(Frontier& frontier, const std::string& host) {
  std::vector<std::string> urls;
  for (;;) {
    Result<std::optional<Frontier::Taken>> taken = frontier.Take(host);
    EXPECT_TRUE(taken) << taken.error().text;
    if (!taken || !*taken) return urls;
    urls.push_back((*taken)->candidate.url);
    frontier.Finish(**taken);
  }
}

TEST(Frontier, I1_EachUrlIsTakenOnce) {
  DurableTable table;
  const auto frontier = Opened(table);
  EXPECT_EQ(*frontier->Add(At("http://a.org/1")), Frontier::Added::kNew);
  EXPECT_EQ(*frontier->Add(At("http://a.org/1")), Frontier::Added::kSeen);
  EXPECT_EQ(*frontier->Add(At("http://a.org/1?PHPSESSID=0123456789abcdef0123456789abcdef")),
            Frontier::Added::kSeen);
  frontier->MarkSeen("http://a.org/robots.txt");
  EXPECT_EQ(*frontier->Add(At("http://a.org/robots.txt")), Frontier::Added::kSeen);
  EXPECT_EQ(TakeAll(*frontier, "a.org"), std::vector<std::string>{"http://a.org/1"});
  EXPECT_EQ(*frontier->Add(At("http://a.org/1")), Frontier::Added::kSeen);
  EXPECT_EQ(frontier->unfinished(), 0U);
}

TEST(Frontier, I1_WhatIsNeededFirstComesFirst) {
  DurableTable table;
  const auto frontier = Opened(table);
  Candidate seed = At("http://a.org/seed", "");
  seed.seed = true;
  for (const Candidate& candidate :
       {At("http://a.org/deep", "LLL"), At("http://a.org/link1", "L"),
        At("http://a.org/link2", "L"), At("http://a.org/picture", "LLLE"),
        At("http://a.org/moved", "LLR"), seed}) {
    ASSERT_EQ(*frontier->Add(candidate), Frontier::Added::kNew);
  }
  EXPECT_EQ(*frontier->FirstIsPage("a.org"), true);
  EXPECT_EQ(
      TakeAll(*frontier, "a.org"),
      (std::vector<std::string>{"http://a.org/seed", "http://a.org/picture", "http://a.org/moved",
                                "http://a.org/link1", "http://a.org/link2", "http://a.org/deep"}));
}

TEST(Frontier, I1_RetriesComeAfterAllOthersAndReturnedOnesAtTheirPlace) {
  DurableTable table;
  const auto frontier = Opened(table);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(frontier->Add(At(fmt::format("http://a.org/{}", i))));
  }
  frontier->Retry(TakeOne(*frontier, "a.org"));
  frontier->Return(TakeOne(*frontier, "a.org"));
  EXPECT_EQ(frontier->waiting(), 3U);
  EXPECT_EQ(TakeOne(*frontier, "a.org").candidate.url, "http://a.org/1");
  EXPECT_EQ(TakeOne(*frontier, "a.org").candidate.url, "http://a.org/2");
  const Frontier::Taken again = TakeOne(*frontier, "a.org");
  EXPECT_EQ(again.candidate.url, "http://a.org/0");
  EXPECT_EQ(again.candidate.tries, 1U);
}

TEST(Frontier, I1_WhatWasTakenAndNotFinishedWaitsAgainAfterAKill) {
  DurableTable table;
  {
    const auto frontier = Opened(table);
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(frontier->Add(At(fmt::format("http://a.org/{}", i))));
    }
    frontier->Finish(TakeOne(*frontier, "a.org"));
    frontier->SetNote("counts", "7");
    ASSERT_TRUE(frontier->Commit());
    TakeOne(*frontier, "a.org");
    frontier->Finish(TakeOne(*frontier, "a.org"));  // never committed
  }
  const auto frontier = Opened(table);
  EXPECT_EQ(frontier->waiting(), 9U);
  EXPECT_EQ(*frontier->Note("counts"), "7");
  EXPECT_EQ(TakeAll(*frontier, "a.org").front(), "http://a.org/1");
  EXPECT_EQ(*frontier->Add(At("http://a.org/0")), Frontier::Added::kSeen);
}

TEST(Frontier, I1_QueuesOnTheDiskAreReadInOrderWhateverTheirLength) {
  DurableTable table;
  Frontier::Options options;
  options.heads_max = 4;
  options.changes_max = 50;
  const auto frontier = Opened(table, options);
  std::vector<std::string> expected;
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(frontier->Add(At(fmt::format("http://a.org/{}", i))));
    expected.push_back(fmt::format("http://a.org/{}", i));
    EXPECT_LE(frontier->heads(), 8U);
  }
  EXPECT_EQ(TakeAll(*frontier, "a.org"), expected);
}

TEST(Frontier, I1_MemoryIsFlatHoweverManyHosts) {
  DurableTable table;
  Frontier::Options options;
  options.heads_max = 4;
  options.all_heads_max = 40;
  const auto frontier = Opened(table, options);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(frontier->Add(At(fmt::format("http://h{}.org/{}", i % 100, i))));
    EXPECT_LE(frontier->heads(), 40U);
  }
  ASSERT_TRUE(frontier->Commit());
  const auto again = Opened(table, options);
  EXPECT_EQ(again->hosts_waiting(), 100U);
  EXPECT_EQ(again->heads(), 0U);
  // To ask what comes first costs no memory either.
  for (int host = 0; host < 100; ++host) {
    EXPECT_EQ(*again->FirstIsPage(fmt::format("h{}.org", host)), true);
    EXPECT_LE(again->heads(), 44U);
  }
  std::set<std::string> urls;
  while (again->waiting() > 0) {
    for (int host = 0; host < 100; ++host) {
      const Frontier::Taken taken = TakeOne(*again, fmt::format("h{}.org", host));
      EXPECT_TRUE(urls.insert(taken.candidate.url).second) << taken.candidate.url;
      if (urls.size() % 2 == 0) again->Finish(taken);
      EXPECT_LE(again->heads(), 44U);
    }
  }
  EXPECT_EQ(urls.size(), 2000U);
}

TEST(Frontier, I1_PagesThatDifferInValuesOfArgumentsAreCounted) {
  DurableTable table;
  Frontier::Options options;
  options.query_urls_max = 3;
  auto frontier = Opened(table, options);
  const auto add = [&](const std::string& path, const std::string& hops = "L") {
    return *frontier->Add(At("http://a.org" + path, hops));
  };
  EXPECT_EQ(add("/list?p=1&q=1"), Frontier::Added::kNew);
  EXPECT_EQ(add("/list?p=1&q=1"), Frontier::Added::kSeen);
  EXPECT_EQ(add("/list?q=2&p=1"), Frontier::Added::kNew);
  ASSERT_TRUE(frontier->Commit());
  frontier = Opened(table, options);
  EXPECT_EQ(add("/list?p=2&q=2"), Frontier::Added::kNew);
  EXPECT_EQ(add("/list?p=3&q=2"), Frontier::Added::kTooManyQueries);
  EXPECT_EQ(add("/list?p=1&q=1"), Frontier::Added::kSeen);
  EXPECT_EQ(add("/list?p=1"), Frontier::Added::kNew) << "other arguments";
  EXPECT_EQ(add("/map?p=3&q=2"), Frontier::Added::kNew) << "another path";
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(add(fmt::format("/list?p={}&q=e", i), "LE"), Frontier::Added::kNew) << "no page";
  }
  Candidate seed = At("http://a.org/list?p=9&q=9", "");
  seed.seed = true;
  EXPECT_EQ(*frontier->Add(seed), Frontier::Added::kNew);
}

TEST(Frontier, I1_PagesOfOnePathAreCountedWhateverTheNamesOfTheirArguments) {
  DurableTable table;
  Frontier::Options options;
  options.query_urls_max = 3;
  auto frontier = Opened(table, options);
  const auto add = [&](const std::string& path, const std::string& hops = "L") {
    return *frontier->Add(At("http://a.org" + path, hops));
  };
  constexpr std::uint64_t kMost = 3 * Frontier::kCombinationsPerPath;
  for (std::uint64_t i = 0; i < kMost; ++i) {
    // Names that come or stay away, as the bits of a number do.
    std::string query;
    for (int bit = 0; bit < 4; ++bit) {
      if (((i + 1) >> bit & 1) != 0) query += fmt::format("&{}=1", "abcd"[bit]);
    }
    EXPECT_EQ(add("/shop?" + query.substr(1)), Frontier::Added::kNew) << query;
    if (i % 5 != 0) continue;
    ASSERT_TRUE(frontier->Commit());
    frontier = Opened(table, options);
  }
  EXPECT_EQ(add("/shop?a=2&d=2"), Frontier::Added::kTooManyCombinations);
  EXPECT_EQ(add("/shop?other=1"), Frontier::Added::kTooManyCombinations);
  EXPECT_EQ(add("/shop?a=1"), Frontier::Added::kSeen);
  EXPECT_EQ(add("/shop"), Frontier::Added::kNew) << "it has no arguments";
  EXPECT_EQ(add("/list?a=1"), Frontier::Added::kNew) << "another path";
  EXPECT_EQ(add("/shop?a=3", "LE"), Frontier::Added::kNew) << "no page";
}

TEST(Frontier, I1_ALargeLimitOfArgumentsIsNoSmallOne) {
  DurableTable table;
  Frontier::Options options;
  options.query_urls_max = std::uint64_t{1} << 62;
  auto frontier = Opened(table, options);
  EXPECT_EQ(*frontier->Add(At("http://a.org/?a=1")), Frontier::Added::kNew);
  EXPECT_EQ(*frontier->Add(At("http://a.org/?b=1")), Frontier::Added::kNew);
}

TEST(Frontier, I1_AHostHasABudget) {
  DurableTable table;
  Frontier::Options options;
  options.host_urls_max = 3;
  auto frontier = Opened(table, options);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(*frontier->Add(At(fmt::format("http://a.org/{}", i))), Frontier::Added::kNew);
  }
  EXPECT_EQ(*frontier->Add(At("http://a.org/3")), Frontier::Added::kOverBudget);
  EXPECT_EQ(TakeAll(*frontier, "a.org").size(), 3U);
  ASSERT_TRUE(frontier->Commit());
  frontier = Opened(table, options);
  EXPECT_EQ(*frontier->Add(At("http://a.org/3")), Frontier::Added::kOverBudget);
  EXPECT_EQ(*frontier->Add(At("http://b.org/")), Frontier::Added::kNew);
}

// The slow twin: a map from URL to whether it is finished. Kills happen between any two steps.
TEST(Frontier, I1_NothingIsLostOrTakenTwiceAcrossKills) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 dice(seed);
    DurableTable table;
    Frontier::Options options;
    options.heads_max = 1 + dice() % 4;
    options.all_heads_max = 1 + dice() % 20;
    options.changes_max = 1 + dice() % 30;
    options.seen_cached_max = 1 + dice() % 10;
    auto frontier = Opened(table, options);
    std::set<std::string> added, finished, committed;
    std::vector<Frontier::Taken> taken;
    const auto host = [](unsigned i) { return fmt::format("h{}.org", i % 3); };
    for (int step = 0; step < 2000; ++step) {
      const unsigned number = dice() % 300;
      switch (dice() % 8) {
        case 0:
        case 1:
        case 2: {
          const std::string url = fmt::format("http://{}/{}", host(number), number);
          const std::string hops = std::string(dice() % 3, 'L') + (dice() % 2 ? "E" : "L");
          const Result<Frontier::Added> result = frontier->Add(At(url, hops));
          ASSERT_TRUE(result);
          ASSERT_EQ(*result == Frontier::Added::kNew, added.insert(url).second) << url;
          break;
        }
        case 3:
        case 4: {
          Result<std::optional<bool>> first = std::optional<bool>();
          if (number % 2 == 0) first = frontier->FirstIsPage(host(number));
          ASSERT_TRUE(first) << first.error().text;
          Result<std::optional<Frontier::Taken>> one = frontier->Take(host(number));
          ASSERT_TRUE(one) << one.error().text;
          if (*first) {
            ASSERT_EQ((*one)->candidate.is_page(), **first);
          }
          if (*one) taken.push_back(**one);
          break;
        }
        case 5:
        case 6: {
          if (taken.empty()) break;
          const Frontier::Taken one = taken.back();
          taken.pop_back();
          ASSERT_FALSE(finished.contains(one.candidate.url)) << one.candidate.url;
          const unsigned choice = dice() % 4;
          if (choice == 0) frontier->Return(one);
          if (choice == 1) frontier->Retry(one);
          if (choice > 1) frontier->Finish(one);
          if (choice > 1) finished.insert(one.candidate.url);
          break;
        }
        default: {
          ASSERT_TRUE(frontier->Commit());
          committed = finished;
          if (dice() % 4 != 0) break;
          // Killed: what was added is there, for all of it was committed.
          frontier = Opened(table, options);
          taken.clear();
          finished = committed;
          ASSERT_EQ(frontier->waiting(), added.size() - finished.size());
        }
      }
      ASSERT_EQ(frontier->unfinished(), added.size() - finished.size());
      ASSERT_EQ(frontier->waiting(), frontier->unfinished() - taken.size());
    }
  }
}

// Whichever write fails: what the table has is a state that was true.
TEST(Frontier, I1_EveryFailedWriteLeavesAGoodFrontier) {
  for (int fail_at = 1;; ++fail_at) {
    DurableTable table;
    table.fail_at = fail_at;
    Frontier::Options options;
    options.changes_max = 5;
    std::set<std::string> acknowledged;
    bool failed = false;
    {
      const auto frontier = Opened(table, options);
      for (int i = 0; i < 20 && !failed; ++i) {
        failed = !frontier->Add(At(fmt::format("http://a.org/{}", i)));
        if (!failed && i % 3 == 0) {
          const Frontier::Taken taken = TakeOne(*frontier, "a.org");
          frontier->Finish(taken);
          failed = !frontier->Commit();
          if (!failed) acknowledged.insert(taken.candidate.url);
        }
      }
    }
    table.fail_at = 0;
    const auto frontier = Opened(table, options);
    const std::uint64_t waiting = frontier->waiting();
    const std::vector<std::string> urls = TakeAll(*frontier, "a.org");
    EXPECT_EQ(urls.size(), waiting);
    for (const std::string& url : urls) EXPECT_FALSE(acknowledged.contains(url)) << url;
    if (!failed) break;
  }
}

TEST(Frontier, I1_WorksOnRocksDb) {
  const std::string folder =
      std::filesystem::temp_directory_path() / fmt::format("stele-frontier-{}", ::getpid());
  std::filesystem::remove_all(folder);
  for (int round = 0; round < 2; ++round) {
    auto table = store::OpenDurableRocksTable(folder);
    ASSERT_TRUE(table) << table.error().text;
    const auto frontier = Opened(**table);
    if (round == 0) {
      for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(frontier->Add(At(fmt::format("http://h{}.org/{}", i % 7, i))));
      }
      ASSERT_TRUE(frontier->Commit());
      continue;
    }
    std::size_t urls = 0;
    for (int i = 0; i < 7; ++i) urls += TakeAll(*frontier, fmt::format("h{}.org", i)).size();
    EXPECT_EQ(urls, 1000U);
    EXPECT_TRUE(frontier->Commit());
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stele::crawl
