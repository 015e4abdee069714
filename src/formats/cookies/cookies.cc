#include "formats/cookies/cookies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "formats/url/host.h"
#include "formats/url/public_suffix.h"
#include "util/ascii.h"

namespace stele::cookies {
namespace {

constexpr std::size_t kCookieBytesMax = 4096;  // name and value
constexpr std::size_t kAttributeBytesMax = 1024;
constexpr std::int64_t kLifeMax = std::int64_t{400} * 24 * 3600 * 1000;  // as browsers have it

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

// RFC 6265 §5.1.3.
bool IsBelow(std::string_view host, std::string_view domain) {
  if (host == domain) return true;
  return host.size() > domain.size() && host.ends_with(domain) &&
         host[host.size() - domain.size() - 1] == '.' && !url::IsIpAddress(host);
}

// RFC 6265 §5.1.4.
bool PathMatches(std::string_view path, std::string_view cookie_path) {
  if (!path.starts_with(cookie_path)) return false;
  return path.size() == cookie_path.size() || cookie_path.ends_with('/') ||
         path[cookie_path.size()] == '/';
}

std::string DefaultPath(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (path.empty() || path.front() != '/' || slash == 0) return "/";
  return std::string(path.substr(0, slash));
}

constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};

// The number that `text` begins with, of up to `digits_max` digits that no further digit follows.
std::optional<int> LeadingNumber(std::string_view text, std::size_t digits_max) {
  std::size_t digits = 0;
  while (digits < text.size() && IsAsciiDigit(text[digits])) ++digits;
  if (digits == 0 || digits > digits_max) return std::nullopt;
  return static_cast<int>(*ParseDecimal(text.substr(0, digits)));
}

// The parts of a date as they turn up.
struct DateParts {
  std::optional<int> day;
  std::optional<int> month;
  std::optional<int> year;
  std::optional<std::array<int, 3>> time;

  void Take(std::string_view token) {
    if (!time && TakeTime(token)) return;
    if (!day) {
      if (const auto number = LeadingNumber(token, 2)) {
        day = number;
        return;
      }
    }
    if (!month && token.size() >= 3) {
      const std::string name = AsciiLower(token.substr(0, 3));
      const auto found = std::find(kMonths.begin(), kMonths.end(), name);
      if (found != kMonths.end()) {
        month = static_cast<int>(found - kMonths.begin()) + 1;
        return;
      }
    }
    if (!year) {
      year = LeadingNumber(token, 4);
      if (year && *year >= 70 && *year <= 99) *year += 1900;
      if (year && *year <= 69) *year += 2000;
    }
  }

  bool TakeTime(std::string_view token) {
    const std::vector<std::string_view> parts = Split(token, ':');
    if (parts.size() < 3) return false;
    std::array<int, 3> values{};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::optional<int> number = LeadingNumber(parts[i], 2);
      if (!number) return false;
      values[i] = *number;
    }
    time = values;
    return true;
  }
};

// RFC 6265 §5.1.1, which takes far more than the dates of HTTP.
std::optional<Timestamp> ParseCookieDate(std::string_view text) {
  DateParts parts;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto is_delimiter = [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte < 0x80 && !IsAsciiAlnum(c) && c != ':' && byte != 0x7f;
    };
    std::size_t end = at;
    while (end < text.size() && !is_delimiter(text[end])) ++end;
    if (end > at) parts.Take(text.substr(at, end - at));
    at = end + 1;
  }
  if (!parts.day || !parts.month || !parts.year || !parts.time || *parts.year < 1601) {
    return std::nullopt;
  }
  const auto& [hour, minute, second] = *parts.time;
  if (*parts.day < 1 || *parts.day > 31 || hour > 23 || minute > 59 || second > 59) {
    return std::nullopt;
  }
  return ParseDigits(fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}", *parts.year, *parts.month,
                                 *parts.day, hour, minute, second));
}

// Seconds from now; what is not positive is over.
std::optional<Timestamp> ParseMaxAge(std::string_view text, Timestamp now) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = negative ? text.substr(1) : text;
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsAsciiDigit)) {
    return std::nullopt;
  }
  const std::uint64_t seconds = ParseDecimal(digits).value_or(UINT64_MAX);
  if (negative || seconds == 0) return Timestamp{0};
  const auto millis = static_cast<std::int64_t>(
      std::min<std::uint64_t>(seconds, static_cast<std::uint64_t>(kLifeMax) / 1000) * 1000);
  return Timestamp{now.milliseconds + millis};
}

