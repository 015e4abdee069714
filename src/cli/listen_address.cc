#include "cli/listen_address.h"

#include <fmt/format.h>

#include <limits>

#include "util/ascii.h"

namespace stele::cli {

bool SetListenAddress(const std::string& listen, net::HttpServerOptions& options) {
  const std::size_t colon = listen.rfind(':');
  if (colon == std::string::npos) return false;
  const auto port = ParseDecimal(std::string_view(listen).substr(colon + 1));
  std::string_view host = std::string_view(listen).substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  if (!port || *port > std::numeric_limits<std::uint16_t>::max() || host.empty()) return false;
  options.address = host;
  options.port = static_cast<std::uint16_t>(*port);
  return true;
}

bool IsLoopback(std::string_view address) {
  return address == "::1" || address.starts_with("127.");
}

std::string OriginOf(const net::HttpServerOptions& options, std::uint16_t port) {
  const bool is_ipv6 = options.address.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", options.certificate_file.empty() ? "http" : "https",
                     is_ipv6 ? "[" : "", options.address, is_ipv6 ? "]" : "", port);
}

}  // namespace stele::cli
