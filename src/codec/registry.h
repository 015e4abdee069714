#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/codec.h"

namespace stele::codec {

// Owns codecs and finds them by name. Immutable once built; then any thread may Find().
class Registry {
 public:
  // A codec is found by its own name and by each of `aliases`. Requires: names not yet taken.
  void Add(std::unique_ptr<const Codec> codec, const std::vector<std::string>& aliases = {});

  // Null when there is none. Case does not matter.
  const Codec* Find(std::string_view name) const;

 private:
  std::vector<std::unique_ptr<const Codec>> codecs_;
  std::vector<std::pair<std::string, const Codec*>> names_;
};

// identity, gzip (also x-gzip), deflate, zstd (without a dictionary) and br.
Registry StandardRegistry();

}  // namespace stele::codec
