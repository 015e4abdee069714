#include "formats/url/surt.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "formats/url/surt_parts.h"
#include "util/ascii.h"

// The URL is cut apart the lenient way of the Wayback tools, not the way of browsers: no scheme
// means http, "http:/host" and "http:host" have lost their slashes, and a scheme without "//" is
// opaque. Then host, path and query are canonicalised each for itself (surt_host.cc, surt_path.cc)
// and put together again as "reversed,host:port)/path?query".
namespace stele::url {
namespace {

struct Pieces {
  std::string_view scheme;
  std::string_view host;
  std::string_view path;
  std::string_view query;
  unsigned port = 0;  // 0: none
};

bool IsTabOrNewline(char c) { return c == '\t' || c == '\n' || c == '\r'; }

// Trimmed, without tabs and line breaks; `buffer` holds the result where something had to go.
std::string_view Clean(std::string_view url, std::string& buffer) {
  url = TrimSpace(url);
  if (std::none_of(url.begin(), url.end(), IsTabOrNewline)) return url;
  for (char c : url) {
    if (!IsTabOrNewline(c)) buffer.push_back(c);
  }
  return buffer;
}

// The length of "scheme" in "scheme:rest", or 0.
std::size_t SchemeLength(std::string_view url) {
  if (url.empty() || !IsAsciiAlpha(url[0])) return 0;
  for (std::size_t i = 1; i < url.size(); ++i) {
    const char c = url[i];
    if (c == ':') return i;
    if (!IsAsciiAlnum(c) && c != '+' && c != '-' && c != '.') return 0;
  }
  return 0;
}

// "http://https://host" is "https://host".
std::string_view WithoutOuterScheme(std::string_view url) {
  for (;;) {
    const std::size_t outer = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
    if (outer == 0) return url;
    const std::string_view inner = url.substr(outer);
    if (!inner.starts_with("http://") && !inner.starts_with("https://")) return url;
    url = inner;
  }
}

// "user@host:port" or "user@[v6]:port". False where the port is no number below 65536.
bool CutAuthority(std::string_view authority, Pieces& pieces) {
  authority.remove_prefix(authority.rfind('@') + 1);
  while (authority.ends_with(':')) authority.remove_suffix(1);
  std::string_view port;
  const std::size_t bracket = authority.find('[');
  if (bracket != authority.npos) {
    authority.remove_prefix(bracket + 1);
    const std::size_t close = std::min(authority.find(']'), authority.size());
    const std::size_t colon = authority.find(':', close);
    if (colon != authority.npos) port = authority.substr(colon + 1);
    pieces.host = authority.substr(0, close);
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    pieces.host = authority.substr(0, colon);
    if (colon < authority.size()) port = authority.substr(colon + 1);
  }
  if (port.empty()) return true;
  const std::optional<std::uint64_t> number = ParseDecimal(port);
  if (!number || *number > 65535) return false;
  pieces.port = static_cast<unsigned>(*number);
  return true;
}

// What stands before the first `mark`, and all from it on.
std::pair<std::string_view, std::string_view> SplitBefore(std::string_view text, char mark) {
  std::size_t at = 0;
  while (at < text.size() && text[at] != mark) ++at;
  return {text.substr(0, at), text.substr(at)};
}

std::optional<Pieces> Cut(std::string_view url) {
  Pieces pieces;
  url = WithoutOuterScheme(url);
  std::string_view rest = url;
  const std::size_t scheme = SchemeLength(url);
  bool authority = true;
  if (scheme > 0) {
    pieces.scheme = url.substr(0, scheme);
    rest = url.substr(scheme + 1);
    authority = rest.starts_with("//");
    if (authority) rest = rest.substr(2);
  } else {
    pieces.scheme = "http";
  }
  const auto [before_query, query] = SplitBefore(SplitBefore(rest, '#').first, '?');
  if (!query.empty()) pieces.query = query.substr(1);
  pieces.path = before_query;
  if (authority) {
    const auto [host_and_port, path] = SplitBefore(before_query, '/');
    pieces.path = path;
    if (!CutAuthority(host_and_port, pieces)) return std::nullopt;
  }
  // Slashes too few or too many: "http:/host/path", "http:///host/path". What looks like a port or
  // a user here is taken as part of the host.
  const bool http = pieces.scheme == "http" || pieces.scheme == "https";
  if (pieces.host.empty() && http && !pieces.path.empty()) {
    const std::size_t begin = std::min(pieces.path.find_first_not_of('/'), pieces.path.size());
    std::tie(pieces.host, pieces.path) = SplitBefore(pieces.path.substr(begin), '/');
    if (pieces.path.empty()) pieces.path = "/";
  }
  return pieces;
}

bool IsDefaultPort(std::string_view scheme, unsigned port) {
  return (port == 80 && EqualsIgnoreCase(scheme, "http")) ||
         (port == 443 && EqualsIgnoreCase(scheme, "https"));
}

std::string CanonicalPath(std::string_view raw, bool has_host) {
  std::string buffer;
  std::string_view unescaped = surt::UnescapeRepeatedly(raw, buffer);
  if (has_host) unescaped = surt::NormalizePath(unescaped, buffer);
  std::string path;
  surt::AppendEscapedLower(path, unescaped);
  surt::StripPathSessionIds(path);
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string CanonicalQuery(std::string_view raw) {
  std::string query;
  if (raw.empty()) return query;
  std::string buffer;
  surt::AppendEscapedLower(query, surt::UnescapeRepeatedly(raw, buffer));
  surt::StripQuerySessionIds(query);
  return query;
}

// Only what would break a line of an index is escaped.
std::string KeepAsIs(std::string_view url, bool lower) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string key;
  for (char c : url) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F) {
      key.push_back(lower ? ToAsciiLower(c) : c);
    } else {
      key.push_back('%');
      key.push_back(kHex[byte >> 4]);
      key.push_back(kHex[byte & 15]);
    }
  }
  return key;
}

}  // namespace

std::string SurtKey(std::string_view url) {
  if (url.starts_with("filedesc")) return KeepAsIs(url, false);
  std::string buffer;
  url = Clean(url, buffer);
  if (url.empty()) return "-";
  const std::optional<Pieces> pieces = Cut(url);
  if (!pieces) return KeepAsIs(url, true);

  std::string key;
  key.reserve(url.size() + 8);
  const std::string host = surt::CanonicalHost(pieces->host);
  if (host.empty()) {
    key += pieces->scheme;
    key.push_back(':');
  } else {
    surt::AppendReversedHost(key, host);
    if (pieces->port != 0 && !IsDefaultPort(pieces->scheme, pieces->port)) {
      key.push_back(':');
      key += std::to_string(pieces->port);
    }
    key.push_back(')');
  }
  const std::string path = CanonicalPath(pieces->path, !host.empty());
  const std::string query = CanonicalQuery(pieces->query);
  key += path;
  if (query.empty()) return key;
  key += path.empty() ? "/?" : "?";
  surt::AppendSortedArguments(key, query);
  return key;
}

std::string SurtHost(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  std::string key;
  surt::AppendReversedHost(key, surt::CanonicalHost(host));
  return key;
}

}  // namespace stele::url
