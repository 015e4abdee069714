#include "cli/amount.h"

#include <gtest/gtest.h>

#include <limits>

namespace stele::cli {
namespace {

TEST(Amount, BytesHaveTwoOrThreeDigits) {
  EXPECT_EQ(ByteCount(0), "0 B");
  EXPECT_EQ(ByteCount(999), "999 B");
  EXPECT_EQ(ByteCount(1000), "1.0 kB");
  EXPECT_EQ(ByteCount(9949), "9.9 kB");
  EXPECT_EQ(ByteCount(9950), "10 kB");
  EXPECT_EQ(ByteCount(999'499), "999 kB");
  EXPECT_EQ(ByteCount(999'500), "1.0 MB");
  EXPECT_EQ(ByteCount(38'000'000), "38 MB");
  EXPECT_EQ(ByteCount(std::numeric_limits<std::uint64_t>::max()), "18 EB");
}

TEST(Amount, OneIsSingular) {
  EXPECT_EQ(Count(0, "file"), "0 files");
  EXPECT_EQ(Count(1, "file"), "1 file");
  EXPECT_EQ(Count(2, "file"), "2 files");
}

}  // namespace
}  // namespace stele::cli
