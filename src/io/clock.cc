#include "io/clock.h"

#include <chrono>

namespace stele::io {

Timestamp SystemClock::Now() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return Timestamp{std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()};
}

}  // namespace stele::io
