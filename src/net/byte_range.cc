#include "net/byte_range.h"

#include <algorithm>

#include "util/ascii.h"

namespace stele::net {

RangeOutcome ParseRange(std::string_view header, std::uint64_t size, ByteRange& range) {
  constexpr std::string_view kUnit = "bytes=";
  header = TrimSpace(header);
  if (!StartsWithIgnoreCase(header, kUnit)) return RangeOutcome::kNone;
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos || header.find(',') != std::string_view::npos) {
    return RangeOutcome::kNone;
  }
  const std::string_view first = TrimSpace(header.substr(0, dash));
  const std::string_view last = TrimSpace(header.substr(dash + 1));
  const std::optional<std::uint64_t> begin = ParseDecimal(first);
  const std::optional<std::uint64_t> end = ParseDecimal(last);
  if (first.empty()) {  // the last so many bytes
    if (!end) return RangeOutcome::kNone;
    if (*end == 0 || size == 0) return RangeOutcome::kUnsatisfiable;
    range = {size - std::min(*end, size), size};
    return RangeOutcome::kPart;
  }
  if (!begin || (!last.empty() && !end) || (end && *end < *begin)) return RangeOutcome::kNone;
  if (*begin >= size) return RangeOutcome::kUnsatisfiable;
  range = {*begin, end ? std::min(*end, size - 1) + 1 : size};
  return RangeOutcome::kPart;
}

}  // namespace stele::net
