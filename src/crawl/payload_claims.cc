#include "crawl/payload_claims.h"

#include <cstring>
#include <random>

namespace stele::crawl {

PayloadClaims::PayloadClaims(std::function<void(const Waiting& visit)> again)
    : again_(std::move(again)),
      factor_(std::uint64_t{std::random_device()()} << 32 | std::random_device()() | 1) {}

std::optional<PayloadClaims::Claim> PayloadClaims::TryClaim(const Payload& payload,
                                                            const Waiting& visit) {
  std::uint64_t begin = 0;
  std::memcpy(&begin, payload.data(), sizeof(begin));
  const auto place = static_cast<std::size_t>(begin * factor_ >> (64 - kPlaceBits));
  const std::lock_guard lock(mutex_);
  if (claimed_[place]) {
    waiting_[place].push_back(visit);
    return std::nullopt;
  }
  claimed_[place] = true;
  return Claim(*this, place);
}

void PayloadClaims::Release(std::size_t place) {
  std::vector<Waiting> told;
  {
    const std::lock_guard lock(mutex_);
    claimed_[place] = false;
    if (waiting_.empty()) return;
    if (const auto waiting = waiting_.extract(place)) told = std::move(waiting.mapped());
  }
  for (const Waiting& visit : told) again_(visit);
}

}  // namespace stele::crawl
