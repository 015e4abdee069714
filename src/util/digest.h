#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace stele {

enum class DigestAlgorithm : std::uint8_t { kMd5, kSha1, kSha256, kSha512 };

std::string_view DigestName(DigestAlgorithm algorithm);  // "md5", "sha1", "sha256", "sha512"
std::size_t DigestSize(DigestAlgorithm algorithm);       // in bytes

// Accepts the spellings of the field in any case: "sha1", "SHA-1", "sha-256" ...
std::optional<DigestAlgorithm> DigestAlgorithmByName(std::string_view name);

// The value of a cryptographic digest, with its algorithm.
class Digest {
 public:
  // Requires: bytes.size() == DigestSize(algorithm).
  Digest(DigestAlgorithm algorithm, std::string_view bytes);

  // Reads "sha1:BASE32" and what else archives contain: hexadecimal, base32 or base64, in any
  // case, padded or not, told apart by length. Nothing where algorithm or length is unknown.
  static std::optional<Digest> Parse(std::string_view labelled);

  DigestAlgorithm algorithm() const { return algorithm_; }
  std::string_view bytes() const { return {bytes_.data(), DigestSize(algorithm_)}; }

  // As the field writes it: base32 for sha1, hexadecimal for the others.
  std::string Text() const;
  // With its label: "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ".
  std::string Labelled() const;

  friend bool operator==(const Digest& a, const Digest& b) {
    return a.algorithm_ == b.algorithm_ && a.bytes() == b.bytes();
  }

 private:
  DigestAlgorithm algorithm_;
  std::array<char, 64> bytes_ = {};
};

// Computes a digest over bytes that come in pieces. Not thread-safe. Can be used again after
// Finish() without a new allocation.
class Hasher {
 public:
  explicit Hasher(DigestAlgorithm algorithm);
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void Update(std::string_view bytes);
  // Returns the digest of everything since construction or the last Finish(), and starts anew.
  Digest Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest DigestOf(DigestAlgorithm algorithm, std::string_view bytes);

}  // namespace stele
