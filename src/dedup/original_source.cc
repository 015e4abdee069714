#include "dedup/original_source.h"

namespace stele::dedup {

bool PayloadDigest::SameAs(const PayloadDigest& other) const {
  if (sha256 && other.sha256) return *sha256 == *other.sha256;
  return sha1 && other.sha1 && *sha1 == *other.sha1;
}

}  // namespace stele::dedup
