#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/capture.h"

namespace stele::archive {

// "example.org:8080" for the key "org,example:8080)/a"; empty for a key without a host.
std::string HostOfKey(std::string_view key);

struct HostCount {
  std::string host;
  std::uint64_t captures = 0;
  std::uint64_t pages = 0;
  std::uint64_t bytes = 0;  // of payloads

  friend bool operator==(const HostCount&, const HostCount&) = default;
};

// Counts captures by host, and keeps the hosts with most of them. Memory for these alone: captures
// come in the order of keys. Not thread-safe.
class HostTally {
 public:
  enum class By { kCaptures, kPages };
  HostTally(std::size_t kept, By by) : kept_(kept), by_(by) {}

  // Requires: keys in rising order.
  void Add(std::string_view key, const catalog::Capture& capture);
  // The largest first. Nothing may be added after that.
  std::vector<HostCount> Largest();
  // That were seen, in all.
  std::uint64_t hosts() const { return hosts_; }

 private:
  void EndHost();
  std::uint64_t SizeOf(const HostCount& host) const;

  const std::size_t kept_;
  const By by_;
  std::string part_;  // of the keys of the current host
  HostCount current_;
  std::vector<HostCount> largest_;
  std::uint64_t hosts_ = 0;
};

}  // namespace stele::archive
