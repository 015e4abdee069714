#include "crawl/payload_claims.h"

#include <cstring>
#include <random>

namespace stele::crawl {

PayloadClaims::PayloadClaims()
    : factor_(std::uint64_t{std::random_device()()} << 32 | std::random_device()() | 1) {}

std::optional<PayloadClaims::Claim> PayloadClaims::TryClaim(const Payload& payload,
                                                            const std::function<void()>& again) {
  std::uint64_t begin = 0;
  std::memcpy(&begin, payload.data(), sizeof(begin));
  const auto place = static_cast<std::size_t>(begin * factor_ >> (64 - kPlaceBits));
  const std::lock_guard lock(mutex_);
  if (claimed_[place]) {
    waiting_[place].push_back(again);
    return std::nullopt;
  }
  claimed_[place] = true;
  return Claim(*this, place);
}

void PayloadClaims::Release(std::size_t place) {
  std::vector<std::function<void()>> told;
  {
    const std::lock_guard lock(mutex_);
    claimed_[place] = false;
    if (const auto waiting = waiting_.extract(place)) told = std::move(waiting.mapped());
  }
  for (const std::function<void()>& again : told) again();
}

}  // namespace stele::crawl
