#include "crawl/politeness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace stele::crawl {
namespace {

using std::chrono::milliseconds;
using Kind = Politeness::Kind;

constexpr Timestamp kNow{1'700'000'000'000};

Timestamp In(std::int64_t wait) { return Timestamp{kNow.milliseconds + wait}; }

// A page that took so long, from kNow on.
void FetchPage(Politeness& politeness, const std::string& host, std::int64_t took,
               const std::string& address = "") {
  politeness.Begin(host, Kind::kPage);
  politeness.End(host, Kind::kPage, address, milliseconds(took), In(took));
}

TEST(Politeness, I1_DelayIsAMultipleOfTheLastFetchWithinBounds) {
  for (const auto& [took, delay] : {std::pair(10, 1000), {600, 3000}, {20'000, 30'000}}) {
    Politeness politeness({});
    FetchPage(politeness, "a", took);
    EXPECT_EQ(politeness.ReadyAt("a", Kind::kPage), In(took + delay)) << took;
    EXPECT_EQ(politeness.ReadyAt("b", Kind::kPage), Timestamp{}) << "another host need not wait";
  }
}

TEST(Politeness, I1_HostsThatOnlyHaveEmbedsGetAPauseWhenASlotIsFull) {
  PolitenessOptions options;
  options.slot_embeds_max = 3;
  Politeness politeness(options);
  for (int i = 0; i < 3; ++i) {
    EXPECT_LE(politeness.ReadyAt("a", Kind::kEmbed), kNow) << i;
    politeness.Begin("a", Kind::kEmbed);
    EXPECT_EQ(politeness.HasRoom("a", Kind::kEmbed), i < 2) << "another one belongs to no slot";
    politeness.End("a", Kind::kEmbed, "", milliseconds(10), kNow);
  }
  EXPECT_EQ(politeness.ReadyAt("a", Kind::kEmbed), In(1000));
  politeness.Begin("a", Kind::kEmbed);
  politeness.End("a", Kind::kEmbed, "", milliseconds(10), In(1000));
  EXPECT_LE(politeness.ReadyAt("a", Kind::kEmbed), In(1000)) << "the next slot";
}

TEST(Politeness, I1_AGivenDelayHoldsWhateverElseWould) {
  PolitenessOptions options;
  options.delay = milliseconds(0);
  Politeness politeness(options);
  politeness.SetCrawlDelay("a", milliseconds(60'000));
  FetchPage(politeness, "a", 500);
  // Before all hosts that something is still to be waited for.
  EXPECT_EQ(politeness.ReadyAt("a", Kind::kPage), Timestamp{});
}

TEST(Politeness, I1_ADelayThatIsSetHoldsAtOnce) {
  Politeness politeness({});
  FetchPage(politeness, "a", 20'000, "192.0.2.1");
  politeness.SetDelay(milliseconds(100), In(21'000));
  EXPECT_EQ(politeness.ReadyAt("a", Kind::kPage), In(21'100));
  // The rules hold again from the next page on.
  politeness.SetDelay(std::nullopt, In(21'000));
  EXPECT_EQ(politeness.ReadyAt("a", Kind::kPage), In(21'100));
  FetchPage(politeness, "a", 10'000);
  EXPECT_EQ(politeness.ReadyAt("a", Kind::kPage), In(40'000));
}

TEST(Politeness, I1_CrawlDelayIsGrantedUpToABound) {
  Politeness politeness({});
  politeness.SetCrawlDelay("a", milliseconds(10'000));
  FetchPage(politeness, "a", 0);
  EXPECT_EQ(politeness.ReadyAt("a", Kind::kPage), In(10'000));
  politeness.SetCrawlDelay("b", milliseconds(1'000'000));
  FetchPage(politeness, "b", 0);
  EXPECT_EQ(politeness.ReadyAt("b", Kind::kPage), In(300'000));
}

TEST(Politeness, I1_EmbedsShareTheSlotOfTheirPage) {
  PolitenessOptions options;
  options.slot_embeds_max = 3;
  Politeness politeness(options);
  FetchPage(politeness, "a", 100);
  for (int i = 0; i < 3; ++i) {
    EXPECT_LE(politeness.ReadyAt("a", Kind::kEmbed), In(100)) << i;
    politeness.Begin("a", Kind::kEmbed);
    politeness.End("a", Kind::kEmbed, "", milliseconds(50), In(250));
  }
  // The slot is full, and the pause begins when its last fetch is over.
  EXPECT_EQ(politeness.ReadyAt("a", Kind::kEmbed), In(1250));
  EXPECT_EQ(politeness.ReadyAt("a", Kind::kPage), In(1250));
}

TEST(Politeness, I1_OnePageAtATimeAndFewEmbeds) {
  Politeness politeness({});
  politeness.Begin("a", Kind::kPage);
  EXPECT_FALSE(politeness.HasRoom("a", Kind::kPage));
  EXPECT_TRUE(politeness.HasRoom("a", Kind::kEmbed));
  politeness.Begin("a", Kind::kEmbed);
  EXPECT_FALSE(politeness.HasRoom("a", Kind::kEmbed));
  EXPECT_TRUE(politeness.HasRoom("b", Kind::kPage));
}

TEST(Politeness, I1_HostsAtOneAddressTakeTurns) {
  Politeness politeness({});
  for (const char* host : {"a", "b", "c"}) FetchPage(politeness, host, 0, "192.0.2.1");
  FetchPage(politeness, "elsewhere", 0, "192.0.2.2");
  EXPECT_EQ(politeness.TakeTurn("a", Kind::kPage, In(5000)), In(5000));
  EXPECT_EQ(politeness.TakeTurn("b", Kind::kPage, In(5000)), In(5250));
  EXPECT_EQ(politeness.TakeTurn("c", Kind::kPage, In(5100)), In(5500));
  EXPECT_EQ(politeness.ReadyAt("c", Kind::kPage), In(5500));
  EXPECT_EQ(politeness.TakeTurn("b", Kind::kPage, In(5250)), In(5250)) << "it has one already";
  EXPECT_EQ(politeness.TakeTurn("b", Kind::kEmbed, In(5100)), In(5100)) << "its page has begun";
  EXPECT_EQ(politeness.TakeTurn("elsewhere", Kind::kPage, In(5000)), In(5000));
  politeness.Begin("a", Kind::kPage);
  EXPECT_EQ(politeness.TakeTurn("a", Kind::kPage, In(5300)), In(5750)) << "behind the others";
}

TEST(Politeness, I1_TurnsThatWereNotUsedAreLost) {
  Politeness politeness({});
  for (const char* host : {"a", "b"}) FetchPage(politeness, host, 0, "192.0.2.1");
  EXPECT_EQ(politeness.TakeTurn("a", Kind::kPage, In(5000)), In(5000));
  EXPECT_EQ(politeness.TakeTurn("b", Kind::kPage, In(6100)), In(6100));
  EXPECT_EQ(politeness.TakeTurn("a", Kind::kPage, In(6100)), In(6350));
}

// Hosts wait for few connections, and most of them come later than their turn would have been.
struct BusyCrawl {
  static constexpr int kAtOneAddress = 400;
  static constexpr int kElsewhere = 800;
  static constexpr std::size_t kConnections = 100;
  static constexpr std::int64_t kTook = 500;

  BusyCrawl() {
    for (int i = 0; i < kAtOneAddress + kElsewhere; ++i) {
      const std::string host = std::to_string(i);
      FetchPage(politeness, host, 0, AddressOf(host));
      ready.emplace(politeness.ReadyAt(host, Kind::kPage), host);
    }
  }
  static bool IsAtOneAddress(const std::string& host) { return std::stoi(host) < kAtOneAddress; }
  static std::string AddressOf(const std::string& host) {
    return IsAtOneAddress(host) ? "192.0.2.1" : "host " + host;
  }

  void Turn(Timestamp now) {
    while (!fetching.empty() && fetching.begin()->first <= now) {
      const std::string host = fetching.begin()->second;
      fetching.erase(fetching.begin());
      politeness.End(host, Kind::kPage, AddressOf(host), milliseconds(0), now);
      ready.emplace(politeness.ReadyAt(host, Kind::kPage), host);
    }
    while (!ready.empty() && ready.begin()->first <= now && fetching.size() < kConnections) {
      const std::string host = ready.begin()->second;
      ready.erase(ready.begin());
      if (politeness.TakeTurn(host, Kind::kPage, now) > now) {
        ready.emplace(politeness.ReadyAt(host, Kind::kPage), host);
        continue;
      }
      politeness.Begin(host, Kind::kPage);
      // None takes as long as another.
      const std::int64_t took = kTook + std::stoi(host) % 100;
      fetching.emplace(Timestamp{now.milliseconds + took}, host);
      if (IsAtOneAddress(host)) begun.push_back(now.milliseconds - kNow.milliseconds);
    }
  }

  Politeness politeness{PolitenessOptions()};
  std::set<std::pair<Timestamp, std::string>> ready;
  std::set<std::pair<Timestamp, std::string>> fetching;
  std::vector<std::int64_t> begun;  // pages at the one address
};

TEST(Politeness, I1_HostsAtOneAddressThatComeLateStillHaveTurns) {
  BusyCrawl crawl;
  constexpr std::int64_t kMinute = 60'000;
  for (std::int64_t t = 0; t < 3 * kMinute; ++t) crawl.Turn(In(t));
  const std::vector<std::int64_t>& begun = crawl.begun;
  ASSERT_FALSE(begun.empty());
  const auto last_minute = std::lower_bound(begun.begin(), begun.end(), 2 * kMinute);
  EXPECT_GT(begun.end() - last_minute, 100) << "there is room for 240";
  for (std::size_t i = 1; i < begun.size(); ++i) {
    ASSERT_GE(begun[i] - begun[i - 1], 250) << begun[i];
  }
}

TEST(Politeness, I1_ATurnThatHasJustComeIsPutOffAndNotLost) {
  Politeness politeness({});
  for (const char* host : {"a", "b", "c", "d"}) FetchPage(politeness, host, 0, "192.0.2.1");
  EXPECT_EQ(politeness.TakeTurn("a", Kind::kPage, In(5000)), In(5000));
  EXPECT_EQ(politeness.TakeTurn("b", Kind::kPage, In(5000)), In(5250));
  EXPECT_EQ(politeness.TakeTurn("c", Kind::kPage, In(5000)), In(5500));
  EXPECT_EQ(politeness.TakeTurn("d", Kind::kPage, In(5000)), In(5750));
  EXPECT_EQ(politeness.TakeTurn("b", Kind::kPage, In(5260)), In(5260));
  EXPECT_EQ(politeness.TakeTurn("c", Kind::kPage, In(5500)), In(5510));
  EXPECT_EQ(politeness.TakeTurn("c", Kind::kPage, In(5510)), In(5510));
}

TEST(Politeness, I1_WhoseTurnItIsMayComeAgainUntilItBegins) {
  Politeness politeness({});
  for (const char* host : {"a", "b"}) FetchPage(politeness, host, 0, "192.0.2.1");
  EXPECT_EQ(politeness.TakeTurn("a", Kind::kPage, In(5000)), In(5000));
  // Its first URL was forbidden.
  EXPECT_EQ(politeness.TakeTurn("a", Kind::kPage, In(5200)), In(5200));
  politeness.Begin("a", Kind::kPage);
  EXPECT_EQ(politeness.TakeTurn("b", Kind::kPage, In(5250)), In(5450));
}

TEST(Politeness, I1_WithoutPausesNobodyStandsInLine) {
  PolitenessOptions options;
  options.delay = milliseconds(0);
  Politeness politeness(options);
  for (const char* host : {"a", "b"}) FetchPage(politeness, host, 0, "192.0.2.1");
  EXPECT_EQ(politeness.TakeTurn("a", Kind::kPage, kNow), kNow);
  EXPECT_EQ(politeness.TakeTurn("b", Kind::kPage, kNow), kNow);
}

TEST(Politeness, I1_BackOffDoublesAndHeedsWhatTheHostAsksFor) {
  Politeness politeness({});
  EXPECT_EQ(politeness.BackOff("a", std::nullopt, kNow, kNow), In(5000));
  EXPECT_EQ(politeness.BackOff("a", std::nullopt, In(5000), In(5000)), In(15'000));
  EXPECT_EQ(politeness.pauses("a"), 2);
  EXPECT_EQ(politeness.ReadyAt("a", Kind::kEmbed), In(15'000));
  politeness.Recover("a");
  EXPECT_EQ(politeness.BackOff("a", milliseconds(120'000), In(20'000), In(20'000)), In(140'000));
  EXPECT_EQ(politeness.BackOff("b", milliseconds(900'000'000), kNow, kNow), In(3'600'000));
}

TEST(Politeness, I1_RequestsThatWereUnderWayMakeNoPauseLonger) {
  Politeness politeness({});
  for (int i = 1; i <= 8; ++i) {
    EXPECT_EQ(politeness.BackOff("a", std::nullopt, kNow, In(i)), In(5000 + i));
  }
  EXPECT_EQ(politeness.pauses("a"), 1);
  // What one of them asks for is granted all the same.
  EXPECT_EQ(politeness.BackOff("a", milliseconds(7000), kNow, In(10)), In(7010));
  EXPECT_EQ(politeness.BackOff("a", std::nullopt, In(7010), In(7020)), In(17'020));
}

TEST(Politeness, I1_AShortRetryAfterShortensNoPauseButTheFirst) {
  Politeness politeness({});
  EXPECT_EQ(politeness.BackOff("a", milliseconds(1000), kNow, kNow), In(1000));
  EXPECT_EQ(politeness.BackOff("a", milliseconds(1000), In(1000), In(1000)), In(11'000));
  EXPECT_EQ(politeness.BackOff("a", milliseconds(1000), In(11'000), In(11'000)), In(31'000));
  EXPECT_EQ(politeness.BackOff("a", milliseconds(60'000), In(31'000), In(31'000)), In(91'000));
}

TEST(Politeness, I1_WhatIsAskedAndAnsweredWithinAMillisecondIsOnePause) {
  Politeness politeness({});
  for (int i = 0; i < 8; ++i) politeness.BackOff("a", milliseconds(1000), kNow, kNow);
  EXPECT_EQ(politeness.pauses("a"), 1);
}

TEST(Politeness, I1_OneAtATimeFindsOutWhetherItIsStillTooMuch) {
  PolitenessOptions undelayed;
  undelayed.delay = milliseconds(0);
  for (const PolitenessOptions& options : {PolitenessOptions(), undelayed}) {
    Politeness politeness(options);
    politeness.BackOff("a", std::nullopt, kNow, kNow);
    EXPECT_TRUE(politeness.HasRoom("a", Kind::kEmbed));
    politeness.Begin("a", Kind::kEmbed);
    EXPECT_FALSE(politeness.HasRoom("a", Kind::kEmbed));
    politeness.Recover("a");
    EXPECT_TRUE(politeness.HasRoom("a", Kind::kEmbed));
  }
}

TEST(Politeness, I1_ForgetsHostsThatNeedNotWait) {
  Politeness politeness({});
  for (int i = 0; i < 1000; ++i) FetchPage(politeness, std::to_string(i), 0, "192.0.2.1");
  politeness.Begin("busy", Kind::kPage);
  const auto nothing_waits = [](const std::string&) { return false; };
  politeness.Forget(In(500), nothing_waits);
  EXPECT_EQ(politeness.hosts(), 1001U);
  politeness.Forget(In(2000), [](const std::string& host) { return host == "7" || host == "8"; });
  EXPECT_EQ(politeness.hosts(), 3U);
  EXPECT_EQ(politeness.TakeTurn("7", Kind::kPage, In(2000)), In(2000));
  EXPECT_EQ(politeness.TakeTurn("8", Kind::kPage, In(2000)), In(2250)) << "its address is known";
  politeness.Forget(In(2000), nothing_waits);
  EXPECT_EQ(politeness.hosts(), 1U);
}

TEST(Politeness, I1_RetryAfterIsANumberOrADate) {
  EXPECT_EQ(ParseRetryAfter(" 120 ", kNow), milliseconds(120'000));
  EXPECT_EQ(ParseRetryAfter(FormatHttpDate(In(90'000)), kNow), milliseconds(90'000));
  EXPECT_EQ(ParseRetryAfter(FormatHttpDate(In(-90'000)), kNow), milliseconds(0));
  EXPECT_EQ(ParseRetryAfter("soon", kNow), std::nullopt);
  EXPECT_EQ(ParseRetryAfter("", kNow), std::nullopt);
}

}  // namespace
}  // namespace stele::crawl
