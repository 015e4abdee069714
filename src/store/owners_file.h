#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/owned_volume.h"
#include "util/result.h"

namespace stele::store {

// An application that may use the volumes of a server.
struct OwnerRule {
  std::string owner;
  std::string token_sha256;  // 32 bytes
  Quota quota;

  friend bool operator==(const OwnerRule&, const OwnerRule&) = default;
};

inline constexpr std::size_t kTokenLengthMin = 16;

// Reads an owners file, one owner to a line; docs/store-network.md shows it:
//
//   # crawler of the university
//   crawler sha256:9F86…  bytes=1000000000000 references=50000000
//   notes   token:correct-horse-battery
//
// Errors: kInvalid, naming the line, for anything else, for a token of less than kTokenLengthMin
// characters, and for an owner or a token that stands there twice.
Result<std::vector<OwnerRule>> ParseOwners(std::string_view text);

// What ParseOwners() reads as the same rules.
std::string FormatOwners(const std::vector<OwnerRule>& rules);

}  // namespace stele::store
