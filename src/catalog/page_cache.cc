#include "catalog/page_cache.h"

#include "codec/zstd_codec.h"

namespace stele::catalog {
namespace {

constexpr std::size_t kEntryOverhead = 128;  // what the tables take for a page, about
constexpr std::size_t kIdleDecodersMax = 8;

}  // namespace

PageCache::PageCache(std::size_t bytes_max) : shard_bytes_max_(bytes_max / kShards) {}

std::size_t PageCache::KeyHash::operator()(const Key& key) const {
  return (key.file * 0x9E37'79B9'7F4A'7C15 + key.page) * 0xD6E8'FEB8'6659'FD93 >> 16;
}

PageCache::Shard& PageCache::ShardOf(const Key& key) { return shards_[KeyHash()(key) % kShards]; }

Page PageCache::Find(std::uint64_t file, std::uint32_t page) {
  const Key key{file, page};
  Shard& shard = ShardOf(key);
  const std::scoped_lock lock(shard.mutex);
  const auto place = shard.places.find(key);
  if (place == shard.places.end()) return nullptr;
  shard.recent.splice(shard.recent.begin(), shard.recent, place->second);
  return place->second->second;
}

void PageCache::Drop(Shard& shard, Recent::iterator place) {
  shard.bytes -= place->second->size() + kEntryOverhead;
  shard.places.erase(place->first);
  shard.recent.erase(place);
}

void PageCache::Insert(std::uint64_t file, std::uint32_t page, Page content) {
  const Key key{file, page};
  const std::size_t size = content->size() + kEntryOverhead;
  Shard& shard = ShardOf(key);
  const std::scoped_lock lock(shard.mutex);
  if (size > shard_bytes_max_ || shard.places.contains(key)) return;
  while (shard.bytes + size > shard_bytes_max_) Drop(shard, std::prev(shard.recent.end()));
  shard.recent.emplace_front(key, std::move(content));
  shard.places.emplace(key, shard.recent.begin());
  shard.bytes += size;
}

void PageCache::Forget(std::uint64_t file, std::uint32_t pages) {
  for (std::uint32_t page = 0; page < pages; ++page) {
    const Key key{file, page};
    Shard& shard = ShardOf(key);
    const std::scoped_lock lock(shard.mutex);
    const auto place = shard.places.find(key);
    if (place != shard.places.end()) Drop(shard, place->second);
  }
}

std::size_t PageCache::bytes() const {
  std::size_t sum = 0;
  for (const Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    sum += shard.bytes;
  }
  return sum;
}

std::unique_ptr<codec::Decoder> PageCache::BorrowDecoder() {
  const std::scoped_lock lock(decoders_mutex_);
  if (decoders_.empty()) return codec::ZstdCodec().NewDecoder();
  std::unique_ptr<codec::Decoder> decoder = std::move(decoders_.back());
  decoders_.pop_back();
  return decoder;
}

void PageCache::GiveBack(std::unique_ptr<codec::Decoder> decoder) {
  const std::scoped_lock lock(decoders_mutex_);
  if (decoders_.size() < kIdleDecodersMax) decoders_.push_back(std::move(decoder));
}

}  // namespace stele::catalog
