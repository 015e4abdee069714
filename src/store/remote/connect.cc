#include "store/remote/connect.h"

#include <fmt/format.h>

#include <utility>

#include "store/remote/remote_volume.h"

namespace stele::store {

namespace {

// There, compressing and decompressing costs more than it saves.
bool IsThisMachine(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Borrows the client.
std::vector<std::unique_ptr<MemberVolume>> VolumesOf(const Connector& connector,
                                                     net::HttpClient& client,
                                                     const ConnectOptions& options) {
  const std::shared_ptr<const SignatureFunction> signature =
      SignatureFunctionByName(connector.signature);
  std::vector<std::unique_ptr<MemberVolume>> volumes;
  for (const Connector::VolumeAddress& address : connector.volumes) {
    RemoteVolume::Options volume;
    volume.name = address.name;
    volume.endpoint = {address.tls, address.host, address.port};
    volume.token = options.token;
    volume.state = address.state;
    volume.signature = signature;
    volume.total_timeout = options.total_timeout;
    volume.packs = !IsThisMachine(address.host);
    volumes.push_back(std::make_unique<RemoteVolume>(client, std::move(volume)));
  }
  return volumes;
}

}  // namespace

Result<RemoteStore> Connect(std::string_view connector_xml, const ConnectOptions& options) {
  Result<Connector> connector = ParseConnector(connector_xml);
  if (!connector) return connector.error();
  net::HttpClientOptions client_options;
  client_options.connect_timeout = options.connect_timeout;
  client_options.read_timeout = options.read_timeout;
  client_options.total_timeout = options.total_timeout;
  client_options.ca_file = options.ca_file;
  Result<std::unique_ptr<net::HttpClient>> client = net::HttpClient::Open(client_options);
  if (!client) return client.error();

  Instance::Options instance_options;
  instance_options.signature = SignatureFunctionByName(connector->signature);
  instance_options.fs = options.fs;
  instance_options.temporary_directory = options.temporary_directory;
  instance_options.memory_bytes_max = options.memory_bytes_max;
  instance_options.down_time = options.down_time;
  instance_options.lag_time = options.lag_time;
  instance_options.recompose = [options, signature = connector->signature, &network = **client](
                                   const Membership& newer) -> Result<Instance::Composed> {
    const Result<Connector> next = ParseConnector(newer.connector);
    if (!next) return next.error();
    if (next->composition() != newer.composition || next->signature != signature) {
      return Error{ErrorCode::kCorrupt,
                   "a server sent a connector that is not that of its composition"};
    }
    return Instance::Composed{newer.composition, newer.connector,
                              VolumesOf(*next, network, options)};
  };
  auto instance = std::make_unique<Instance>(
      Instance::Composed{connector->composition(), std::string(connector_xml),
                         VolumesOf(*connector, **client, options)},
      std::move(instance_options));
  return RemoteStore{*std::move(connector), *std::move(client), std::move(instance)};
}

Result<RemoteStore> ConnectFile(io::FileSystem& fs, const std::string& connector_file,
                                const ConnectOptions& options) {
  const Result<std::string> xml = io::ReadFile(fs, connector_file);
  if (!xml) return xml.error();
  Result<RemoteStore> store = Connect(*xml, options);
  if (!store) {
    return Error{store.error().code, fmt::format("{}: {}", connector_file, store.error().text)};
  }
  return store;
}

}  // namespace stele::store
