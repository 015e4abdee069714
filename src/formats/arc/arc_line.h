#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/record/grammar.h"

namespace stele::arc {

// The line that begins an ARC record:
//
//   v1:  url ip date mime length
//   v2:  url ip date mime result-code checksum location offset filename length
//
// All views point into the line.
struct ArcLine {
  std::string_view url;   // spaces in it are kept
  std::string_view ip;    // empty when missing
  std::string_view date;  // as it stands
  std::string_view mime;  // spaces in it are kept; empty when missing
  bool ip_is_valid = false;
  bool date_is_digits = false;

  bool is_v2 = false;  // only then the next five are set
  std::string_view result_code;
  std::string_view checksum;
  std::string_view location;
  std::string_view offset;
  std::string_view filename;

  std::string_view length_text;
  std::optional<std::uint64_t> length;  // nothing when it is negative
};

// Longer lines are no heads of records.
inline constexpr std::size_t kLineBytesMax = 8 * 1024;

// `line` without its line end. Nothing when it cannot be the head of a record: it must end in a
// length and have, at its place, a date or an address, of which one may be garbled or missing.
std::optional<ArcLine> ParseArcLine(std::string_view line);

// Whether `bytes` begin with a URL scheme and its colon. Schemes that nobody knows need "//" behind
// them, and must not look like a known one with letters lost or added in front: in damaged files
// these are the rule.
record::Match BeginsWithScheme(std::string_view bytes);

// The first place at or after `from` where a scheme may begin, or the part of one that the end of
// `bytes` cuts off; bytes.size() when nowhere. A known scheme is found behind any byte, others only
// at the begin of a line.
std::size_t FindScheme(std::string_view bytes, std::size_t from);

}  // namespace stele::arc
