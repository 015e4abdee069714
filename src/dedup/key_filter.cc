#include "dedup/key_filter.h"

#include <algorithm>
#include <vector>

#include "util/checksum.h"

// A key has one bit in each word of its block. The upper half of its hash chooses the block, the
// lower half, spread by odd factors, the bits.
namespace stele::dedup {
namespace {

constexpr std::uint64_t kBitsPerKey = 16;
constexpr std::uint64_t kBlockBits = 512;
constexpr std::uint64_t kKeysPerBlock = kBlockBits / kBitsPerKey;
constexpr std::size_t kGrowth = 8;

constexpr std::uint32_t kFactors[] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                      0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
constexpr std::size_t kWords = std::size(kFactors);

struct alignas(64) Block {
  std::atomic<std::uint64_t> words[kWords] = {};
};

std::uint64_t BitOf(std::uint64_t hash, std::uint32_t factor) {
  return std::uint64_t{1} << (static_cast<std::uint32_t>(hash) * factor >> 26);
}

}  // namespace

class KeyFilter::Level {
 public:
  explicit Level(std::size_t blocks) : blocks_(blocks) {}

  // Whether this was the last key that it should have.
  bool Add(std::uint64_t hash) {
    Block& block = blocks_[BlockOf(hash)];
    for (std::size_t i = 0; i < kWords; ++i) {
      block.words[i].fetch_or(BitOf(hash, kFactors[i]), std::memory_order_relaxed);
    }
    return keys_.fetch_add(1, std::memory_order_relaxed) + 1 == blocks_.size() * kKeysPerBlock;
  }

  bool MayHave(std::uint64_t hash) const {
    const Block& block = blocks_[BlockOf(hash)];
    for (std::size_t i = 0; i < kWords; ++i) {
      const std::uint64_t bit = BitOf(hash, kFactors[i]);
      if ((block.words[i].load(std::memory_order_relaxed) & bit) == 0) return false;
    }
    return true;
  }

  std::size_t size() const { return blocks_.size(); }

 private:
  std::size_t BlockOf(std::uint64_t hash) const {
    return static_cast<std::size_t>((hash >> 32) * blocks_.size() >> 32);
  }

  std::vector<Block> blocks_;
  std::atomic<std::uint64_t> keys_ = 0;
};

KeyFilter::KeyFilter(std::uint64_t keys, std::size_t bytes_max) : bytes_max_(bytes_max) {
  const std::uint64_t blocks_max = std::max<std::uint64_t>(1, bytes_max / sizeof(Block));
  const std::uint64_t blocks = std::min(keys / kKeysPerBlock + 1, blocks_max);
  levels_[0] = std::make_unique<Level>(static_cast<std::size_t>(blocks));
  count_ = 1;
}

KeyFilter::~KeyFilter() = default;

void KeyFilter::Add(std::string_view key) {
  const std::uint64_t hash = ChecksumOf(key);
  if (MayHaveHash(hash)) return;
  if (levels_[count_.load(std::memory_order_acquire) - 1]->Add(hash)) Grow();
}

bool KeyFilter::MayHave(std::string_view key) const { return MayHaveHash(ChecksumOf(key)); }

bool KeyFilter::MayHaveHash(std::uint64_t hash) const {
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (levels_[i]->MayHave(hash)) return true;
  }
  return false;
}

std::size_t KeyFilter::bytes() const {
  const std::size_t count = count_.load(std::memory_order_acquire);
  std::size_t blocks = 0;
  for (std::size_t i = 0; i < count; ++i) blocks += levels_[i]->size();
  return blocks * sizeof(Block);
}

void KeyFilter::Grow() {
  const std::lock_guard lock(growing_);
  const std::size_t used = bytes();
  const std::size_t left = bytes_max_ > used ? (bytes_max_ - used) / sizeof(Block) : 0;
  const std::size_t blocks = std::min(levels_[count_ - 1]->size() * kGrowth, left);
  if (blocks == 0 || count_ == kLevelsMax) return;
  levels_[count_] = std::make_unique<Level>(blocks);
  count_.fetch_add(1, std::memory_order_release);
}

}  // namespace stele::dedup
