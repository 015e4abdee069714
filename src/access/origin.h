#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "access/call.h"
#include "net/http_handler.h"

namespace stele::access {

// How browsers reach the two servers. docs/access.md, "Two origins".
class Addresses {
 public:
  struct Options {
    // Behind a proxy: what browsers see. Empty: the host that they ask for, with our ports.
    std::string pages_origin;
    std::string replay_origin;
    // We listen on this machine only; then other host names are refused, so that no site on the web
    // can make a browser take us for itself.
    bool local_only = true;
  };
  explicit Addresses(Options options) : options_(std::move(options)) {}

  // Known when the servers are open; 0: there is no such server.
  void SetPorts(std::uint16_t pages, std::uint16_t replay) {
    pages_port_ = pages;
    replay_port_ = replay;
  }

  // Nothing for a Host header that is none, or not ours.
  std::optional<Origins> Of(const net::Request& request) const;

 private:
  const Options options_;
  std::atomic<std::uint16_t> pages_port_ = 0;
  std::atomic<std::uint16_t> replay_port_ = 0;
};

}  // namespace stele::access
