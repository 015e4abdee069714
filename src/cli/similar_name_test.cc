#include "cli/similar_name.h"

#include <gtest/gtest.h>

namespace stele::cli {
namespace {

const std::vector<std::string_view> kNames = {"export", "import", "report", "ls", "rm", "--format"};

TEST(SimilarName, KnowsSwappedMissingWrongAndAddedCharacters) {
  EXPECT_EQ(SimilarName("exprot", kNames), "export");
  EXPECT_EQ(SimilarName("imprt", kNames), "import");
  EXPECT_EQ(SimilarName("repirt", kNames), "report");
  EXPECT_EQ(SimilarName("exxport", kNames), "export");
  EXPECT_EQ(SimilarName("--fromat", kNames), "--format");
}

TEST(SimilarName, TheNearestWins) {
  EXPECT_EQ(SimilarName("eport", kNames), "export");
  EXPECT_EQ(SimilarName("rport", kNames), "report");
}

TEST(SimilarName, GuessesNothingFarFetched) {
  EXPECT_EQ(SimilarName("search", kNames), std::nullopt);
  EXPECT_EQ(SimilarName("la", kNames), std::nullopt);  // half of it is another word
  EXPECT_EQ(SimilarName("", kNames), std::nullopt);
  EXPECT_EQ(SimilarName(std::string(100000, 'x'), kNames), std::nullopt);
}

}  // namespace
}  // namespace stele::cli
