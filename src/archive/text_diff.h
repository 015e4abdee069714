#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

// How one text became another, line by line.
namespace stele::archive {

// Lines [before_begin, before_end) of the older text gave way to [after_begin, after_end) of the
// newer one. Lines count from 0; one of the ranges may be empty.
struct LineEdit {
  std::size_t before_begin = 0;
  std::size_t before_end = 0;
  std::size_t after_begin = 0;
  std::size_t after_end = 0;

  friend bool operator==(const LineEdit&, const LineEdit&) = default;
};

using TextLines = std::vector<std::string_view>;

// Without their ends; the view must outlive them. An empty text has none.
TextLines LinesOf(std::string_view text);

// Texts that are further apart than so many lines removed and added are not compared in detail.
inline constexpr std::size_t kDiffEditsMax = 4000;

// The fewest lines removed and added that lead from one text to the other, from the first line to
// the last; between two edits there is at least one common line. Beyond `edits_max` all is replaced
// by all, but for what is common at both ends. Memory and time grow with edits_max squared, and
// with the number of lines.
std::vector<LineEdit> DiffLines(const TextLines& before, const TextLines& after,
                                std::size_t edits_max = kDiffEditsMax);

// Edits that are near to each other, with the lines around them.
struct DiffHunk {
  LineEdit range;  // all lines of the hunk, on both sides
  std::vector<LineEdit> edits;
};

// With up to `context` common lines before and after the edits. `before_lines`: of the older text.
std::vector<DiffHunk> HunksOf(const std::vector<LineEdit>& edits, std::size_t before_lines,
                              std::size_t context);

}  // namespace stele::archive
