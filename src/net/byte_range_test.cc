#include "net/byte_range.h"

#include <gtest/gtest.h>

namespace stele::net {
namespace {

TEST(ByteRanges, W8_OneRangeIsRead) {
  ByteRange range;
  EXPECT_EQ(ParseRange("bytes=0-3", 10, range), RangeOutcome::kPart);
  EXPECT_EQ(range, (ByteRange{0, 4}));
  EXPECT_EQ(ParseRange("bytes=4-", 10, range), RangeOutcome::kPart);
  EXPECT_EQ(range, (ByteRange{4, 10}));
  EXPECT_EQ(ParseRange("bytes=-3", 10, range), RangeOutcome::kPart);
  EXPECT_EQ(range, (ByteRange{7, 10}));
  EXPECT_EQ(ParseRange("bytes=-30", 10, range), RangeOutcome::kPart);
  EXPECT_EQ(range, (ByteRange{0, 10}));
  EXPECT_EQ(ParseRange("bytes=8-99", 10, range), RangeOutcome::kPart);
  EXPECT_EQ(range, (ByteRange{8, 10}));
  EXPECT_EQ(ParseRange("bytes=10-", 10, range), RangeOutcome::kUnsatisfiable);
  EXPECT_EQ(ParseRange("bytes=0-1,3-4", 10, range), RangeOutcome::kNone);
  EXPECT_EQ(ParseRange("lines=0-1", 10, range), RangeOutcome::kNone);
  EXPECT_EQ(ParseRange("bytes=5-4", 10, range), RangeOutcome::kNone);
  EXPECT_EQ(ParseRange("", 10, range), RangeOutcome::kNone);
}

}  // namespace
}  // namespace stele::net
