#pragma once

#include <string>
#include <string_view>

#include "io/random.h"
#include "util/result.h"

namespace stele::access {

// What is kept of a password: scrypt (RFC 7914) with a salt of its own, which is slow on purpose,
// so that who reads the file still has to guess.
struct PasswordHash {
  int cost = 14;   // as a power of two
  int blocks = 8;  // of 128 bytes; 2^cost of them all must be kept in memory
  int lanes = 1;
  std::string salt;
  std::string key;

  // With a new salt. Requires: the password has at most kPasswordLengthMax bytes.
  static PasswordHash Of(std::string_view password, io::Random& random);
  // Takes as long whether it is right or not: some hundredths of a second.
  bool Fits(std::string_view password) const;

  // "14:8:1:SALT:KEY", the last two in hexadecimal digits.
  std::string ToText() const;
  // Errors: kInvalid, also for costs that would take minutes or gigabytes.
  static Result<PasswordHash> FromText(std::string_view text);

  friend bool operator==(const PasswordHash&, const PasswordHash&) = default;
};

inline constexpr std::size_t kPasswordLengthMin = 8;
inline constexpr std::size_t kPasswordLengthMax = 1024;

// So many bytes that nobody can guess.
std::string RandomBytes(io::Random& random, std::size_t size);

}  // namespace stele::access
