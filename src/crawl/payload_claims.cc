#include "crawl/payload_claims.h"

#include <utility>

namespace stele::crawl {

std::shared_ptr<PayloadClaims::Claim> PayloadClaims::TryClaim(const Payload& payload,
                                                              std::function<void()> again) {
  {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = claimed_.try_emplace(payload);
    if (!is_new) {
      at->second.push_back(std::move(again));
      return nullptr;
    }
  }
  return std::make_shared<Claim>(*this, payload);
}

void PayloadClaims::Release(const Payload& payload) {
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock(mutex_);
    const auto at = claimed_.find(payload);
    waiting = std::move(at->second);
    claimed_.erase(at);
  }
  for (const std::function<void()>& again : waiting) again();
}

}  // namespace stele::crawl
