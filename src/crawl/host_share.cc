// Every node bids for a host, with a number that depends on both alone; the highest bid has it.
#include "crawl/host_share.h"

#include <fmt/format.h>

#include "util/ascii.h"
#include "util/checksum.h"

namespace stele::crawl {

Result<HostShare> HostShare::Parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto node = ParseDecimal(text.substr(0, slash));
    const auto nodes = ParseDecimal(text.substr(slash + 1));
    if (node && nodes && *node >= 1 && *node <= *nodes && *nodes <= kNodesMax) {
      return HostShare{static_cast<std::uint32_t>(*node), static_cast<std::uint32_t>(*nodes)};
    }
  }
  return Error{
      ErrorCode::kInvalid,
      fmt::format("{} is no share; write for example 2/4, for the second of four nodes ({} "
                  "at most)",
                  text, kNodesMax)};
}

std::string HostShare::Text() const { return fmt::format("{}/{}", node, nodes); }

std::uint32_t HostShare::OwnerOf(std::string_view host) const {
  constexpr std::string_view kWww = "www.";
  if (host.starts_with(kWww)) host.remove_prefix(kWww.size());
  std::uint32_t owner = 1;
  std::uint64_t highest = ChecksumOf(host, owner);
  for (std::uint32_t other = 2; other <= nodes; ++other) {
    const std::uint64_t bid = ChecksumOf(host, other);
    if (bid <= highest) continue;
    highest = bid;
    owner = other;
  }
  return owner;
}

std::string HostShare::ReasonFor(std::uint32_t owner) { return fmt::format("node {}", owner); }

}  // namespace stele::crawl
