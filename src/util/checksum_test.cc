#include "util/checksum.h"

#include <gtest/gtest.h>

namespace stele {
namespace {

TEST(Checksum, IsXxh3) {
  // The values that `xxhsum -H3` prints.
  EXPECT_EQ(ChecksumOf(""), 0x2d06800538d394c2u);
  EXPECT_EQ(ChecksumOf("abc"), 0x78af5f94892f3950u);
}

TEST(Checksum, DependsOnTheSeed) { EXPECT_NE(ChecksumOf("abc", 1), ChecksumOf("abc", 2)); }

}  // namespace
}  // namespace stele
