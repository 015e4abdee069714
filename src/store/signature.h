#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

// What contents are found by: a number of fixed length, computed from their bytes.
namespace stele::store {

// 1 to 64 bytes, the most significant first. A value.
class Signature {
 public:
  static constexpr std::size_t kBytesMax = 64;

  // Requires: 1 <= bytes.size() <= kBytesMax.
  explicit Signature(std::string_view bytes);

  // Reads what Hex() writes and nothing else: upper case, an even number of digits.
  static std::optional<Signature> Parse(std::string_view hex);

  std::string_view bytes() const { return {bytes_.data(), size_}; }
  std::string Hex() const;  // "ADEE2232AF3A4355"

  // The signature as a number, modulo `divisor`. Requires: divisor > 0.
  std::uint64_t Modulo(std::uint64_t divisor) const;

  friend bool operator==(const Signature& a, const Signature& b) { return a.bytes() == b.bytes(); }
  friend auto operator<=>(const Signature& a, const Signature& b) {
    return a.bytes() <=> b.bytes();
  }

 private:
  std::array<char, kBytesMax> bytes_ = {};
  std::uint8_t size_;
};

// Signs a content that comes in pieces. Not thread-safe.
class SignatureStream {
 public:
  virtual ~SignatureStream() = default;
  virtual void Update(std::string_view bytes) = 0;
  // Call once, last.
  virtual Signature Finish() = 0;
};

// Immutable; any thread may use it.
class SignatureFunction {
 public:
  virtual ~SignatureFunction() = default;
  virtual std::string_view name() const = 0;
  virtual std::size_t size() const = 0;  // of its signatures, in bytes
  virtual std::unique_ptr<SignatureStream> NewStream() const = 0;
  virtual Signature Of(std::string_view content) const = 0;
};

// 64-bit Rabin fingerprints, as in the Webstore paper. Linear: contents of one signature can be
// made on purpose, so whoever stores contents of strangers compares bytes (StoreMode::kCompare).
class RabinSignatures final : public SignatureFunction {
 public:
  std::string_view name() const override { return "rabin64"; }
  std::size_t size() const override { return 8; }
  std::unique_ptr<SignatureStream> NewStream() const override;
  Signature Of(std::string_view content) const override;
};

class Sha256Signatures final : public SignatureFunction {
 public:
  std::string_view name() const override { return "sha256"; }
  std::size_t size() const override { return 32; }
  std::unique_ptr<SignatureStream> NewStream() const override;
  Signature Of(std::string_view content) const override;
};

// "rabin64" or "sha256"; null for other names.
std::unique_ptr<const SignatureFunction> SignatureFunctionByName(std::string_view name);

}  // namespace stele::store
