#include "util/rabin.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace stele {
namespace {

// Polynomials over GF(2) modulo x^64 + kRabinPolynomial, one bit at a time.
std::uint64_t TimesX(std::uint64_t r) { return (r << 1) ^ ((r >> 63) != 0 ? kRabinPolynomial : 0); }

std::uint64_t Multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  for (; b != 0; b >>= 1, a = TimesX(a)) {
    if ((b & 1) != 0) product ^= a;
  }
  return product;
}

// The definition, bit by bit: the slow twin.
std::uint64_t SlowFingerprint(std::string_view bytes) {
  std::uint64_t r = 1;
  for (const char byte : bytes) {
    for (int bit = 7; bit >= 0; --bit) r = TimesX(r) ^ (static_cast<unsigned>(byte) >> bit & 1);
  }
  return r;
}

// Rabin's test for degree 64 = 2^6: x^(2^64) = x, and x^(2^32) - x has no factor in common with P.
TEST(Rabin, W12_ThePolynomialIsIrreducible) {
  std::uint64_t power = 2;
  std::uint64_t half = 0;
  for (int i = 1; i <= 64; ++i) {
    power = Multiply(power, power);
    if (i == 32) half = power ^ 2;
  }
  EXPECT_EQ(power, 2u);
  // Euclid; the first step divides P, which has one bit more than fits.
  ASSERT_NE(half, 0u);
  const int shift = std::countl_zero(half) + 1;
  std::uint64_t a = shift == 64 ? kRabinPolynomial : kRabinPolynomial ^ (half << shift);
  std::uint64_t b = half;
  while (b != 0) {
    while (a != 0 && std::countl_zero(a) <= std::countl_zero(b)) {
      a ^= b << (std::countl_zero(b) - std::countl_zero(a));
    }
    std::swap(a, b);
  }
  EXPECT_EQ(a, 1u);
}

TEST(Rabin, W12_EqualsTheDefinitionForEveryLengthAndCut) {
  std::mt19937_64 dice(7);
  std::string bytes;
  for (std::size_t size = 0; size < 400; ++size) {
    EXPECT_EQ(RabinFingerprint(bytes), SlowFingerprint(bytes)) << size;
    RabinHasher in_two;
    const std::size_t cut = size == 0 ? 0 : dice() % size;
    in_two.Update(std::string_view(bytes).substr(0, cut));
    in_two.Update(std::string_view(bytes).substr(cut));
    EXPECT_EQ(in_two.value(), RabinFingerprint(bytes)) << size << " cut at " << cut;
    bytes += static_cast<char>(dice());
  }
}

TEST(Rabin, W12_LeadingZeroBytesCount) {
  EXPECT_NE(RabinFingerprint(std::string_view("\0", 1)), RabinFingerprint(""));
  EXPECT_NE(RabinFingerprint(std::string_view("\0a", 2)), RabinFingerprint("a"));
}

}  // namespace
}  // namespace stele
