#include "dedup/key_filter.h"

#include <algorithm>

#include "util/checksum.h"

// A key has one bit in each word of its block. The upper half of its hash chooses the block, the
// lower half, spread by odd factors, the bits.
namespace stele::dedup {
namespace {

constexpr std::uint64_t kBitsPerKey = 10;
constexpr std::uint64_t kBlockBits = 512;

constexpr std::uint32_t kFactors[] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                      0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

std::size_t BlockOf(std::uint64_t hash, std::size_t blocks) {
  return static_cast<std::size_t>((hash >> 32) * blocks >> 32);
}

std::uint64_t BitOf(std::uint64_t hash, std::uint32_t factor) {
  return std::uint64_t{1} << (static_cast<std::uint32_t>(hash) * factor >> 26);
}

}  // namespace

KeyFilter::KeyFilter(std::uint64_t keys, std::size_t bytes_max)
    : blocks_(static_cast<std::size_t>(
          std::clamp<std::uint64_t>(keys / (kBlockBits / kBitsPerKey) + 1, 1,
                                    std::max<std::uint64_t>(1, bytes_max / sizeof(Block))))) {}

void KeyFilter::Add(std::string_view key) {
  const std::uint64_t hash = ChecksumOf(key);
  Block& block = blocks_[BlockOf(hash, blocks_.size())];
  for (std::size_t i = 0; i < kWords; ++i) {
    block.words[i].fetch_or(BitOf(hash, kFactors[i]), std::memory_order_relaxed);
  }
}

bool KeyFilter::MayHave(std::string_view key) const {
  const std::uint64_t hash = ChecksumOf(key);
  const Block& block = blocks_[BlockOf(hash, blocks_.size())];
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint64_t bit = BitOf(hash, kFactors[i]);
    if ((block.words[i].load(std::memory_order_relaxed) & bit) == 0) return false;
  }
  return true;
}

}  // namespace stele::dedup
