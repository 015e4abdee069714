// Myers' greedy O(ND) algorithm. A way from text to text is a path in a grid, x lines into the
// older and y lines into the newer one; a common line is a free diagonal step. For d = 0, 1, ...
// the furthest point is kept that d edits reach on each diagonal k = x - y; it comes from a
// neighbouring diagonal of d - 1. All rounds are kept, so that the path can be walked back from the
// end.
#include "archive/text_diff.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "util/check.h"

namespace stele::archive {
namespace {

// Equal lines have equal numbers.
using Numbers = std::vector<std::uint32_t>;

class LineNumbers {
 public:
  Numbers Of(const TextLines& lines, std::size_t begin, std::size_t end) {
    Numbers numbers;
    numbers.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      numbers.push_back(
          known_.emplace(lines[i], static_cast<std::uint32_t>(known_.size())).first->second);
    }
    return numbers;
  }

 private:
  std::unordered_map<std::string_view, std::uint32_t> known_;
};

// The furthest x on the diagonals -d, -d + 2, ... d, for each d so far.
class Rounds {
 public:
  std::int64_t At(std::int64_t d, std::int64_t k) const {
    return furthest_[static_cast<std::size_t>(d * (d + 1) / 2 + (k + d) / 2)];
  }
  void Add(std::int64_t x) { furthest_.push_back(static_cast<std::int32_t>(x)); }

  // Whether the best way to diagonal k in round d adds a line; else it removes one.
  bool ComesByAdding(std::int64_t d, std::int64_t k) const {
    return k == -d || (k != d && At(d - 1, k - 1) < At(d - 1, k + 1));
  }

 private:
  std::vector<std::int32_t> furthest_;
};

class Search {
 public:
  Search(const Numbers& before, const Numbers& after)
      : before_(before),
        after_(after),
        before_size_(static_cast<std::int64_t>(before.size())),
        after_size_(static_cast<std::int64_t>(after.size())) {}

  // Single lines, the last first. Nothing: it takes more than edits_max of them.
  std::optional<std::vector<LineEdit>> Run(std::size_t edits_max) {
    const auto rounds_max = static_cast<std::int64_t>(edits_max);
    for (std::int64_t d = 0; d <= rounds_max; ++d) {
      bool arrived = false;
      for (std::int64_t k = -d; k <= d; k += 2) {
        const std::int64_t x = FurthestOn(d, k);
        rounds_.Add(x);
        arrived = arrived || (x == before_size_ && x - k == after_size_);
      }
      if (arrived) return WalkBack(d);
    }
    return std::nullopt;
  }

 private:
  std::int64_t FurthestOn(std::int64_t d, std::int64_t k) const {
    std::int64_t x = 0;
    if (d > 0) {
      x = rounds_.ComesByAdding(d, k) ? rounds_.At(d - 1, k + 1) : rounds_.At(d - 1, k - 1) + 1;
    }
    while (x < before_size_ && x - k < after_size_ &&
           before_[static_cast<std::size_t>(x)] == after_[static_cast<std::size_t>(x - k)]) {
      ++x;
    }
    return x;
  }

  std::vector<LineEdit> WalkBack(std::int64_t d) const {
    std::vector<LineEdit> edits;
    for (std::int64_t k = before_size_ - after_size_; d > 0; --d) {
      const bool adds = rounds_.ComesByAdding(d, k);
      k += adds ? 1 : -1;
      const std::int64_t from = rounds_.At(d - 1, k);
      const auto x = static_cast<std::size_t>(from);
      const auto y = static_cast<std::size_t>(from - k);
      edits.push_back({x, x + (adds ? 0 : 1), y, y + (adds ? 1 : 0)});
    }
    return edits;
  }

  const Numbers& before_;
  const Numbers& after_;
  const std::int64_t before_size_;
  const std::int64_t after_size_;
  Rounds rounds_;
};

// Those that follow each other without a common line become one.
std::vector<LineEdit> Join(const std::vector<LineEdit>& backwards, std::size_t skipped) {
  std::vector<LineEdit> joined;
  for (auto edit = backwards.rbegin(); edit != backwards.rend(); ++edit) {
    const LineEdit moved{edit->before_begin + skipped, edit->before_end + skipped,
                         edit->after_begin + skipped, edit->after_end + skipped};
    if (!joined.empty() && joined.back().before_end == moved.before_begin &&
        joined.back().after_end == moved.after_begin) {
      joined.back().before_end = moved.before_end;
      joined.back().after_end = moved.after_end;
    } else {
      joined.push_back(moved);
    }
  }
  return joined;
}

}  // namespace

TextLines LinesOf(std::string_view text) {
  TextLines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<LineEdit> DiffLines(const TextLines& before, const TextLines& after,
                                std::size_t edits_max) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t head = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  const LineEdit all{head, before.size() - tail, head, after.size() - tail};
  if (all.before_begin == all.before_end && all.after_begin == all.after_end) return {};
  LineNumbers numbers;
  const Numbers from = numbers.Of(before, all.before_begin, all.before_end);
  const Numbers to = numbers.Of(after, all.after_begin, all.after_end);
  const std::optional<std::vector<LineEdit>> edits = Search(from, to).Run(edits_max);
  return edits ? Join(*edits, head) : std::vector<LineEdit>{all};
}

std::vector<DiffHunk> HunksOf(const std::vector<LineEdit>& edits, std::size_t before_lines,
                              std::size_t context) {
  std::vector<DiffHunk> hunks;
  for (const LineEdit& edit : edits) {
    Check(edit.before_end <= before_lines);
    const std::size_t above = std::min(context, edit.before_begin);
    const std::size_t below = std::min(context, before_lines - edit.before_end);
    if (hunks.empty() || hunks.back().range.before_end < edit.before_begin - above) {
      hunks.emplace_back();
      hunks.back().range.before_begin = edit.before_begin - above;
      hunks.back().range.after_begin = edit.after_begin - above;
    }
    hunks.back().range.before_end = edit.before_end + below;
    hunks.back().range.after_end = edit.after_end + below;
    hunks.back().edits.push_back(edit);
  }
  return hunks;
}

}  // namespace stele::archive
