#pragma once

#include <string>
#include <string_view>

#include "net/http_server.h"

namespace stele::cli {

// "127.0.0.1:80", "localhost:80" or "[::1]:80". False for others.
bool SetListenAddress(const std::string& listen, net::HttpServerOptions& options);

// Whether only this machine reaches it.
bool IsLoopback(std::string_view address);

// "http://127.0.0.1:80", "https://[::1]:80".
std::string OriginOf(const net::HttpServerOptions& options, std::uint16_t port);

}  // namespace stele::cli
