// Two ways to one value. By table: eight bits are shifted in, and what falls out at the top is
// replaced by its remainder. By carry-less multiplication: 64 bytes are folded at a time, since
// A*x^512 + B has the same remainder as A*(x^512 mod P) + B and the product stays short. The last
// 16 bytes of a fold go through the table.
#include "util/rabin.h"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stele {
namespace {

// r(x) * x mod P.
constexpr std::uint64_t TimesX(std::uint64_t r) {
  return (r << 1) ^ ((r >> 63) != 0 ? kRabinPolynomial : 0);
}

// x^exponent mod P.
constexpr std::uint64_t PowerOfX(int exponent) {
  std::uint64_t r = 1;
  for (int i = 0; i < exponent; ++i) r = TimesX(r);
  return r;
}

// Entry b is b(x) * x^64 mod P.
constexpr std::array<std::uint64_t, 256> MakeTable() {
  std::array<std::uint64_t, 256> table = {};
  for (std::uint64_t b = 0; b < 256; ++b) {
    std::uint64_t r = b << 56;
    for (int i = 0; i < 8; ++i) r = TimesX(r);
    table[b] = r;
  }
  return table;
}

constexpr std::array<std::uint64_t, 256> kTable = MakeTable();

std::uint64_t ByTable(std::uint64_t state, const char* data, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    state = (state << 8 | static_cast<std::uint8_t>(data[i])) ^ kTable[state >> 56];
  }
  return state;
}

#if defined(__x86_64__)
#define STELE_CLMUL __attribute__((target("pclmul,ssse3,sse4.1")))

// Multiplies the upper half of `lane` by x^(distance+64) and the lower by x^distance, both mod P.
template <int kDistance>
STELE_CLMUL __m128i Fold(__m128i lane, __m128i next) {
  constexpr std::uint64_t kHigh = PowerOfX(kDistance + 64);
  constexpr std::uint64_t kLow = PowerOfX(kDistance);
  const __m128i factors =
      _mm_set_epi64x(static_cast<long long>(kHigh), static_cast<long long>(kLow));
  const __m128i high = _mm_clmulepi64_si128(lane, factors, 0x11);
  const __m128i low = _mm_clmulepi64_si128(lane, factors, 0x00);
  return _mm_xor_si128(_mm_xor_si128(high, low), next);
}

STELE_CLMUL __m128i LoadBigEndian(const char* data) {
  const __m128i reverse = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data)), reverse);
}

// Requires: size is a multiple of 64 and not 0.
STELE_CLMUL std::uint64_t ByFolding(std::uint64_t state, const char* data, std::size_t size) {
  const __m128i carried = _mm_set_epi64x(0, static_cast<long long>(state));
  __m128i a = Fold<128>(carried, LoadBigEndian(data));
  __m128i b = LoadBigEndian(data + 16);
  __m128i c = LoadBigEndian(data + 32);
  __m128i d = LoadBigEndian(data + 48);
  for (std::size_t at = 64; at < size; at += 64) {
    a = Fold<512>(a, LoadBigEndian(data + at));
    b = Fold<512>(b, LoadBigEndian(data + at + 16));
    c = Fold<512>(c, LoadBigEndian(data + at + 32));
    d = Fold<512>(d, LoadBigEndian(data + at + 48));
  }
  const __m128i all = Fold<128>(Fold<128>(Fold<128>(a, b), c), d);
  std::array<char, 16> rest;
  const auto high = static_cast<std::uint64_t>(_mm_extract_epi64(all, 1));
  const auto low = static_cast<std::uint64_t>(_mm_extract_epi64(all, 0));
  for (int i = 0; i < 8; ++i) {
    rest[static_cast<std::size_t>(i)] = static_cast<char>(high >> (56 - 8 * i));
    rest[static_cast<std::size_t>(i + 8)] = static_cast<char>(low >> (56 - 8 * i));
  }
  return ByTable(0, rest.data(), rest.size());
}

bool HasCarrylessMultiply() {
  return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}
#undef STELE_CLMUL
#else
std::uint64_t ByFolding(std::uint64_t state, const char* data, std::size_t size) {
  return ByTable(state, data, size);
}
bool HasCarrylessMultiply() { return false; }
#endif

}  // namespace

void RabinHasher::Update(std::string_view bytes) {
  const std::size_t folded = HasCarrylessMultiply() ? bytes.size() / 64 * 64 : 0;
  if (folded > 0) state_ = ByFolding(state_, bytes.data(), folded);
  state_ = ByTable(state_, bytes.data() + folded, bytes.size() - folded);
}

std::uint64_t RabinFingerprint(std::string_view bytes) {
  RabinHasher hasher;
  hasher.Update(bytes);
  return hasher.value();
}

}  // namespace stele
