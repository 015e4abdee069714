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

TEST(Amount, BytesAreReadWithUnits) {
  EXPECT_EQ(ParseByteCount("1500"), 1500U);
  EXPECT_EQ(ParseByteCount("20kB"), 20'000U);
  EXPECT_EQ(ParseByteCount("1.5 GB"), 1'500'000'000U);
  EXPECT_EQ(ParseByteCount("2MiB"), 2U << 20);
  EXPECT_EQ(ParseByteCount("3m"), 3'000'000U);
  for (const char* wrong : {"", "x", "-1", "1 XB", "kB", "1kmB"}) {
    EXPECT_EQ(ParseByteCount(wrong), std::nullopt) << wrong;
  }
}

TEST(Amount, TimesAreReadAndWritten) {
  EXPECT_EQ(ParseDuration("2.5"), std::chrono::milliseconds(2500));
  EXPECT_EQ(ParseDuration("10m"), std::chrono::milliseconds(600'000));
  EXPECT_EQ(ParseDuration("7d"), std::chrono::milliseconds(604'800'000));
  EXPECT_EQ(ParseDuration("soon"), std::nullopt);
  EXPECT_EQ(DurationText(std::chrono::milliseconds(250'000)), "4m10s");
  EXPECT_EQ(DurationText(std::chrono::milliseconds(300)), "0.3s");
  EXPECT_EQ(DurationText(std::chrono::milliseconds(12'345)), "12s");
  EXPECT_EQ(DurationText(std::chrono::milliseconds(7'500'000)), "2h05m");
}

}  // namespace
}  // namespace stele::cli
