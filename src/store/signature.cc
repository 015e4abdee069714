#include "store/signature.h"

#include <algorithm>

#include "util/ascii.h"
#include "util/check.h"
#include "util/digest.h"
#include "util/rabin.h"

namespace stele::store {
namespace {

Signature FromNumber(std::uint64_t number) {
  char bytes[8];
  for (int i = 7; i >= 0; --i, number >>= 8) bytes[i] = static_cast<char>(number & 0xff);
  return Signature({bytes, sizeof bytes});
}

class RabinStream final : public SignatureStream {
 public:
  void Update(std::string_view bytes) override { hasher_.Update(bytes); }
  Signature Finish() override { return FromNumber(hasher_.value()); }

 private:
  RabinHasher hasher_;
};

class Sha256Stream final : public SignatureStream {
 public:
  void Update(std::string_view bytes) override { hasher_.Update(bytes); }
  Signature Finish() override { return Signature(hasher_.Finish().bytes()); }

 private:
  Hasher hasher_{DigestAlgorithm::kSha256};
};

}  // namespace

Signature::Signature(std::string_view bytes) : size_(static_cast<std::uint8_t>(bytes.size())) {
  Check(!bytes.empty() && bytes.size() <= kBytesMax);
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

std::optional<Signature> Signature::Parse(std::string_view hex) {
  if (hex.empty() || hex.size() % 2 != 0 || hex.size() > 2 * kBytesMax) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = IsAsciiLower(hex[i]) ? -1 : HexValue(hex[i]);
    const int low = IsAsciiLower(hex[i + 1]) ? -1 : HexValue(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return Signature(bytes);
}

std::string Signature::Hex() const {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string hex;
  hex.reserve(2 * std::size_t{size_});
  for (const char byte : bytes()) {
    hex += kDigits[static_cast<unsigned char>(byte) >> 4];
    hex += kDigits[static_cast<unsigned char>(byte) & 0xf];
  }
  return hex;
}

std::uint64_t Signature::Modulo(std::uint64_t divisor) const {
  Check(divisor > 0);
  std::uint64_t rest = 0;
  if (divisor <= UINT32_MAX) {
    for (const char byte : bytes()) {
      rest = (rest << 8 | static_cast<unsigned char>(byte)) % divisor;
    }
    return rest;
  }
  // Bit by bit, so that no intermediate value passes 64 bits for any divisor.
  for (const char byte : bytes()) {
    for (int bit = 7; bit >= 0; --bit) {
      const bool carry = rest >> 63 != 0;
      rest = rest << 1 | (static_cast<unsigned char>(byte) >> bit & 1u);
      // A carried value is below 2 * divisor, so one subtraction brings it back.
      if (carry || rest >= divisor) rest -= divisor;
    }
  }
  return rest;
}

std::unique_ptr<SignatureStream> RabinSignatures::NewStream() const {
  return std::make_unique<RabinStream>();
}

Signature RabinSignatures::Of(std::string_view content) const {
  return FromNumber(RabinFingerprint(content));
}

std::unique_ptr<SignatureStream> Sha256Signatures::NewStream() const {
  return std::make_unique<Sha256Stream>();
}

Signature Sha256Signatures::Of(std::string_view content) const {
  return Signature(DigestOf(DigestAlgorithm::kSha256, content).bytes());
}

std::unique_ptr<const SignatureFunction> SignatureFunctionByName(std::string_view name) {
  if (name == "rabin64") return std::make_unique<RabinSignatures>();
  if (name == "sha256") return std::make_unique<Sha256Signatures>();
  return nullptr;
}

}  // namespace stele::store
