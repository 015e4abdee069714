#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "util/timestamp.h"

namespace stele::access {

// What stands behind "/web/", as the Wayback Machine and pywb write it.
//
//   20140126200624id_/http://a.org/   a capture, as it was sent
//   2014/http://a.org/                the one nearest to the begin of 2014
//   */http://a.org/   2014*/…   2010-2014/…   captures of a URL
//   */http://a.org/x*                 URLs that begin so
//   */*.a.org                         hosts of a domain
//   http://a.org/                     the last one: a TimeGate
struct WaybackPath {
  enum class Kind { kCapture, kTimeGate, kCaptures, kPrefix, kHosts };

  Kind kind = Kind::kTimeGate;
  std::string digits;    // none, or those of a time that can be read
  std::string until;     // of kCaptures, kPrefix and kHosts: likewise
  std::string modifier;  // "id_"; empty where there is none
  std::string url;       // absolute; of kHosts "*.a.org"

  friend bool operator==(const WaybackPath&, const WaybackPath&) = default;
};

// Nothing where the time is none, or there is no URL.
std::optional<WaybackPath> ParseWaybackPath(std::string_view rest);

// The moment that is meant by the digits of a WaybackPath: the first that they may mean; the end of
// all times where there are none. Fewer than four are the begin of a year that ends in nines.
Timestamp MomentOf(std::string_view digits);

// A URL as people and programs put it into a path or an argument: without its scheme, with one of
// its slashes lost, or percent-encoded as a whole. Absolute afterwards; empty where there is
// nothing, or a byte that no URL has.
std::string AbsoluteUrl(std::string_view text);

// "a.org" for "*.a.org", also with scheme and path, which say nothing then; empty for others.
std::string DomainOf(std::string_view text);

}  // namespace stele::access
