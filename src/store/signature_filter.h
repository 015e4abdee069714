#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/signature.h"
#include "util/result.h"

namespace stele::store {

// A Bloom filter of signatures: what was added is found; of what was not, about one in a hundred
// is found, too. Not thread-safe while it is filled.
class SignatureFilter {
 public:
  // Beyond this size more is found that was not added.
  static constexpr std::uint64_t kBytesMax = std::uint64_t{64} << 20;

  // Finds everything.
  SignatureFilter() = default;
  // Empty, for about `count` signatures.
  explicit SignatureFilter(std::uint64_t count);

  void Add(const Signature& signature);
  bool MayContain(const Signature& signature) const;

  // docs/formats/member.md. Errors: kCorrupt for anything else than what Bytes() made.
  static Result<SignatureFilter> Parse(std::string_view bytes);
  std::string Bytes() const;

 private:
  std::string bits_;  // empty: everything is found
};

}  // namespace stele::store
