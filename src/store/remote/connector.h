#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/composition.h"
#include "store/volume.h"
#include "util/result.h"

namespace stele::store {

// What a client knows of an instance: its volumes, in their order, and where they are served. An
// XML file that people edit; docs/formats/connector.md.
struct Connector {
  struct VolumeAddress {
    std::string name;
    // What the client heeds even where the server's state would allow more.
    VolumeState state = VolumeState::kWritable;
    int depth = 3;     // of the tree, from 1 to 64; for people: clients have no use for it
    std::string host;  // a name or an address, IPv6 without brackets
    std::uint16_t port = 0;
    bool tls = false;

    friend bool operator==(const VolumeAddress&, const VolumeAddress&) = default;
  };

  std::uint64_t epoch = 1;  // from 1; rises with each change of the composition
  std::string signature = "sha256";
  Placement placement = Placement::kModulo;
  std::vector<VolumeAddress> volumes;  // one at least, names all different

  Composition composition() const;

  friend bool operator==(const Connector&, const Connector&) = default;
};

inline constexpr std::size_t kConnectorSizeMax = std::size_t{1} << 20;
inline constexpr std::size_t kConnectorVolumesMax = 4096;

// Strict: elements, attributes and values that are not known are errors.
// Errors: kInvalid, with the line and what is wrong there; kFull beyond the limits above.
Result<Connector> ParseConnector(std::string_view xml);

// What ParseConnector() reads as the same connector. Requires: that it can be read, so no state
// kFull, valid names, one volume at least.
std::string FormatConnector(const Connector& connector);

}  // namespace stele::store
