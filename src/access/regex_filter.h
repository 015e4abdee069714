#pragma once

#include <memory>
#include <string_view>

#include "util/result.h"

namespace stele::access {

// A regular expression of a stranger: it cannot take more than a little time and memory. Not
// thread-safe.
class RegexFilter {
 public:
  enum class Anchor {
    kWhole,  // all of the text must match
    kBegin,  // it must begin so
  };
  // Errors: kInvalid for what is none.
  static Result<std::unique_ptr<RegexFilter>> Make(std::string_view pattern, Anchor anchor);
  virtual ~RegexFilter() = default;

  // Errors: kFull when it would take too long.
  virtual Result<bool> Matches(std::string_view text) = 0;
};

}  // namespace stele::access
