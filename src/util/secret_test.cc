#include "util/secret.h"

#include <gtest/gtest.h>

#include "util/base_encoding.h"

namespace stele {
namespace {

TEST(Secret, EqualOnesAreTheSame) {
  EXPECT_TRUE(SameSecret("", ""));
  EXPECT_TRUE(SameSecret("open sesame", "open sesame"));
  EXPECT_FALSE(SameSecret("open sesame", "open sesamf"));
  EXPECT_FALSE(SameSecret("open sesame", "Open sesame"));
  EXPECT_FALSE(SameSecret("open", "open sesame"));
  EXPECT_FALSE(SameSecret("", "x"));
}

// RFC 4231, test cases 1, 2 and 6.
TEST(Secret, KeyedDigestsAreThoseOfTheStandard) {
  EXPECT_EQ(HexEncode(KeyedDigest(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(HexEncode(KeyedDigest("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(HexEncode(KeyedDigest(std::string(131, '\xaa'),
                                  "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace stele
