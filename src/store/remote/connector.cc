#include "store/remote/connector.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <span>

#include "util/ascii.h"

// pugixml reads the syntax, leniently and without entities of its own; what it made of the bytes is
// then held against the schema, so that whatever it let pass is refused here.
namespace stele::store {
namespace {

constexpr std::size_t kHostLengthMax = 255;
constexpr int kDepthMax = 64;

bool IsHost(std::string_view host) {
  return !host.empty() && host.size() <= kHostLengthMax &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return IsAsciiAlnum(c) || c == '.' || c == '-' || c == '_' || c == ':';
         });
}

// A value as it is shown in an error: bounded, and without what could disturb a terminal.
std::string Shown(std::string_view value) {
  std::string shown(value.substr(0, 64));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return shown;
}

class Reader {
 public:
  explicit Reader(std::string_view xml) : xml_(xml) {}

  Result<Connector> Read() {
    if (xml_.size() > kConnectorSizeMax) {
      return Error{ErrorCode::kFull,
                   fmt::format("the connector has more than {} bytes", kConnectorSizeMax)};
    }
    if (const std::size_t nul = xml_.find('\0'); nul != std::string_view::npos) {
      return At(nul, "a zero byte");
    }
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(
        xml_.data(), xml_.size(),
        pugi::parse_default | pugi::parse_doctype | pugi::parse_fragment | pugi::parse_pi,
        pugi::encoding_utf8);
    if (!parsed) return At(static_cast<std::size_t>(parsed.offset), parsed.description());
    std::optional<pugi::xml_node> root;
    for (const pugi::xml_node node : document.children()) {
      if (node.type() != pugi::node_element || root) {
        return At(node, "only one element <connector> may stand here");
      }
      root = node;
    }
    if (!root) return At(0, "there is no element <connector>");
    return ReadRoot(*root);
  }

