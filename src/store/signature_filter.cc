#include "store/signature_filter.h"

#include <algorithm>

#include "util/rabin.h"

// Seven probes, the i-th at a + i * b modulo the number of bits, where a and b are two hashes of
// the signature: at ten bits for each signature less than one in a hundred others is found.
namespace stele::store {
namespace {

constexpr std::string_view kMagic = "STELEBF1";
constexpr std::size_t kSumSize = 8;
constexpr std::uint64_t kBitsPerSignature = 10;
constexpr int kProbes = 7;

std::uint64_t Mixed(std::uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
  return x ^ x >> 33;
}

std::string SumOf(std::string_view bytes) {
  std::uint64_t sum = RabinFingerprint(bytes);
  std::string text;
  for (std::size_t i = 0; i < kSumSize; ++i, sum >>= 8) text += static_cast<char>(sum & 0xff);
  return text;
}

// Visits the probes as byte and mask, until `visit` says false.
template <typename Visit>
void Probe(const Signature& signature, std::uint64_t bits, const Visit& visit) {
  const std::uint64_t a = Mixed(RabinFingerprint(signature.bytes()));
  const std::uint64_t b = Mixed(a ^ 0x9e3779b97f4a7c15ull) | 1;
  for (std::uint64_t i = 0; i < kProbes; ++i) {
    const std::uint64_t bit = (a + i * b) % bits;
    if (!visit(static_cast<std::size_t>(bit / 8), static_cast<unsigned char>(1u << (bit % 8)))) {
      return;
    }
  }
}

}  // namespace

SignatureFilter::SignatureFilter(std::uint64_t count)
    : bits_(static_cast<std::size_t>(
                std::min(std::min(count, kBytesMax) * kBitsPerSignature / 8 + 8, kBytesMax)),
            '\0') {}

void SignatureFilter::Add(const Signature& signature) {
  if (bits_.empty()) return;
  Probe(signature, bits_.size() * 8, [&](std::size_t byte, unsigned char mask) {
    bits_[byte] = static_cast<char>(static_cast<unsigned char>(bits_[byte]) | mask);
    return true;
  });
}

bool SignatureFilter::MayContain(const Signature& signature) const {
  bool found = true;
  if (bits_.empty()) return found;
  Probe(signature, bits_.size() * 8, [&](std::size_t byte, unsigned char mask) {
    return found = (static_cast<unsigned char>(bits_[byte]) & mask) != 0;
  });
  return found;
}

Result<SignatureFilter> SignatureFilter::Parse(std::string_view bytes) {
  const Error error{ErrorCode::kCorrupt, "this is no filter of signatures"};
  if (bytes.size() < kMagic.size() + kSumSize || !bytes.starts_with(kMagic)) return error;
  const std::string_view body = bytes.substr(0, bytes.size() - kSumSize);
  if (bytes.substr(body.size()) != SumOf(body)) return error;
  if (body.size() - kMagic.size() > kBytesMax) return error;
  SignatureFilter filter;
  filter.bits_ = body.substr(kMagic.size());
  return filter;
}

std::string SignatureFilter::Bytes() const {
  std::string bytes(kMagic);
  bytes += bits_;
  return bytes + SumOf(bytes);
}

}  // namespace stele::store
