#include "store/signature_filter.h"

#include <gtest/gtest.h>

namespace stele::store {
namespace {

TEST(SignatureFilter, W11_FindsWhatWasAddedAndLittleElse) {
  for (const int count : {1, 10, 5000}) {
    SignatureFilter filter(static_cast<std::uint64_t>(count));
    for (int i = 0; i < count; ++i) filter.Add(RabinSignatures().Of(std::to_string(i)));
    const auto again = SignatureFilter::Parse(filter.Bytes());
    ASSERT_TRUE(again);
    int wrong = 0;
    for (int i = 0; i < 10'000; ++i) {
      const Signature signature = RabinSignatures().Of(std::to_string(i));
      const bool found = again->MayContain(signature);
      EXPECT_EQ(found, filter.MayContain(signature));
      EXPECT_TRUE(found || i >= count);
      if (i >= count && found) ++wrong;
    }
    EXPECT_LT(wrong, 200) << count;
  }
}

TEST(SignatureFilter, W11_WithoutACountEverythingIsFound) {
  SignatureFilter everything;
  everything.Add(RabinSignatures().Of("a"));
  EXPECT_TRUE(everything.MayContain(RabinSignatures().Of("b")));
  EXPECT_TRUE(SignatureFilter::Parse(everything.Bytes())->MayContain(RabinSignatures().Of("c")));
  EXPECT_FALSE(SignatureFilter(0).MayContain(RabinSignatures().Of("b")));
}

TEST(SignatureFilter, W11_AnyFlippedBitIsNoticed) {
  SignatureFilter filter(20);
  filter.Add(RabinSignatures().Of("a"));
  const std::string bytes = filter.Bytes();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(SignatureFilter::Parse(flipped)) << bit;
  }
  EXPECT_FALSE(SignatureFilter::Parse(""));
  EXPECT_FALSE(SignatureFilter::Parse(bytes.substr(0, 10)));
}

}  // namespace
}  // namespace stele::store
