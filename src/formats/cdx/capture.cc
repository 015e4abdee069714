#include "formats/cdx/capture.h"

#include <tuple>

namespace stele::cdx {

bool operator<(const Capture& a, const Capture& b) {
  // Offsets are numbers without leading zeros: the longer one is the larger one.
  const auto order = [](const Capture& c) {
    return std::make_tuple(std::string_view(c.key), std::string_view(c.timestamp),
                           std::string_view(c.filename), c.offset.size(),
                           std::string_view(c.offset));
  };
  return order(a) < order(b);
}

}  // namespace stele::cdx
