#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "util/result.h"

namespace stele::crawl {

// The hosts that one of several nodes crawls. Each host has one owner, whichever node asks, and
// where there is a node more, hosts move to that one only. docs/crawling.md, "Several nodes".
struct HostShare {
  std::uint32_t node = 1;  // this one
  std::uint32_t nodes = 1;

  static constexpr std::uint32_t kNodesMax = 1'000;
  // "2/4": the second of four. Errors: kInvalid.
  static Result<HostShare> Parse(std::string_view text);
  std::string Text() const;

  bool is_all() const { return nodes == 1; }
  // From 1 to `nodes`. A host has the owner of its namesake with "www." before it.
  std::uint32_t OwnerOf(std::string_view host) const;
  bool Owns(std::string_view host) const { return is_all() || OwnerOf(host) == node; }

  // What scope.log says about a URL that belongs to this node.
  static std::string ReasonFor(std::uint32_t owner);

  friend bool operator==(const HostShare&, const HostShare&) = default;
};

}  // namespace stele::crawl