 private:
  Error At(std::size_t offset, std::string_view what) const {
    const auto end = xml_.begin() + static_cast<std::ptrdiff_t>(std::min(offset, xml_.size()));
    return {ErrorCode::kInvalid,
            fmt::format("connector, line {}: {}", 1 + std::count(xml_.begin(), end, '\n'), what)};
  }
  Error At(const pugi::xml_node& node, std::string_view what) const {
    return At(static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0)), what);
  }

  // Each attribute is known and stands once.
  Status CheckAttributes(const pugi::xml_node& node,
                         std::span<const std::string_view> known) const {
    std::set<std::string_view> seen;
    for (const pugi::xml_attribute attribute : node.attributes()) {
      const std::string_view name = attribute.name();
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        return At(node, fmt::format("<{}> has no attribute '{}'", node.name(), Shown(name)));
      }
      if (!seen.insert(name).second) {
        return At(node, fmt::format("attribute '{}' stands twice", name));
      }
    }
    return {};
  }

  Error Bad(const pugi::xml_node& node, const char* attribute, std::string_view wanted) const {
    const pugi::xml_attribute found = node.attribute(attribute);
    if (!found) return At(node, fmt::format("attribute '{}' is missing: {}", attribute, wanted));
    return At(node, fmt::format("{}=\"{}\" must be {}", attribute, Shown(found.value()), wanted));
  }

  Result<Connector> ReadRoot(const pugi::xml_node& root) const {
    if (std::string_view(root.name()) != "connector") {
      return At(root, fmt::format("<{}> instead of <connector>", Shown(root.name())));
    }
    constexpr std::string_view kKnown[] = {"version", "epoch", "signature", "placement"};
    const Status good = CheckAttributes(root, kKnown);
    if (!good) return good.error();
    if (std::string_view(root.attribute("version").value()) != "1") {
      return Bad(root, "version", "1, the only one known here");
    }
    Connector connector;
    const auto epoch = ParseDecimal(root.attribute("epoch").value());
    if (!epoch || *epoch == 0) return Bad(root, "epoch", "a number from 1");
    connector.epoch = *epoch;
    connector.signature = root.attribute("signature").as_string("sha256");
    if (SignatureFunctionByName(connector.signature) == nullptr) {
      return Bad(root, "signature", "sha256 or rabin64");
    }
    const auto placement = PlacementByName(root.attribute("placement").as_string("modulo"));
    if (!placement) return Bad(root, "placement", "modulo or rendezvous");
    connector.placement = *placement;
    const Status read = ReadVolumes(root, connector);
    if (!read) return read.error();
    return connector;
  }

  Status ReadVolumes(const pugi::xml_node& root, Connector& connector) const {
    std::set<std::string> names;
    for (const pugi::xml_node node : root.children()) {
      if (node.type() != pugi::node_element || std::string_view(node.name()) != "volume") {
        return At(node, "only elements <volume> may stand in <connector>");
      }
      if (connector.volumes.size() == kConnectorVolumesMax) {
        return Error{ErrorCode::kFull,
                     fmt::format("the connector has more than {} volumes", kConnectorVolumesMax)};
      }
      Result<Connector::VolumeAddress> volume = ReadVolume(node);
      if (!volume) return volume.error();
      if (!names.insert(volume->name).second) {
        return At(node, fmt::format("volume {} stands twice", volume->name));
      }
      connector.volumes.push_back(*std::move(volume));
    }
    if (connector.volumes.empty()) return At(root, "<connector> has no <volume>");
    return {};
  }

  Result<Connector::VolumeAddress> ReadVolume(const pugi::xml_node& node) const {
    constexpr std::string_view kKnown[] = {"name", "state", "depth", "host", "port", "tls"};
    const Status good = CheckAttributes(node, kKnown);
    if (!good) return good.error();
    if (node.first_child()) return At(node, "<volume> must be empty");
    Connector::VolumeAddress volume;
    volume.name = node.attribute("name").value();
    if (!IsVolumeName(volume.name)) return Bad(node, "name", "1 to 64 of a-z, 0-9, - and _");
    const auto state = VolumeStateByName(node.attribute("state").value());
    if (!state || *state == VolumeState::kFull) {
      return Bad(node, "state", "writable, read-only or frozen");
    }
    volume.state = *state;
    const auto depth = ParseDecimal(node.attribute("depth").value());
    if (!depth || *depth < 1 || *depth > kDepthMax) return Bad(node, "depth", "from 1 to 64");
    volume.depth = static_cast<int>(*depth);
    volume.host = node.attribute("host").value();
    if (!IsHost(volume.host)) return Bad(node, "host", "a host name or an IP address");
    const auto port = ParseDecimal(node.attribute("port").value());
    if (!port || *port < 1 || *port > 65535) return Bad(node, "port", "from 1 to 65535");
    volume.port = static_cast<std::uint16_t>(*port);
    const std::string_view tls = node.attribute("tls").as_string("false");
    if (tls != "true" && tls != "false") return Bad(node, "tls", "true or false");
    volume.tls = tls == "true";
    return volume;
  }

  const std::string_view xml_;
};

}  // namespace

Composition Connector::composition() const {
  Composition composition{epoch, signature, placement, {}};
  for (const VolumeAddress& volume : volumes) composition.volumes.push_back(volume.name);
  return composition;
}

Result<Connector> ParseConnector(std::string_view xml) { return Reader(xml).Read(); }

std::string FormatConnector(const Connector& connector) {
  // No value that can be read has a character that XML would want escaped.
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<connector version=\"1\" epoch=\"{}\" signature=\"{}\" placement=\"{}\">\n",
      connector.epoch, connector.signature, PlacementName(connector.placement));
  for (const Connector::VolumeAddress& volume : connector.volumes) {
    xml +=
        fmt::format("  <volume name=\"{}\" state=\"{}\" depth=\"{}\" host=\"{}\" port=\"{}\"{}/>\n",
                    volume.name, VolumeStateName(volume.state), volume.depth, volume.host,
                    volume.port, volume.tls ? " tls=\"true\"" : "");
  }
  return xml + "</connector>\n";
}

}  // namespace stele::store
