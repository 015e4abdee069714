#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stele::dedup {

// Says of most keys that were never added that they were not: a Bloom filter whose bits for one key
// lie side by side, so that asking costs one look into memory. Never stored, unlike
// store::SignatureFilter. Thread-safe, also while it is filled.
class KeyFilter {
 public:
  // For so many keys, of others about one in fifty passes; with more keys, more do.
  KeyFilter(std::uint64_t keys, std::size_t bytes_max);

  void Add(std::string_view key);
  bool MayHave(std::string_view key) const;

 private:
  static constexpr std::size_t kWords = 8;  // of a key's block

  struct alignas(64) Block {
    std::atomic<std::uint64_t> words[kWords] = {};
  };

  std::vector<Block> blocks_;
};

}  // namespace stele::dedup
