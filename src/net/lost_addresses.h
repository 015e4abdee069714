#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "net/ip_address.h"

namespace stele::net {

// Where no connection could be made of late, so that of several addresses of a host another one is
// tried first. Not thread-safe.
class LostAddresses {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  // After that an address is as good as any.
  static constexpr std::chrono::minutes kTimeMax{10};
  // Of more, those that were lost first are forgotten.
  static constexpr std::size_t kCountMax = 1'000;

  void Add(const IpAddress& address, std::uint16_t port, Moment now);
  void Remove(const IpAddress& address, std::uint16_t port) { lost_.erase({address, port}); }
  // Those that were lost behind the others; else the order stays.
  void PutLast(std::vector<IpAddress>& addresses, std::uint16_t port, Moment now) const;

 private:
  bool Has(const IpAddress& address, std::uint16_t port, Moment now) const;

  std::map<std::pair<IpAddress, std::uint16_t>, Moment> lost_;
};

}  // namespace stele::net
