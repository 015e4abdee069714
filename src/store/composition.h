#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/signature.h"

namespace stele::store {

// Which volume is the home of a signature, and which is next when that one is gone.
enum class Placement : std::uint8_t {
  kModulo,      // signature mod n, then the next in order, as in the Webstore paper
  kRendezvous,  // by a hash of volume and signature: a new volume takes over 1/n, not nearly all
};

std::string_view PlacementName(Placement placement);  // "modulo" or "rendezvous"
std::optional<Placement> PlacementByName(std::string_view name);

// What all who use an instance must agree upon, so that they look for a content at the same place.
// A value.
struct Composition {
  std::uint64_t epoch = 0;           // rises with each change of what stands below
  std::string signature = "sha256";  // the name of the function
  Placement placement = Placement::kModulo;
  std::vector<std::string> volumes = {};  // one at least, names all different

  // The places in `volumes`: the home of a signature, and all in the order in which they stand in
  // for it.
  std::size_t HomeOf(const Signature& of) const;
  std::vector<std::size_t> OrderFor(const Signature& of) const;

  // Is this volume the home?
  bool IsHome(std::string_view volume, const Signature& of) const {
    return volumes[HomeOf(of)] == volume;
  }

  friend bool operator==(const Composition&, const Composition&) = default;
};

}  // namespace stele::store
