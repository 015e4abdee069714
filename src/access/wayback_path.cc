#include "access/wayback_path.h"

#include <algorithm>

#include "catalog/location_query.h"
#include "formats/url/percent.h"
#include "util/ascii.h"

namespace stele::access {
namespace {

constexpr std::size_t kDigitsMax = 17;
constexpr std::size_t kYearDigits = 4;
constexpr std::size_t kModifierMax = 8;

// Schemes whose URLs have no "//".
constexpr std::string_view kPlainSchemes[] = {
    "dns:", "urn:", "whois:", "mailto:", "screenshot:", "filedesc:", "warcinfo:"};

std::string_view TakeDigits(std::string_view& rest) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), IsAsciiDigit);
  const std::string_view digits = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(digits.size());
  return digits;
}

bool IsTime(std::string_view digits) {
  if (digits.size() < kYearDigits) return true;
  return digits.size() <= kDigitsMax && ParseDigits(digits).has_value();
}

// "id_"; nothing is taken where none stands there.
std::string_view TakeModifier(std::string_view& rest) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), IsAsciiLower);
  const auto letters = static_cast<std::size_t>(end - rest.begin());
  if (letters == 0 || letters > kModifierMax || letters + 1 >= rest.size()) return "";
  if (rest[letters] != '_' || rest[letters + 1] != '/') return "";
  const std::string_view modifier = rest.substr(0, letters + 1);
  rest.remove_prefix(letters + 1);
  return modifier;
}

// The end of a scheme such as "http:"; 0 where there is none. "a.org:80" has none.
std::size_t SchemeEnd(std::string_view text) {
  for (const std::string_view plain : kPlainSchemes) {
    if (StartsWithIgnoreCase(text, plain)) return plain.size();
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || !IsAsciiAlpha(text[0])) return 0;
  if (colon + 1 >= text.size() || text[colon + 1] != '/') return 0;
  const std::string_view scheme = text.substr(0, colon);
  const bool good = std::all_of(scheme.begin(), scheme.end(),
                                [](char c) { return IsAsciiAlnum(c) || c == '+' || c == '-'; });
  return good ? colon + 1 : 0;
}

}  // namespace

std::string AbsoluteUrl(std::string_view text) {
  std::string decoded;
  if (StartsWithIgnoreCase(text, "http%3A") || StartsWithIgnoreCase(text, "https%3A")) {
    decoded = url::PercentDecode(text);
    text = decoded;
  }
  text = TrimSpace(text);
  const bool bad = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  if (bad) return "";
  const std::size_t scheme = SchemeEnd(text);
  if (scheme == 0) {
    text.remove_prefix(std::min(text.find_first_not_of('/'), text.size()));
    return text.empty() ? "" : "http://" + std::string(text);
  }
  // A proxy on the way may have joined the slashes.
  const bool one_slash = text.size() > scheme && text[scheme] == '/' &&
                         (text.size() == scheme + 1 || text[scheme + 1] != '/');
  std::string absolute(text.substr(0, scheme));
  if (one_slash) absolute += '/';
  absolute += text.substr(scheme);
  return absolute.size() > scheme + 2 ? absolute : "";
}

std::string DomainOf(std::string_view text) {
  const std::string url = AbsoluteUrl(text);
  std::string_view rest = url;
  rest.remove_prefix(SchemeEnd(url));
  constexpr std::string_view kMark = "//*.";
  if (!rest.starts_with(kMark)) return "";
  rest.remove_prefix(kMark.size());
  return AsciiLower(rest.substr(0, rest.find_first_of("/*?#")));
}

Timestamp MomentOf(std::string_view digits) {
  if (digits.empty()) return catalog::kTimeEnd;
  std::string padded(digits);
  while (padded.size() < kYearDigits) padded += '9';
  return ParseDigits(padded).value_or(catalog::kTimeEnd);
}

std::optional<WaybackPath> ParseWaybackPath(std::string_view rest) {
  WaybackPath path;
  std::string_view after = rest;
  const std::string_view digits = TakeDigits(after);
  const bool is_query = after.starts_with('*') || (after.starts_with('-') && !digits.empty());
  if (is_query) {
    after.remove_prefix(1);
    const std::string_view until = TakeDigits(after);
    if (!after.starts_with('/') || !IsTime(digits) || !IsTime(until)) return std::nullopt;
    after.remove_prefix(1);
    path.digits = digits;
    path.until = until;
    if (const std::string domain = DomainOf(after); !domain.empty()) {
      path.kind = WaybackPath::Kind::kHosts;
      path.url = "*." + domain;
      return path;
    }
    path.kind = WaybackPath::Kind::kCaptures;
    if (after.ends_with('*')) {
      after.remove_suffix(1);
      path.kind = WaybackPath::Kind::kPrefix;
    }
  } else {
    const std::string_view modifier = TakeModifier(after);
    if ((digits.empty() && modifier.empty()) || !after.starts_with('/')) {
      after = rest;  // all of it is a URL
    } else {
      if (!IsTime(digits)) return std::nullopt;
      after.remove_prefix(1);
      path.kind = WaybackPath::Kind::kCapture;
      path.digits = digits;
      path.modifier = modifier;
    }
  }
  path.url = AbsoluteUrl(after);
  if (path.url.empty()) return std::nullopt;
  return path;
}

}  // namespace stele::access
