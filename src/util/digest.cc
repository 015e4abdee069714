#include "util/digest.h"

#include <openssl/evp.h>

#include <cstring>

#include "util/ascii.h"
#include "util/base_encoding.h"
#include "util/check.h"

namespace stele {
namespace {

struct Algorithm {
  std::string_view name;
  std::size_t size;
};

constexpr std::array<Algorithm, 4> kAlgorithms = {Algorithm{"md5", 16}, Algorithm{"sha1", 20},
                                                  Algorithm{"sha256", 32}, Algorithm{"sha512", 64}};

const Algorithm& Of(DigestAlgorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}

std::size_t DigitsFor(std::size_t bytes, std::size_t bits_per_digit) {
  return (bytes * 8 + bits_per_digit - 1) / bits_per_digit;
}

}  // namespace

std::string_view DigestName(DigestAlgorithm algorithm) { return Of(algorithm).name; }
std::size_t DigestSize(DigestAlgorithm algorithm) { return Of(algorithm).size; }

std::optional<DigestAlgorithm> DigestAlgorithmByName(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '-') plain += ToAsciiLower(c);
  }
  for (std::size_t i = 0; i < kAlgorithms.size(); ++i) {
    if (kAlgorithms[i].name == plain) return static_cast<DigestAlgorithm>(i);
  }
  return std::nullopt;
}

Digest::Digest(DigestAlgorithm algorithm, std::string_view bytes) : algorithm_(algorithm) {
  Check(bytes.size() == DigestSize(algorithm));
  std::memcpy(bytes_.data(), bytes.data(), bytes.size());
}

std::optional<Digest> Digest::Parse(std::string_view labelled) {
  labelled = TrimSpace(labelled);
  const std::size_t colon = labelled.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<DigestAlgorithm> algorithm = DigestAlgorithmByName(labelled.substr(0, colon));
  if (!algorithm) return std::nullopt;
  std::string_view text = labelled.substr(colon + 1);
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  const std::size_t size = DigestSize(*algorithm);
  std::optional<std::string> bytes;
  if (text.size() == DigitsFor(size, 4)) {
    bytes = HexDecode(text);
  } else if (text.size() == DigitsFor(size, 5)) {
    bytes = Base32Decode(text);
  } else if (text.size() == DigitsFor(size, 6)) {
    bytes = Base64Decode(text);
  }
  if (!bytes || bytes->size() != size) return std::nullopt;
  return Digest(*algorithm, *bytes);
}

std::string Digest::Text() const {
  return algorithm_ == DigestAlgorithm::kSha1 ? Base32Encode(bytes()) : HexEncode(bytes());
}

std::string Digest::Labelled() const {
  std::string labelled(DigestName(algorithm_));
  labelled += ':';
  labelled += Text();
  return labelled;
}

namespace {

// Fetched once: looking a method up costs as much as hashing a kilobyte.
const EVP_MD* MethodOf(DigestAlgorithm algorithm) {
  static const auto kMethods = [] {
    std::array<const EVP_MD*, kAlgorithms.size()> methods;
    for (std::size_t i = 0; i < methods.size(); ++i) {
      methods[i] = EVP_MD_fetch(nullptr, std::string(kAlgorithms[i].name).c_str(), nullptr);
    }
    return methods;
  }();
  return kMethods[static_cast<std::size_t>(algorithm)];
}

}  // namespace

struct Hasher::State {
  DigestAlgorithm algorithm;
  const EVP_MD* method;
  EVP_MD_CTX* context;
};

Hasher::Hasher(DigestAlgorithm algorithm)
    : state_(new State{algorithm, MethodOf(algorithm), EVP_MD_CTX_new()}) {
  Check(state_->method != nullptr && state_->context != nullptr);
  Check(EVP_DigestInit_ex2(state_->context, state_->method, nullptr) == 1);
}

Hasher::~Hasher() {
  if (state_ == nullptr) return;
  EVP_MD_CTX_free(state_->context);
}

Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

void Hasher::Update(std::string_view bytes) {
  Check(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

Digest Hasher::Finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> value;
  unsigned int size = 0;
  Check(EVP_DigestFinal_ex(state_->context, value.data(), &size) == 1);
  Check(EVP_DigestInit_ex2(state_->context, nullptr, nullptr) == 1);
  return Digest(state_->algorithm, {reinterpret_cast<const char*>(value.data()), size});
}

Digest DigestOf(DigestAlgorithm algorithm, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> value;
  unsigned int size = 0;
  Check(EVP_Digest(bytes.data(), bytes.size(), value.data(), &size, MethodOf(algorithm), nullptr) ==
        1);
  return Digest(algorithm, {reinterpret_cast<const char*>(value.data()), size});
}

}  // namespace stele
