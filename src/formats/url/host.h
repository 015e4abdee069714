#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Hosts as the WHATWG URL standard parses and writes them.
namespace stele::url {

// Appends the serialised host of `text` to `out` and returns true; false, with `out` as it was,
// where the standard says failure. A special host becomes a domain (UTS 46, lower case, punycode),
// an IPv4 address in dotted decimal or an IPv6 address in brackets; one that is not special is an
// IPv6 address or opaque bytes. A domain with non-ASCII or punycode labels may have at most
// kMaxIdnaBytes bytes, because punycode takes time in the square of its length.
bool AppendHost(std::string& out, std::string_view text, bool special);

inline constexpr std::size_t kMaxIdnaBytes = 2048;

// "1.2.3.4" exactly as AppendHost writes it, or an IPv6 address in brackets.
bool IsIpAddress(std::string_view serialised_host);

// Dotted numbers in decimal, octal (leading 0) and hexadecimal (leading 0x), one to four of them,
// as the standard's IPv4 parser takes them. Nothing where it fails.
std::optional<std::uint32_t> ParseIpv4(std::string_view text);
void AppendIpv4(std::string& out, std::uint32_t address);

using Ipv6Pieces = std::array<std::uint16_t, 8>;

// Without the brackets.
std::optional<Ipv6Pieces> ParseIpv6(std::string_view text);
void AppendIpv6(std::string& out, const Ipv6Pieces& pieces);

}  // namespace stele::url
