#pragma once

#include <optional>
#include <string>

#include "net/ip_address.h"

namespace stele::access {

// Who looks, as far as access rules ask.
struct Viewer {
  std::string user;                       // empty: the public
  std::optional<net::IpAddress> address;  // where the client is, past proxies that we trust
};

}  // namespace stele::access
