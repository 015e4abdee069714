#include "access/password.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "util/ascii.h"
#include "util/base_encoding.h"
#include "util/check.h"
#include "util/secret.h"

namespace stele::access {
namespace {

constexpr std::size_t kSaltSize = 16;
constexpr std::size_t kKeySize = 32;
constexpr std::uint64_t kMemoryMax = std::uint64_t{64} << 20;
constexpr std::uint64_t kBlockSize = 128;

std::uint64_t MemoryOf(const PasswordHash& hash) {
  return (kBlockSize << hash.cost) * static_cast<std::uint64_t>(hash.blocks);
}

std::string Derive(const PasswordHash& how, std::string_view password) {
  std::array<unsigned char, kKeySize> key;
  const int made = EVP_PBE_scrypt(
      password.data(), password.size(), reinterpret_cast<const unsigned char*>(how.salt.data()),
      how.salt.size(), std::uint64_t{1} << how.cost, static_cast<std::uint64_t>(how.blocks),
      static_cast<std::uint64_t>(how.lanes), 2 * kMemoryMax, key.data(), key.size());
  Check(made == 1);
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

}  // namespace

std::string RandomBytes(io::Random& random, std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) {
    for (std::uint64_t word = random.Next(), i = 0; i < 8 && bytes.size() < size; ++i) {
      bytes += static_cast<char>(word >> (8 * i) & 0xFF);
    }
  }
  return bytes;
}

PasswordHash PasswordHash::Of(std::string_view password, io::Random& random) {
  Check(password.size() <= kPasswordLengthMax);
  PasswordHash hash;
  hash.salt = RandomBytes(random, kSaltSize);
  hash.key = Derive(hash, password);
  return hash;
}

bool PasswordHash::Fits(std::string_view password) const {
  return SameSecret(Derive(*this, password.substr(0, kPasswordLengthMax + 1)), key);
}

std::string PasswordHash::ToText() const {
  return fmt::format("{}:{}:{}:{}:{}", cost, blocks, lanes, HexEncode(salt), HexEncode(key));
}

Result<PasswordHash> PasswordHash::FromText(std::string_view text) {
  const Error wrong{ErrorCode::kInvalid, "this is no hash of a password"};
  const std::vector<std::string_view> parts = Split(text, ':');
  if (parts.size() != 5) return wrong;
  PasswordHash hash;
  for (const auto& [part, number, max] :
       {std::tuple(parts[0], &hash.cost, 20), std::tuple(parts[1], &hash.blocks, 64),
        std::tuple(parts[2], &hash.lanes, 8)}) {
    const std::optional<std::uint64_t> value = ParseDecimal(part);
    if (!value || *value == 0 || *value > static_cast<std::uint64_t>(max)) return wrong;
    *number = static_cast<int>(*value);
  }
  if (MemoryOf(hash) > kMemoryMax) return wrong;
  const std::optional<std::string> salt = HexDecode(parts[3]);
  const std::optional<std::string> key = HexDecode(parts[4]);
  if (!salt || salt->empty() || !key || key->size() != kKeySize) return wrong;
  hash.salt = *salt;
  hash.key = *key;
  return hash;
}

}  // namespace stele::access
