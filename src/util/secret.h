#pragma once

#include <string>
#include <string_view>

// Comparing and hashing what nobody should guess.
namespace stele {

// Takes as long wherever the first difference is. Lengths are no secret.
bool SameSecret(std::string_view a, std::string_view b);

// HMAC with SHA-256 (RFC 2104), 32 bytes: only who has the key can make it.
std::string KeyedDigest(std::string_view key, std::string_view text);

}  // namespace stele
