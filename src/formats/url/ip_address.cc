#include <charconv>
#include <vector>

#include "formats/url/host.h"
#include "util/ascii.h"

namespace stele::url {
namespace {

// One part of an IPv4 address. Values past 32 bits are reported as 2^32, which every range check
// refuses.
std::optional<std::uint64_t> ParseIpv4Number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  int base = 10;
  if (text.size() >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    text.remove_prefix(2);
    base = 16;
  } else if (text.size() >= 2 && text[0] == '0') {
    text.remove_prefix(1);
    base = 8;
  }
  constexpr std::uint64_t kTooLarge = std::uint64_t{1} << 32;
  std::uint64_t value = 0;
  for (char c : text) {
    const int digit = HexValue(c);
    if (digit < 0 || digit >= base) return std::nullopt;
    if (value < kTooLarge)
      value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
  }
  return std::min(value, kTooLarge);
}

// The tail "1.2.3.4" of an IPv6 address, as two pieces.
bool ParseEmbeddedIpv4(std::string_view text, Ipv6Pieces& pieces, std::size_t& count) {
  if (count > 6) return false;
  const std::vector<std::string_view> parts = Split(text, '.');
  if (parts.size() != 4) return false;
  unsigned bytes[4];
  for (int i = 0; i < 4; ++i) {
    const std::string_view part = parts[static_cast<std::size_t>(i)];
    if (part.size() > 3 || (part.size() > 1 && part[0] == '0')) return false;
    const std::optional<std::uint64_t> value = ParseDecimal(part);
    if (!value || *value > 255) return false;
    bytes[i] = static_cast<unsigned>(*value);
  }
  pieces[count++] = static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
  pieces[count++] = static_cast<std::uint16_t>(bytes[2] << 8 | bytes[3]);
  return true;
}

struct ZeroRun {
  std::size_t begin = 8;
  std::size_t length = 0;
};

// The first longest run of at least two zero pieces.
ZeroRun LongestZeroRun(const Ipv6Pieces& pieces) {
  ZeroRun best;
  for (std::size_t i = 0; i < 8;) {
    std::size_t end = i;
    while (end < 8 && pieces[end] == 0) ++end;
    if (end - i > 1 && end - i > best.length) best = {i, end - i};
    i = end + 1;
  }
  return best;
}

}  // namespace

std::optional<std::uint32_t> ParseIpv4(std::string_view text) {
  if (!text.empty() && text.back() == '.') text.remove_suffix(1);
  std::uint64_t numbers[4];
  std::size_t count = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    if (count == 4) return std::nullopt;
    const std::size_t end = std::min(text.find('.', begin), text.size());
    const std::optional<std::uint64_t> number = ParseIpv4Number(text.substr(begin, end - begin));
    if (!number) return std::nullopt;
    numbers[count++] = *number;
    begin = end + 1;
  }
  std::uint64_t address = numbers[count - 1];
  if (address >= std::uint64_t{1} << (8 * (5 - count))) return std::nullopt;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (numbers[i] > 255) return std::nullopt;
    address += numbers[i] << (8 * (3 - i));
  }
  return static_cast<std::uint32_t>(address);
}

void AppendIpv4(std::string& out, std::uint32_t address) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    char digits[3];
    const auto end = std::to_chars(digits, digits + 3, (address >> shift) & 255).ptr;
    out.append(digits, end);
    if (shift > 0) out.push_back('.');
  }
}

std::optional<Ipv6Pieces> ParseIpv6(std::string_view text) {
  Ipv6Pieces pieces{};
  std::size_t count = 0;
  std::optional<std::size_t> compress;
  std::size_t i = 0;
  if (text.starts_with("::")) {
    compress = 0;
    i = 2;
  } else if (text.starts_with(':')) {
    return std::nullopt;
  }
  while (i < text.size()) {
    if (count == 8) return std::nullopt;
    if (text[i] == ':') {
      if (compress) return std::nullopt;
      compress = count;
      ++i;
      continue;
    }
    unsigned value = 0;
    std::size_t length = 0;
    while (length < 4 && i + length < text.size() && IsAsciiHexDigit(text[i + length])) {
      value = value * 16 + static_cast<unsigned>(HexValue(text[i + length++]));
    }
    const char next = i + length < text.size() ? text[i + length] : '\0';
    if (next == '.') {
      if (!ParseEmbeddedIpv4(text.substr(i), pieces, count)) return std::nullopt;
      break;
    }
    if (length == 0) return std::nullopt;
    pieces[count++] = static_cast<std::uint16_t>(value);
    i += length;
    if (i == text.size()) break;
    if (text[i] != ':' || ++i == text.size()) return std::nullopt;
  }
  if (!compress) return count == 8 ? std::optional(pieces) : std::nullopt;
  if (count == 8) return std::nullopt;
  const std::size_t tail = count - *compress;
  std::move_backward(pieces.begin() + static_cast<std::ptrdiff_t>(*compress),
                     pieces.begin() + static_cast<std::ptrdiff_t>(count), pieces.end());
  std::fill(pieces.begin() + static_cast<std::ptrdiff_t>(*compress),
            pieces.end() - static_cast<std::ptrdiff_t>(tail), std::uint16_t{0});
  return pieces;
}

void AppendIpv6(std::string& out, const Ipv6Pieces& pieces) {
  const ZeroRun zeros = LongestZeroRun(pieces);
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == zeros.begin) {
      out += i == 0 ? "::" : ":";
      i += zeros.length - 1;
      continue;
    }
    char digits[4];
    const auto end = std::to_chars(digits, digits + 4, pieces[i], 16).ptr;
    out.append(digits, end);
    if (i < 7) out.push_back(':');
  }
}

bool IsIpAddress(std::string_view host) {
  if (host.starts_with('[')) {
    return host.ends_with(']') && ParseIpv6(host.substr(1, host.size() - 2)).has_value();
  }
  if (host.empty() || !IsAsciiDigit(host.front()) || !IsAsciiDigit(host.back())) return false;
  const std::optional<std::uint32_t> address = ParseIpv4(host);
  if (!address) return false;
  std::string text;
  AppendIpv4(text, *address);
  return text == host;
}

}  // namespace stele::url
