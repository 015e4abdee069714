#include "access/origin.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/ascii.h"

namespace stele::access {
namespace {

// "localhost" of "localhost:8080", "[::1]" of "[::1]:8080"; empty where it is no host.
std::string_view HostOf(std::string_view header) {
  const std::size_t bracket = header.starts_with('[') ? header.find(']') : 0;
  if (bracket == std::string_view::npos) return "";
  const std::string_view host = header.substr(0, header.find(':', bracket));
  const bool good = std::all_of(host.begin(), host.end(), [](char c) {
    return IsAsciiAlnum(c) || c == '.' || c == '-' || c == '_' || c == ':' || c == '[' || c == ']';
  });
  return good ? host : "";
}

bool IsLocal(std::string_view host) {
  return EqualsIgnoreCase(host, "localhost") || host == "[::1]" ||
         AsciiLower(host).ends_with(".localhost") ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos);
}

}  // namespace

std::optional<Origins> Addresses::Of(const net::Request& request) const {
  const std::string_view header = request.head().headers.Find("Host").value_or("");
  const std::string_view host = HostOf(header);
  if (host.empty()) return std::nullopt;
  const std::string_view scheme = request.secure() ? "https" : "http";
  const auto made = [&](std::uint16_t port) {
    return port == 0 ? std::string() : fmt::format("{}://{}:{}", scheme, host, port);
  };
  const auto is_ours = [&](const std::string& origin) {
    const std::size_t at = origin.find("://");
    return at != std::string::npos && EqualsIgnoreCase(HostOf(origin.substr(at + 3)), host);
  };
  if (options_.local_only && !IsLocal(host) && !is_ours(options_.pages_origin) &&
      !is_ours(options_.replay_origin)) {
    return std::nullopt;
  }
  Origins origins;
  origins.pages = options_.pages_origin.empty() ? made(pages_port_) : options_.pages_origin;
  origins.replay = options_.replay_origin.empty() ? made(replay_port_) : options_.replay_origin;
  return origins;
}

}  // namespace stele::access
