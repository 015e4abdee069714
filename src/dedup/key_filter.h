#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

namespace stele::dedup {

// Says of most keys that were never added that they were not: Bloom filters whose bits for one key
// lie side by side, so that asking costs one look into memory. Few keys need little memory, which
// is then in the processor's cache. Never stored, unlike store::SignatureFilter. Thread-safe, also
// while it is filled.
class KeyFilter {
 public:
  // For so many keys; where more come it grows, until all of it has `bytes_max`. Of other keys
  // about one in four hundred passes for each time that it grew, and more where it cannot grow.
  KeyFilter(std::uint64_t keys, std::size_t bytes_max);
  ~KeyFilter();

  void Add(std::string_view key);
  bool MayHave(std::string_view key) const;

  std::size_t bytes() const;

 private:
  class Level;
  // Each is eight times as large as the one before.
  static constexpr std::size_t kLevelsMax = 16;

  bool MayHaveHash(std::uint64_t hash) const;
  void Grow();

  const std::size_t bytes_max_;
  std::mutex growing_;
  std::atomic<std::size_t> count_ = 0;  // of levels that are there, of which the last is filled
  std::array<std::unique_ptr<Level>, kLevelsMax> levels_;
};

}  // namespace stele::dedup
