#pragma once

#include <compare>
#include <cstdint>

namespace stele::catalog {

// Names a capture for ever: its batch (the month it was captured in, 200405) and its number in it.
struct CaptureId {
  std::uint32_t batch = 0;
  std::uint32_t serial = 0;

  friend auto operator<=>(const CaptureId&, const CaptureId&) = default;
};

}  // namespace stele::catalog
