#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/sight.h"
#include "util/result.h"

// A page asks for "jquery.js?v=3" or "data?_=1385573129", and captured was another number: such
// arguments only keep caches away. docs/access.md, "Similar addresses".
namespace stele::access {

// A sort key without the arguments that mean nothing.
struct LooseKey {
  std::string path;                // "org,a)/data"
  std::vector<std::string> fixed;  // arguments that similar keys have, too, in their order
  // Most similar keys begin so, since a page always uses the same names: "org,a)/data?_=".
  std::string prefix;

  static LooseKey Of(std::string_view key);
  bool operator==(const LooseKey& other) const {
    return path == other.path && fixed == other.fixed;
  }
};

// The key that was captured and is similar to `key`, of several the one with the most arguments in
// common, then the nearest in time; those of errors come last. Nothing where there is none that the
// client may see among the kSimilarKeysMax keys of the same path before it, and as many behind it.
// Errors: kCorrupt, kIo.
Result<std::optional<std::string>> FindSimilarKey(const Sight& sight, std::string_view key,
                                                  Timestamp at);
inline constexpr int kSimilarKeysMax = 1000;

// As FindNearest(); where nothing was captured under the URL, of a similar one.
Result<Nearest> FindNearestOrSimilar(const Sight& sight, std::string_view url, Timestamp at);

}  // namespace stele::access
