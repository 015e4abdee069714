#include "net/lost_addresses.h"

#include <algorithm>

namespace stele::net {

void LostAddresses::Add(const IpAddress& address, std::uint16_t port, Moment now) {
  lost_[{address, port}] = now;
  if (lost_.size() <= kCountMax) return;
  lost_.erase(std::min_element(lost_.begin(), lost_.end(),
                               [](const auto& a, const auto& b) { return a.second < b.second; }));
}

bool LostAddresses::Has(const IpAddress& address, std::uint16_t port, Moment now) const {
  const auto found = lost_.find({address, port});
  return found != lost_.end() && now - found->second <= kTimeMax;
}

void LostAddresses::PutLast(std::vector<IpAddress>& addresses, std::uint16_t port,
                            Moment now) const {
  if (lost_.empty()) return;
  std::stable_partition(addresses.begin(), addresses.end(),
                        [&](const IpAddress& address) { return !Has(address, port, now); });
}

}  // namespace stele::net
