#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"
#include "util/timestamp.h"

// Cookies by RFC 6265, as a crawler needs them: docs/formats/cookies.md.
namespace stele::cookies {

struct Cookie {
  std::string name;
  std::string value;
  std::string domain;  // lower case, without leading dot
  std::string path = "/";
  std::optional<Timestamp> expires;  // nothing: with the crawl
  bool host_only = true;             // not for hosts below `domain`
  bool secure = false;
  Timestamp created;

  bool operator==(const Cookie&) const = default;
};

// Where a cookie comes from or goes to.
struct Site {
  std::string_view host;  // lower case, punycode, an IPv6 address in brackets
  std::string_view path;  // without query
  bool secure = false;    // https
};

// The value of a Set-Cookie header that came from `site`. Nothing where it must be ignored: without
// name, for another domain, for a public suffix, too long, secure from an insecure site. A cookie
// that has expired comes out, and deletes.
std::optional<Cookie> ParseSetCookie(std::string_view value, const Site& site, Timestamp now);

// A Netscape cookies.txt: seven fields between tabs in each line, "#HttpOnly_" before some,
// comments after "#". Calls `on_line` (number, reason) for lines that are none; null: they are left
// out.
std::vector<Cookie> ParseCookiesTxt(
    std::string_view text, Timestamp now,
    const std::function<void(std::size_t, std::string_view)>& on_line = nullptr);

struct JarLimits {
  std::size_t per_domain_max = 50;    // the oldest go first
  std::size_t domains_max = 100'000;  // further ones get none
  std::size_t bytes_per_domain_max = 8192;
};

// Not thread-safe.
class CookieJar {
 public:
  explicit CookieJar(JarLimits limits = {}) : limits_(limits) {}

  // Replaces one of the same name, domain and path; one that has expired is removed.
  void Set(Cookie cookie, Timestamp now);
  // All Set-Cookie values of a response.
  void SetAll(const std::vector<std::string_view>& values, const Site& site, Timestamp now);

  // The value of the Cookie header for a request, longer paths first, then older ones; empty: none.
  std::string HeaderFor(const Site& site, Timestamp now) const;

  std::size_t size() const;
  std::vector<Cookie> Of(std::string_view domain) const;
  // In the order of domains; for saving.
  std::vector<Cookie> All() const;

 private:
  JarLimits limits_;
  std::map<std::string, std::vector<Cookie>, std::less<>> domains_;
};

}  // namespace stele::cookies
