#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stele::net {

// A part of a content: bytes [begin, end).
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

enum class RangeOutcome {
  kNone,           // all of it: there is no range, or none that we serve (several, other units)
  kPart,           //
  kUnsatisfiable,  // it begins behind the end
};

// What a Range header asks for of a content of `size` bytes. `range` is set for kPart.
RangeOutcome ParseRange(std::string_view header, std::uint64_t size, ByteRange& range);

}  // namespace stele::net
