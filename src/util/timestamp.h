#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stele {

// A moment in UTC, to the millisecond. The years 0000 to 9999 can be written and read.
struct Timestamp {
  std::int64_t milliseconds = 0;  // since 1970-01-01T00:00:00Z, without leap seconds

  friend auto operator<=>(const Timestamp&, const Timestamp&) = default;
};

// "20140126200624", as CDX files and Wayback URLs have it; 17 digits carry milliseconds. Any
// prefix from 4 digits on gives the first moment it may mean: "2014" is 2014-01-01T00:00:00Z.
std::optional<Timestamp> ParseDigits(std::string_view digits);
std::string FormatDigits14(Timestamp time);
std::string FormatDigits17(Timestamp time);

// "2014-01-26T20:06:24Z" and all other granularities of W3C-DTF, with 1 to 9 digits of a second
// (cut to milliseconds), 'Z' or an offset such as "-08:00" or "-0800".
std::optional<Timestamp> ParseIso(std::string_view text);
std::string FormatIso(Timestamp time);        // "2014-01-26T20:06:24Z"
std::string FormatIsoMillis(Timestamp time);  // "2014-01-26T20:06:24.123Z"

// The three forms of HTTP dates, and RFC 822 with a two-digit year or a numeric zone.
std::optional<Timestamp> ParseHttpDate(std::string_view text);
std::string FormatHttpDate(Timestamp time);  // "Sun, 26 Jan 2014 20:06:24 GMT"

}  // namespace stele
