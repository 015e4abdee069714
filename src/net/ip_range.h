#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "net/ip_address.h"

namespace stele::net {

// Addresses that begin alike.
struct IpRange {
  IpAddress begin;
  int bits = 0;  // of `begin` that count

  // "192.0.2.0/24", "2001:db8::/32", or one address. Nothing for all else.
  static std::optional<IpRange> FromText(std::string_view text);
  // An IPv4 address that came mapped to IPv6 counts as itself.
  bool Contains(const IpAddress& address) const;
};

// Whether the first bits of both are the same. Requires: 0 <= bits <= 128.
bool SharePrefix(const std::array<std::uint8_t, 16>& a, const std::array<std::uint8_t, 16>& b,
                 int bits);

// The IPv4 address that an IPv6 one is mapped from (RFC 4291, 2.5.5.2); others are what they are.
IpAddress Unmapped(const IpAddress& address);

}  // namespace stele::net
