#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace stele::cli {

// The name that somebody who typed `word` probably meant: the one fewest slips away (a
// character too many, too few, wrong, or two swapped), at most two and fewer than half of its
// characters. Nothing where there is none.
std::optional<std::string_view> SimilarName(std::string_view word,
                                            const std::vector<std::string_view>& names);

}  // namespace stele::cli
