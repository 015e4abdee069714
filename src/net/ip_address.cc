#include "net/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <span>

#include "formats/url/host.h"
#include "net/ip_range.h"

namespace stele::net {
namespace {

struct Block {
  std::array<std::uint8_t, 16> prefix;
  int bits;
};

// The IANA registries of special-purpose addresses.
constexpr Block kSpecialV4[] = {
    {{0}, 8},              // this network
    {{10}, 8},             // private
    {{100, 64}, 10},       // shared between customers of a provider
    {{127}, 8},            // loopback
    {{169, 254}, 16},      // link-local
    {{172, 16}, 12},       // private
    {{192, 0, 0}, 24},     // protocol assignments
    {{192, 0, 2}, 24},     // documentation
    {{192, 88, 99}, 24},   // relays to IPv6, given up
    {{192, 168}, 16},      // private
    {{198, 18}, 15},       // benchmarks
    {{198, 51, 100}, 24},  // documentation
    {{203, 0, 113}, 24},   // documentation
    {{224}, 3},            // multicast, reserved, broadcast
};
// Only 2000::/3 is given out to the public; within it:
constexpr Block kPublicV6{{0x20}, 3};
constexpr Block kSpecialV6[] = {
    {{0x20, 0x01, 0x00, 0x00}, 23},  // protocol assignments, Teredo, benchmarks
    {{0x20, 0x01, 0x0d, 0xb8}, 32},  // documentation
    {{0x3f, 0xff}, 20},              // documentation
};
// IPv4 addresses in disguise, from these bytes on.
struct Embedding {
  Block block;
  std::size_t at;
};
constexpr Embedding kEmbeddings[] = {
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, 12},  // mapped
    {{{0, 0x64, 0xff, 0x9b}, 96}, 12},                       // translated
    {{{0x20, 0x02}, 16}, 2},                                 // 6to4
};

bool IsIn(const IpAddress& address, const Block& block) {
  return SharePrefix(address.bytes, block.prefix, block.bits);
}

bool IsInAny(const IpAddress& address, std::span<const Block> blocks) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const Block& block) { return IsIn(address, block); });
}

}  // namespace

std::string IpAddress::ToText() const {
  std::string text;
  if (!v6) {
    url::AppendIpv4(text, static_cast<std::uint32_t>(bytes[0]) << 24 | bytes[1] << 16 |
                              bytes[2] << 8 | bytes[3]);
    return text;
  }
  url::Ipv6Pieces pieces{};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pieces[i] = static_cast<std::uint16_t>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  }
  url::AppendIpv6(text, pieces);
  return text;
}

std::optional<IpAddress> IpAddress::FromText(std::string_view text) {
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
    if (text.find(':') == std::string_view::npos) return std::nullopt;
  }
  const std::string copy(text);
  IpAddress address;
  if (inet_pton(AF_INET, copy.c_str(), address.bytes.data()) == 1) return address;
  address.v6 = true;
  if (inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

bool IpAddress::IsPublic() const {
  if (!v6) return !IsInAny(*this, kSpecialV4);
  for (const Embedding& one : kEmbeddings) {
    if (!IsIn(*this, one.block)) continue;
    IpAddress inner;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(one.at), 4, inner.bytes.begin());
    return inner.IsPublic();
  }
  return IsIn(*this, kPublicV6) && !IsInAny(*this, kSpecialV6);
}

}  // namespace stele::net
