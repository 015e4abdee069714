#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "net/fetch_stream.h"

namespace stele::net {

// Whom a connection leads to.
struct StreamKey {
  Endpoint endpoint;
  std::optional<FetchProxy> proxy;

  auto operator<=>(const StreamKey&) const = default;
  bool operator==(const StreamKey&) const = default;
};

struct KeptStream {
  std::shared_ptr<FetchStream> stream;
  std::optional<IpAddress> address;  // nothing behind a proxy
  std::vector<IpAddress> addresses;
};

// Connections between two fetches. All calls on the loop's thread.
class IdleStreams {
 public:
  struct Limits {
    std::size_t per_host_max;
    std::size_t all_max;
    std::chrono::milliseconds time_max;
  };
  using Moment = std::chrono::steady_clock::time_point;

  explicit IdleStreams(const Limits& limits) : limits_(limits) {}

  void Keep(const StreamKey& key, KeptStream kept);
  // The one used last, if it seems alive; nothing when there is none. `private_addresses`: as in
  // FetchRequest.
  std::optional<KeptStream> Take(const StreamKey& key, bool private_addresses);
  // Closes what has waited too long.
  void Sweep(Moment now);
  void Clear();

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    StreamKey key;
    KeptStream kept;
    Moment since;
  };
  using Entries = std::list<Entry>;

  void Drop(Entries::iterator entry);

  const Limits limits_;
  Entries entries_;                                             // the oldest first
  std::map<StreamKey, std::vector<Entries::iterator>> by_key_;  // likewise
};

}  // namespace stele::net
