#include "crawl/crawl_notes.h"

#include <gtest/gtest.h>

namespace stele::crawl {
namespace {

catalog::CaptureId Id(std::uint32_t batch, std::uint32_t serial) {
  catalog::CaptureId id;
  id.batch = batch;
  id.serial = serial;
  return id;
}

TEST(CrawlNotes, I1_WhatIsFinishedIsKnownOfEachBatchAcrossAChangeOfMonth) {
  LastFinished last;
  EXPECT_FALSE(last.Covers(Id(1, 0)));
  EXPECT_FALSE(last.AllUpTo(1));
  last.Add(Id(1, 7));
  EXPECT_EQ(last.AllUpTo(1), Id(1, 7));
  last.Add(Id(2, 3));
  // One of the old month came late, and was not finished.
  EXPECT_TRUE(last.Covers(Id(1, 7)));
  EXPECT_FALSE(last.Covers(Id(1, 8)));
  EXPECT_TRUE(last.Covers(Id(2, 3)));
  EXPECT_FALSE(last.Covers(Id(2, 4)));
  EXPECT_FALSE(last.Covers(Id(3, 0)));
  EXPECT_EQ(last.AllUpTo(1), Id(1, 7));
  last.Add(Id(1, 6));
  EXPECT_TRUE(last.Covers(Id(1, 7)));
  last.Add(Id(3, 1));
  EXPECT_TRUE(last.Covers(Id(1, 9)));
  EXPECT_EQ(last.AllUpTo(1), Id(2, 3));
  EXPECT_EQ(LastFinished::Decode(last.Encode()), last);
}

TEST(CrawlNotes, I1_WhatWasCutOffIsToldOnce) {
  CutOffs cut_offs;
  EXPECT_EQ(cut_offs.Take("http://a.org/"), std::nullopt);
  cut_offs.Add("http://a.org/", 7);
  cut_offs.Add("http://a.org/", UINT64_MAX);
  cut_offs.Add("http://a.org/1", UINT64_MAX);
  CutOffs again = CutOffs::Decode(cut_offs.Encode());
  EXPECT_EQ(again, cut_offs);
  EXPECT_EQ(again.Take("http://a.org/"), 7U);
  EXPECT_EQ(again.Take("http://a.org/"), std::nullopt);
  EXPECT_EQ(again.Take("http://a.org/1"), UINT64_MAX);
  EXPECT_TRUE(again.empty());
  const std::string bytes = cut_offs.Encode();
  const CutOffs torn = CutOffs::Decode(std::string_view(bytes).substr(0, bytes.size() - 1));
  EXPECT_FALSE(torn.empty());
}

TEST(CrawlNotes, I1_OfAnEarlierBatchNothingNeedBeFinished) {
  LastFinished last;
  last.Add(Id(2, 3));
  EXPECT_FALSE(last.Covers(Id(1, 0)));
  EXPECT_FALSE(last.AllUpTo(1));
  EXPECT_EQ(last.AllUpTo(2), Id(2, 3));
}

TEST(CrawlNotes, I1_ChangedLimitsHoldWhereNobodyHasSaidOtherwiseSince) {
  ChangedLimits changed;
  changed.before.pages_max = 100;
  changed.before.connections = 256;
  changed.after.pages_max = 20;
  changed.after.time_max = std::chrono::seconds(60);
  changed.after.delay = std::chrono::milliseconds(1'500);
  changed.after.connections = 1;
  EXPECT_EQ(ChangedLimits::Decode(changed.Encode()), changed);
  EXPECT_EQ(changed.Over(changed.before), changed.after);
  CrawlLimits settings = changed.before;
  settings.pages_max = 300;
  settings.delay = std::chrono::milliseconds(0);
  const CrawlLimits limits = changed.Over(settings);
  EXPECT_EQ(limits.pages_max, 300U);
  EXPECT_EQ(limits.delay, std::chrono::milliseconds(0));
  EXPECT_EQ(limits.time_max, std::chrono::seconds(60));
  EXPECT_EQ(limits.connections, 1U);
}

TEST(CrawlNotes, I1_LimitsThatMakeNoSenseAreNone) {
  ChangedLimits changed;
  changed.after.connections = 7;
  const std::string bytes = changed.Encode();
  ASSERT_TRUE(ChangedLimits::Decode(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ChangedLimits::Decode(bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(ChangedLimits::Decode(bytes + 'x'));
  changed.after.connections = 0;
  EXPECT_FALSE(ChangedLimits::Decode(changed.Encode()));
}

TEST(CrawlNotes, I1_CookiesComeBackAsTheyWere) {
  cookies::Cookie session{"a", "1", "a.org", "/", std::nullopt, true, false, Timestamp{5}};
  cookies::Cookie lasting{"b", "x;y", "org", "/p", Timestamp{-7}, false, true, Timestamp{6}};
  const std::vector<cookies::Cookie> both = {session, lasting};
  EXPECT_EQ(DecodeCookies(EncodeCookies(both)), both);
  EXPECT_TRUE(DecodeCookies("").empty());
  const std::string bytes = EncodeCookies(both);
  EXPECT_EQ(DecodeCookies(bytes.substr(0, bytes.size() - 1)).size(), 1U);
}

}  // namespace
}  // namespace stele::crawl
