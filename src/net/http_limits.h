#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace stele::net {

// What one client may ask of the server. docs/net.md explains each.
struct HttpLimits {
  std::size_t head_size_max = std::size_t{64} << 10;
  std::uint64_t body_size_max = std::uint64_t{64} << 20;
  // Kept in memory per connection: a body up to this size is complete before the handler is called.
  std::size_t body_buffer = std::size_t{64} << 10;
  // Kept in memory per connection, up to three times: a response up to this size never makes its
  // handler wait.
  std::size_t output_buffer = std::size_t{256} << 10;
  // A body that the handler did not read is read and dropped up to this; beyond it the connection
  // is closed.
  std::size_t drain_max = std::size_t{256} << 10;

  std::chrono::milliseconds idle_timeout{60'000};  // between requests
  std::chrono::milliseconds head_timeout{15'000};  // from the first byte of a head to its last
  // A client that sends a body or takes a response may pause this long in all, and earns
  // pauses by what it transfers: a second for each `transfer_rate_min` bytes.
  std::chrono::milliseconds transfer_timeout{30'000};
  std::uint64_t transfer_rate_min = 1024;           // bytes per second
  std::chrono::milliseconds linger_timeout{2'000};  // for a client to take the last response
};

}  // namespace stele::net
