#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace stele::net {

// How long a peer may still make us wait. It begins with a full allowance, waiting uses it up, and
// bytes that move earn it back, a second for each `rate_min` of them; never more than full.
class TransferBudget {
 public:
  using Duration = std::chrono::milliseconds;
  TransferBudget(Duration full, std::uint64_t rate_min)
      : full_(full), left_(full), rate_min_(std::max<std::uint64_t>(rate_min, 1)) {}

  void Refill() { left_ = full_; }
  // `waited` for `bytes`.
  void Account(Duration waited, std::uint64_t bytes) {
    bytes = std::min(bytes, kBytesMax);
    const std::uint64_t earned =
        std::min(bytes * 1000 / rate_min_, static_cast<std::uint64_t>(full_.count()));
    left_ = std::min(full_, left_ - waited + Duration(static_cast<std::int64_t>(earned)));
  }
  Duration left() const { return left_; }

 private:
  static constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 40;

  Duration full_;
  Duration left_;
  std::uint64_t rate_min_;
};

}  // namespace stele::net
