#include "crawl/payload_claims.h"

#include <cstring>

namespace stele::crawl {

std::optional<PayloadClaims::Claim> PayloadClaims::TryClaim(const Payload& payload,
                                                            const std::function<void()>& again) {
  std::size_t place = 0;
  std::memcpy(&place, payload.data(), sizeof(place));
  place %= kPlaces;
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
