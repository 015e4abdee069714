// The edit distance with swaps of neighbours (optimal string alignment): a table of the distances
// between all beginnings of both words, of which three lines are kept.
#include "cli/similar_name.h"

#include <algorithm>
#include <utility>

namespace stele::cli {
namespace {

constexpr std::size_t kSlipsMax = 2;

std::size_t Slips(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before_last, last(to.size() + 1), line(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) line[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before_last = std::exchange(last, line);
    line[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t changed = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      line[j] = std::min({last[j] + 1, line[j - 1] + 1, changed});
      const bool is_swapped =
          i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (is_swapped) line[j] = std::min(line[j], before_last[j - 2] + 1);
    }
  }
  return line.back();
}

}  // namespace

std::optional<std::string_view> SimilarName(std::string_view word,
                                            const std::vector<std::string_view>& names) {
  std::optional<std::string_view> best;
  std::size_t fewest = kSlipsMax + 1;
  for (const std::string_view name : names) {
    // Longer words are too far away, and would only take time.
    if (word.size() > name.size() + kSlipsMax) continue;
    const std::size_t slips = Slips(word, name);
    if (slips >= fewest || 2 * slips >= name.size()) continue;
    fewest = slips;
    best = name;
  }
  return best;
}

}  // namespace stele::cli
