#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codec/codec.h"

namespace stele::catalog {

// A page as it was written. It stays as long as somebody holds it.
using Page = std::shared_ptr<const std::string>;

// Pages that were read lately, of all files that share the cache, up to a number of bytes; and the
// decoders that readers use in turn. Thread-safe.
class PageCache {
 public:
  explicit PageCache(std::size_t bytes_max);

  // A number for the pages of one open file; never given twice.
  std::uint64_t NewFile() { return ++files_; }

  // Null when it is not there.
  Page Find(std::uint64_t file, std::uint32_t page);
  // May drop others, the least recently used first.
  void Insert(std::uint64_t file, std::uint32_t page, Page content);
  // Forgets the pages of a file that is closed.
  void Forget(std::uint64_t file, std::uint32_t pages);

  std::size_t bytes() const;

  // A decoder for zstd, to be given back.
  std::unique_ptr<codec::Decoder> BorrowDecoder();
  void GiveBack(std::unique_ptr<codec::Decoder> decoder);

 private:
  struct Key {
    std::uint64_t file;
    std::uint32_t page;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  using Recent = std::list<std::pair<Key, Page>>;  // the most recently used first
  struct Shard {
    mutable std::mutex mutex;
    Recent recent;
    std::unordered_map<Key, Recent::iterator, KeyHash> places;
    std::size_t bytes = 0;
  };

  Shard& ShardOf(const Key& key);
  static void Drop(Shard& shard, Recent::iterator place);

  static constexpr std::size_t kShards = 8;

  const std::size_t shard_bytes_max_;
  std::atomic<std::uint64_t> files_ = 0;
  std::array<Shard, kShards> shards_;
  std::mutex decoders_mutex_;
  std::vector<std::unique_ptr<codec::Decoder>> decoders_;
};

}  // namespace stele::catalog
