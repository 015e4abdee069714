#pragma once

#include <cstdint>
#include <string_view>

// 64-bit Rabin fingerprints: the bytes, with a 1 bit before them, are the coefficients of a
// polynomial over GF(2), highest first; the fingerprint is its remainder modulo kRabinPolynomial.
//
// Fast and evenly spread, but linear: whoever wants two contents with one fingerprint can make
// them. Where that matters, compare bytes or use a cryptographic digest.
namespace stele {

// The irreducible polynomial of degree 64, without its leading x^64.
inline constexpr std::uint64_t kRabinPolynomial = 0x6496536be5056901;

class RabinHasher {
 public:
  void Update(std::string_view bytes);
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 1;
};

std::uint64_t RabinFingerprint(std::string_view bytes);

}  // namespace stele