// False: the cookie is for a domain that it may not be for.
bool SetDomain(Cookie& cookie, std::string_view attribute, std::string_view host) {
  if (attribute.starts_with('.')) attribute.remove_prefix(1);
  const std::string domain = AsciiLower(attribute);
  cookie.domain = std::string(host);
  if (domain.empty()) return true;
  if (url::IsPublicSuffix(domain)) return domain == host;
  if (!IsBelow(host, domain)) return false;
  cookie.domain = domain;
  cookie.host_only = url::IsIpAddress(host);
  return true;
}

struct Attributes {
  std::string_view domain;
  std::string_view path;
  std::optional<Timestamp> expires;
  std::optional<Timestamp> max_age;
  bool secure = false;
};

Attributes ReadAttributes(std::string_view rest, Timestamp now) {
  Attributes found;
  for (const std::string_view part : Split(rest, ';')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = TrimSpace(part.substr(0, equals));
    const std::string_view value =
        equals < part.size() ? TrimSpace(part.substr(equals + 1)) : std::string_view();
    if (value.size() > kAttributeBytesMax) continue;
    if (EqualsIgnoreCase(name, "expires")) {
      if (const auto date = ParseCookieDate(value)) found.expires = date;
    } else if (EqualsIgnoreCase(name, "max-age")) {
      if (const auto date = ParseMaxAge(value, now)) found.max_age = date;
    } else if (EqualsIgnoreCase(name, "domain")) {
      found.domain = value;
    } else if (EqualsIgnoreCase(name, "path")) {
      found.path = value;
    } else if (EqualsIgnoreCase(name, "secure")) {
      found.secure = true;
    }
  }
  return found;
}

bool Expired(const Cookie& cookie, Timestamp now) {
  return cookie.expires && *cookie.expires <= now;
}

// "#HttpOnly_" is a mark, not a comment. Returns why the line is none; empty: it is one.
std::string_view ReadCookieLine(std::string_view line, Timestamp now, Cookie& cookie) {
  if (line.starts_with("#HttpOnly_")) line.remove_prefix(10);
  const std::vector<std::string_view> fields = Split(line, '\t');
  if (fields.size() != 7) return "not seven fields between tabs";
  std::string_view domain = fields[0];
  if (domain.starts_with('.')) domain.remove_prefix(1);
  if (domain.empty()) return "no domain";
  if (!fields[2].starts_with('/')) return "the path does not begin with a slash";
  if (HasControl(fields[5]) || HasControl(fields[6])) return "a control character";
  // Some programs write fractions of a second, or -1 for the end of the session.
  const std::string_view whole = fields[4].substr(0, fields[4].find('.'));
  const std::optional<std::uint64_t> seconds =
      whole == "-1" ? std::optional<std::uint64_t>(0) : ParseDecimal(whole);
  if (!seconds) return "the time of its end is no number";
  cookie.name = std::string(fields[5]);
  cookie.value = std::string(fields[6]);
  cookie.domain = AsciiLower(domain);
  cookie.host_only = !EqualsIgnoreCase(fields[1], "TRUE") || url::IsIpAddress(cookie.domain);
  cookie.path = std::string(fields[2]);
  cookie.secure = EqualsIgnoreCase(fields[3], "TRUE");
  cookie.created = now;
  constexpr std::uint64_t kSecondsMax = 253'402'300'799;  // the year 9999
  if (*seconds > 0) {
    cookie.expires = Timestamp{static_cast<std::int64_t>(std::min(*seconds, kSecondsMax)) * 1000};
  }
  return {};
}

}  // namespace

std::optional<Cookie> ParseSetCookie(std::string_view value, const Site& site, Timestamp now) {
  const std::size_t end = std::min(value.find(';'), value.size());
  const std::string_view pair = value.substr(0, end);
  const std::size_t equals = pair.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  Cookie cookie;
  cookie.name = std::string(TrimSpace(pair.substr(0, equals)));
  cookie.value = std::string(TrimSpace(pair.substr(equals + 1)));
  if (cookie.name.empty() || cookie.name.size() + cookie.value.size() > kCookieBytesMax) {
    return std::nullopt;
  }
  if (HasControl(cookie.name) || HasControl(cookie.value)) return std::nullopt;
  const Attributes found = ReadAttributes(value.substr(end), now);
  cookie.secure = found.secure;
  cookie.created = now;
  cookie.expires = found.max_age ? found.max_age : found.expires;
  if (cookie.expires) {
    cookie.expires->milliseconds =
        std::min(cookie.expires->milliseconds, now.milliseconds + kLifeMax);
  }
  if (cookie.secure && !site.secure) return std::nullopt;
  if (!SetDomain(cookie, found.domain, site.host)) return std::nullopt;
  cookie.path = found.path.starts_with('/') ? std::string(found.path) : DefaultPath(site.path);
  return cookie;
}

