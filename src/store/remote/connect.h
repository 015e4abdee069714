#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "net/http_client.h"
#include "store/instance.h"
#include "store/remote/connector.h"

namespace stele::store {

struct ConnectOptions {
  std::string token = {};    // sent to all volumes; empty: none
  std::string ca_file = {};  // PEM, for volumes with TLS; empty: the system's authorities
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds read_timeout{30'000};
  std::chrono::milliseconds total_timeout{600'000};
  std::chrono::milliseconds down_time{5'000};  // as Instance::Options
  std::chrono::milliseconds lag_time{5'000};   // as Instance::Options
  // Where contents that can be read only once wait: as Instance::Options.
  io::FileSystem* fs = nullptr;
  std::string temporary_directory = {};
  std::uint64_t memory_bytes_max = 1 << 20;
};

// An instance whose volumes are served elsewhere. Use it as any other.
struct RemoteStore {
  Connector connector;  // as it was given; the instance may know a newer one by now
  std::unique_ptr<net::HttpClient> client;  // the instance borrows it
  std::unique_ptr<Instance> instance;
};

// Opens no connection yet: a volume that is down costs only its own contents.
// Errors: those of ParseConnector(); kInvalid for a CA file that cannot be used.
Result<RemoteStore> Connect(std::string_view connector_xml, const ConnectOptions& options);

// The same with the connector in a file. Errors name the file.
Result<RemoteStore> ConnectFile(io::FileSystem& fs, const std::string& connector_file,
                                const ConnectOptions& options);

}  // namespace stele::store
