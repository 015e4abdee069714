#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stele::net {

// An IPv4 or IPv6 address.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};  // in the order of the network; IPv4 in the first four
  bool v6 = false;

  // "192.0.2.1", "2001:db8::1" (RFC 5952), as WARC-IP-Address has them.
  std::string ToText() const;
  // Numbers in decimal and dots, or IPv6 with or without brackets; nothing for all else.
  static std::optional<IpAddress> FromText(std::string_view text);

  // The wide internet: not loopback, private, link-local, shared (RFC 6598), multicast, reserved,
  // unspecified or for documentation, nor an IPv6 address that stands for such an IPv4 address.
  bool IsPublic() const;

  bool operator==(const IpAddress&) const = default;
  auto operator<=>(const IpAddress&) const = default;
};

}  // namespace stele::net
