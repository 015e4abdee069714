#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "access/capture_content.h"
#include "catalog/capture_id.h"

namespace stele::access {

// Small payloads that were read and compared with their digests since the archive was looked at
// last: what many ask for is inflated and hashed once. Thread-safe.
class RecentPayloads {
 public:
  static constexpr std::size_t kPayloadBytesMax = 64 << 10;  // of one
  static constexpr std::size_t kBytesMax = 16 << 20;         // of all

  struct Entry {
    ArchivedHead head;
    std::vector<std::string> codings;  // of the content; the one applied last is last
    std::string payload;
  };

  // Null where it is not kept.
  std::shared_ptr<const Entry> Find(const catalog::CaptureId& id) const;
  // As long as there is room. Requires: entry.payload.size() <= kPayloadBytesMax.
  void Keep(const catalog::CaptureId& id, Entry entry);

 private:
  mutable std::mutex mutex_;
  std::map<catalog::CaptureId, std::shared_ptr<const Entry>> entries_;
  std::size_t bytes_ = 0;
};

}  // namespace stele::access
