#include "net/ip_range.h"

#include <algorithm>

#include "util/ascii.h"

namespace stele::net {
namespace {

constexpr std::array<std::uint8_t, 16> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr int kMappedBits = 96;

}  // namespace

bool SharePrefix(const std::array<std::uint8_t, 16>& a, const std::array<std::uint8_t, 16>& b,
                 int bits) {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (!std::equal(a.begin(), a.begin() + whole, b.begin())) return false;
  const int rest = bits % 8;
  if (rest == 0) return true;
  const int mask = 0xff << (8 - rest) & 0xff;
  return (a[whole] & mask) == (b[whole] & mask);
}

IpAddress Unmapped(const IpAddress& address) {
  if (!address.v6 || !SharePrefix(address.bytes, kMapped, kMappedBits)) return address;
  IpAddress inner;
  std::copy_n(address.bytes.begin() + kMappedBits / 8, 4, inner.bytes.begin());
  return inner;
}

std::optional<IpRange> IpRange::FromText(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::optional<IpAddress> begin = IpAddress::FromText(text.substr(0, slash));
  if (!begin) return std::nullopt;
  const int bits_max = begin->v6 ? 128 : 32;
  if (slash == std::string_view::npos) return IpRange{*begin, bits_max};
  const std::optional<std::uint64_t> bits = ParseDecimal(text.substr(slash + 1));
  if (!bits || *bits > static_cast<std::uint64_t>(bits_max)) return std::nullopt;
  return IpRange{*begin, static_cast<int>(*bits)};
}

bool IpRange::Contains(const IpAddress& address) const {
  const IpAddress plain = begin.v6 ? address : Unmapped(address);
  return plain.v6 == begin.v6 && SharePrefix(plain.bytes, begin.bytes, bits);
}

}  // namespace stele::net
