#include "util/base_encoding.h"

#include <gtest/gtest.h>

namespace stele {
namespace {

TEST(BaseEncoding, MatchesTheExamplesOfRfc4648) {
  EXPECT_EQ(HexEncode("foobar"), "666f6f626172");
  EXPECT_EQ(Base32Encode("foobar"), "MZXW6YTBOI");
  EXPECT_EQ(Base32Encode("f"), "MY");
  EXPECT_EQ(Base64Encode("fooba"), "Zm9vYmE=");
  EXPECT_EQ(Base64Encode("foob"), "Zm9vYg==");
}

TEST(BaseEncoding, EveryLengthRoundTrips) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(HexDecode(HexEncode(bytes)), bytes);
    EXPECT_EQ(Base32Decode(Base32Encode(bytes)), bytes);
    EXPECT_EQ(Base64Decode(Base64Encode(bytes)), bytes);
    bytes += static_cast<char>(i * 37);
  }
}

TEST(BaseEncoding, DecodingIsLenientInCaseAndPaddingOnly) {
  EXPECT_EQ(Base32Decode("mzxw6ytboi======"), "foobar");
  EXPECT_EQ(HexDecode("666F6F"), "foo");
  EXPECT_EQ(HexDecode("666"), std::nullopt);
  EXPECT_EQ(Base32Decode("MZX1"), std::nullopt);
  EXPECT_EQ(Base64Decode("Zm9v YmE="), std::nullopt);
}

}  // namespace
}  // namespace stele
