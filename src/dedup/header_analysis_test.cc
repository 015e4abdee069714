#include "dedup/header_analysis.h"

#include <gtest/gtest.h>

namespace stele::dedup {
namespace {

constexpr std::string_view kBefore = "Sun, 26 Jan 2014 20:06:23 GMT";
constexpr std::string_view kSame = "Sun, 26 Jan 2014 20:06:24 GMT";
const Timestamp kCaptured = *ParseIso("2014-01-26T20:06:24Z");

TEST(HeaderAnalysis, D3_WhatWasModifiedBeforeTheCaptureHasNotChangedSince) {
  EXPECT_EQ(PredictByTimestamp(kBefore, kCaptured), Prediction::kUnchanged);
  EXPECT_EQ(PredictByTimestamp(kSame, kCaptured), Prediction::kChanged);
  EXPECT_EQ(PredictByTimestamp("Mon, 27 Jan 2014 20:06:24 GMT", kCaptured), Prediction::kChanged);
  EXPECT_EQ(PredictByTimestamp("", kCaptured), Prediction::kMissing);
  EXPECT_EQ(PredictByTimestamp("yesterday", kCaptured), Prediction::kMissing);
}

TEST(HeaderAnalysis, D3_EntityTagsAreComparedWeakly) {
  EXPECT_EQ(PredictByEtag("\"1\"", "\"1\""), Prediction::kUnchanged);
  EXPECT_EQ(PredictByEtag("W/\"1\"", "\"1\""), Prediction::kUnchanged);
  EXPECT_EQ(PredictByEtag("\"2\"", "\"1\""), Prediction::kChanged);
  EXPECT_EQ(PredictByEtag("", "\"1\""), Prediction::kMissing);
  EXPECT_EQ(PredictByEtag("\"1\"", ""), Prediction::kMissing);
}

TEST(HeaderAnalysis, D4_TheFourSchemes) {
  struct Case {
    std::string_view last_modified;
    std::string_view etag;
    bool timestamp, by_etag, both, either;
  };
  const Case cases[] = {
      {kBefore, "\"1\"", true, true, true, true}, {kBefore, "\"2\"", true, false, false, true},
      {kSame, "\"1\"", false, true, false, true}, {kSame, "\"2\"", false, false, false, false},
      {"", "\"1\"", false, true, false, true},    {kBefore, "", true, false, false, true},
      {"", "", false, false, false, false},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(std::string(one.last_modified) + " " + std::string(one.etag));
    const auto decide = [&](HeaderScheme scheme) {
      return MayBeLeftOut(scheme, {one.last_modified, one.etag}, kCaptured, "\"1\"");
    };
    EXPECT_EQ(decide(HeaderScheme::kTimestamp), one.timestamp);
    EXPECT_EQ(decide(HeaderScheme::kEtag), one.by_etag);
    EXPECT_EQ(decide(HeaderScheme::kTimestampAndEtag), one.both);
    EXPECT_EQ(decide(HeaderScheme::kTimestampOrEtag), one.either);
  }
}

TEST(HeaderAnalysis, D4_SchemesHaveNames) {
  for (const HeaderScheme scheme :
       {HeaderScheme::kTimestamp, HeaderScheme::kEtag, HeaderScheme::kTimestampAndEtag,
        HeaderScheme::kTimestampOrEtag}) {
    EXPECT_EQ(HeaderSchemeByName(HeaderSchemeName(scheme)), scheme);
  }
  EXPECT_EQ(HeaderSchemeByName("magic"), std::nullopt);
}

TEST(HeaderAnalysis, D3_EachDocumentIsInOneOfFiveCategories) {
  PredictionCounts counts;
  counts.Count(Prediction::kChanged, true);
  for (int i = 0; i < 2; ++i) counts.Count(Prediction::kChanged, false);
  for (int i = 0; i < 3; ++i) counts.Count(Prediction::kUnchanged, false);
  for (int i = 0; i < 4; ++i) counts.Count(Prediction::kUnchanged, true);
  for (int i = 0; i < 5; ++i) counts.Count(Prediction::kMissing, i % 2 == 0);
  EXPECT_EQ(counts, (PredictionCounts{.change_correct = 1,
                                      .change_false = 2,
                                      .no_change_correct = 3,
                                      .no_change_false = 4,
                                      .missing = 5}));
  EXPECT_EQ(counts.total(), 15u);
}

TEST(HeaderAnalysis, D3_SharesAreThoseOfThePaper) {
  const PredictionCounts may{.change_correct = 24081,
                             .change_false = 139213,
                             .no_change_correct = 4095377,
                             .no_change_false = 1247,
                             .missing = 170777};
  EXPECT_EQ(may.total(), 4430695u);
  EXPECT_NEAR(*may.Usefulness(), 0.9671, 0.00005);
  EXPECT_NEAR(*may.Reliability(), 0.9508, 0.00005);
  EXPECT_EQ(PredictionCounts().Usefulness(), std::nullopt);
}

}  // namespace
}  // namespace stele::dedup
