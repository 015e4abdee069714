#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "util/timestamp.h"

// Times and URLs as people type them.
namespace stele::archive {

// The digits that every moment in "2014-01-26" or "201401" begins with; nothing when it is no time.
std::optional<std::string> MomentDigits(std::string_view text);

// The first and the last moment that it may mean.
struct Moments {
  Timestamp first;
  Timestamp last;
};
std::optional<Moments> MomentsOf(std::string_view text);

// The sort key that those of all URLs begin with that begin so; it ends with a slash where the URL
// does.
std::string PrefixKey(const std::string& url);

}  // namespace stele::archive
