#include "util/timestamp.h"

#include <gtest/gtest.h>

namespace stele {
namespace {

constexpr Timestamp kMoment{1390766784123};  // 2014-01-26T20:06:24.123Z

TEST(Timestamp, DigitsRoundTrip) {
  EXPECT_EQ(FormatDigits14(kMoment), "20140126200624");
  EXPECT_EQ(FormatDigits17(kMoment), "20140126200624123");
  EXPECT_EQ(ParseDigits("20140126200624123"), kMoment);
}

TEST(Timestamp, APrefixMeansItsFirstMoment) {
  EXPECT_EQ(FormatIso(*ParseDigits("2014")), "2014-01-01T00:00:00Z");
  EXPECT_EQ(FormatIso(*ParseDigits("20141")), "2014-10-01T00:00:00Z");
  EXPECT_EQ(FormatIso(*ParseDigits("201402")), "2014-02-01T00:00:00Z");
  EXPECT_EQ(FormatIso(*ParseDigits("2014012")), "2014-01-20T00:00:00Z");
  EXPECT_EQ(FormatIso(*ParseDigits("2014012620")), "2014-01-26T20:00:00Z");
}

TEST(Timestamp, IsoTakesEveryGranularityAndZone) {
  for (const char* text : {"2014-01-26T20:06:24.123Z", "2014-01-26T20:06:24.123456789Z",
                           "2014-01-26T12:06:24.123-08:00", "2014-01-26T12:06:24.123-0800",
                           "2014-01-26 20:06:24.123"}) {
    EXPECT_EQ(ParseIso(text), kMoment) << text;
  }
  EXPECT_EQ(FormatIso(*ParseIso("2014")), "2014-01-01T00:00:00Z");
  EXPECT_EQ(FormatIso(*ParseIso("2014-02")), "2014-02-01T00:00:00Z");
  EXPECT_EQ(FormatIso(*ParseIso("2014-02-03")), "2014-02-03T00:00:00Z");
  EXPECT_EQ(FormatIso(*ParseIso("2014-02-03T04:05Z")), "2014-02-03T04:05:00Z");
}

TEST(Timestamp, DatesThatDoNotExistAreRefused) {
  for (const char* text :
       {"", "201", "2014-13-01", "2009-03-65T08:43:19-0800", "2014-02-30", "2014-01-26T25:00:00Z",
        "2014-01-26T20:06:24.Z", "2014-01-26T20", "2014-01-26T20:06:24X", "x014-01-01"}) {
    EXPECT_EQ(ParseIso(text), std::nullopt) << text;
  }
  for (const char* text : {"", "201", "201413", "20140230", "2014012620062412345", "2014O126"}) {
    EXPECT_EQ(ParseDigits(text), std::nullopt) << text;
  }
}

TEST(Timestamp, HttpDatesOfAllThreeFormsAreOneMoment) {
  const Timestamp second{1390766784000};
  for (const char* text : {"Sun, 26 Jan 2014 20:06:24 GMT", "Sunday, 26-Jan-14 20:06:24 GMT",
                           "Sun Jan 26 20:06:24 2014", "26 Jan 2014 20:06:24 +0000",
                           "26 Jan 2014 12:06:24 -0800", "Sun, 26 Jan 14 20:06:24 GMT"}) {
    EXPECT_EQ(ParseHttpDate(text), second) << text;
  }
  EXPECT_EQ(FormatHttpDate(second), "Sun, 26 Jan 2014 20:06:24 GMT");
  for (const char* text : {"", "yesterday", "Sun, 26 Jan", "Sun, 32 Jan 2014 20:06:24 GMT",
                           "26 Foo 2014 20:06:24 GMT", "0", "-1"}) {
    EXPECT_EQ(ParseHttpDate(text), std::nullopt) << text;
  }
}

TEST(Timestamp, EveryDayOfManyCenturiesRoundTrips) {
  for (std::int64_t day = -719162; day < 2932896; day += 13) {
    const Timestamp time{day * 86'400'000 + 1};
    EXPECT_EQ(ParseIso(FormatIsoMillis(time)), time);
    EXPECT_EQ(ParseDigits(FormatDigits17(time)), time);
    EXPECT_EQ(ParseHttpDate(FormatHttpDate(time))->milliseconds, time.milliseconds - 1);
  }
}

TEST(Timestamp, YearsThatHaveMoreOrLessThanFourDigitsAreWritten) {
  EXPECT_EQ(FormatDigits17({253'402'300'800'005}), "100000101000000005");
  EXPECT_EQ(FormatHttpDate({253'402'300'800'000}), "Sat, 01 Jan 10000 00:00:00 GMT");
  EXPECT_EQ(FormatDigits14({-62'198'755'200'000}), "-0010101000000");
  EXPECT_EQ(FormatDigits14({-62'167'219'200'000}), "00000101000000");
}

}  // namespace
}  // namespace stele
