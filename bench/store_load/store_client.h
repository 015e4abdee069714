#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "store/volume.h"
#include "util/result.h"

// What the load generator puts under load: one contender, as one client sees it.
namespace stele::bench {

// A client with connections of its own, for one thread. Everything that succeeded is durable.
class StoreClient {
 public:
  virtual ~StoreClient() = default;

  // Opens the connections, so that no operation pays for it.
  virtual Status Connect() = 0;
  // Returns where the content lies, for Retrieve() and Delete(), and whether a block was made.
  struct Kept {
    std::string key;     // of the contender's own kind
    std::string volume;  // the part of a key that names a volume; empty where there is none
    bool is_new = true;
  };
  // `page` differs between contents, `operation` between calls.
  virtual Result<Kept> Store(std::string_view content, std::size_t page,
                             const std::string& operation) = 0;
  // Checks the bytes: against the signature in the key, or against `sha256` where a key has none.
  virtual Status Retrieve(const std::string& key, const store::Signature& sha256) = 0;
  virtual Status Delete(const std::string& key, const std::string& operation) = 0;
};

// What may change between two operations. Read by all clients.
struct StoreManner {
  store::StoreMode mode = store::StoreMode::kRegular;
  // The client deals contents out to the volumes in turn, so that nothing is searched elsewhere.
  bool choose_volume = false;
};

struct SteleTarget {
  std::string connector_file;
  const StoreManner& manner;
};
std::unique_ptr<StoreClient> NewSteleClient(const SteleTarget& target);

struct NfsTarget {
  std::string url;  // libnfs's kind, of a directory; files lie in it directly
};
// Null where this program was built without libnfs.
std::unique_ptr<StoreClient> NewNfsClient(const NfsTarget& target);

}  // namespace stele::bench