std::vector<Cookie> ParseCookiesTxt(
    std::string_view text, Timestamp now,
    const std::function<void(std::size_t, std::string_view)>& on_line) {
  std::vector<Cookie> cookies;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool comment = line.starts_with('#') && !line.starts_with("#HttpOnly_");
    if (comment || TrimSpace(line).empty()) continue;
    Cookie cookie;
    const std::string_view wrong = ReadCookieLine(line, now, cookie);
    if (wrong.empty()) {
      cookies.push_back(std::move(cookie));
    } else if (on_line != nullptr) {
      on_line(number, wrong);
    }
  }
  return cookies;
}

void CookieJar::Set(Cookie cookie, Timestamp now) {
  auto found = domains_.find(cookie.domain);
  if (found == domains_.end()) {
    if (Expired(cookie, now) || domains_.size() >= limits_.domains_max) return;
    found = domains_.emplace(cookie.domain, std::vector<Cookie>()).first;
  }
  std::vector<Cookie>& cookies = found->second;
  const auto same = std::find_if(cookies.begin(), cookies.end(), [&](const Cookie& one) {
    return one.name == cookie.name && one.path == cookie.path;
  });
  if (same != cookies.end()) {
    cookie.created = same->created;
    cookies.erase(same);
  }
  if (!Expired(cookie, now)) cookies.push_back(std::move(cookie));
  std::erase_if(cookies, [&](const Cookie& one) { return Expired(one, now); });
  const auto bytes = [&] {
    std::size_t sum = 0;
    for (const Cookie& one : cookies) sum += one.name.size() + one.value.size() + 3;
    return sum;
  };
  while (cookies.size() > limits_.per_domain_max || bytes() > limits_.bytes_per_domain_max) {
    cookies.erase(cookies.begin());
  }
  if (cookies.empty()) domains_.erase(found);
}

void CookieJar::SetAll(const std::vector<std::string_view>& values, const Site& site,
                       Timestamp now) {
  for (const std::string_view value : values) {
    if (std::optional<Cookie> cookie = ParseSetCookie(value, site, now)) {
      Set(std::move(*cookie), now);
    }
  }
}

std::string CookieJar::HeaderFor(const Site& site, Timestamp now) const {
  std::vector<const Cookie*> chosen;
  const bool address = url::IsIpAddress(site.host);
  for (std::string_view domain = site.host; !domain.empty();) {
    if (const auto found = domains_.find(domain); found != domains_.end()) {
      for (const Cookie& cookie : found->second) {
        const bool fits = (!cookie.host_only || domain.size() == site.host.size()) &&
                          (!cookie.secure || site.secure) && !Expired(cookie, now) &&
                          PathMatches(site.path.empty() ? "/" : site.path, cookie.path);
        if (fits) chosen.push_back(&cookie);
      }
    }
    const std::size_t dot = domain.find('.');
    if (address || dot == std::string_view::npos) break;
    domain.remove_prefix(dot + 1);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const Cookie* a, const Cookie* b) {
    if (a->path.size() != b->path.size()) return a->path.size() > b->path.size();
    return a->created < b->created;
  });
  std::string header;
  for (const Cookie* const cookie : chosen) {
    if (!header.empty()) header += "; ";
    header.append(cookie->name).append("=").append(cookie->value);
  }
  return header;
}

std::size_t CookieJar::size() const {
  std::size_t count = 0;
  for (const auto& [domain, cookies] : domains_) count += cookies.size();
  return count;
}

std::vector<Cookie> CookieJar::Of(std::string_view domain) const {
  const auto found = domains_.find(domain);
  return found == domains_.end() ? std::vector<Cookie>() : found->second;
}

std::vector<Cookie> CookieJar::All() const {
  std::vector<Cookie> all;
  for (const auto& [domain, cookies] : domains_) {
    all.insert(all.end(), cookies.begin(), cookies.end());
  }
  return all;
}

}  // namespace stele::cookies
