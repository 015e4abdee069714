#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/timestamp.h"

// The blocks of a persistent tree (PISA, docs/pisa.md).
namespace stele::catalog {

using PisaBlockNumber = std::uint64_t;
inline constexpr PisaBlockNumber kNoPisaBlock = std::numeric_limits<PisaBlockNumber>::max();
inline constexpr Timestamp kBeginningOfTime{std::numeric_limits<std::int64_t>::min()};
inline constexpr Timestamp kEndOfTime{std::numeric_limits<std::int64_t>::max()};

// How large blocks are. A key counts with its bytes once in a block, and each version of it with
// kPisaVersionBytes: that is what a page holds before it is packed.
inline constexpr std::size_t kPisaKeyBytes = 4;
inline constexpr std::size_t kPisaVersionBytes = 16;
struct PisaLimits {
  std::size_t block_bytes_max = 16384;  // B_max
  std::size_t key_bytes_max = 512;

  std::size_t block_bytes_min() const { return block_bytes_max / 5; }  // B_min
  // What one live entry has at most.
  std::size_t entry_bytes_max() const { return key_bytes_max + kPisaKeyBytes + kPisaVersionBytes; }
  // Condition 1 (B_min >= 3 entries) for the longest keys; condition 2 (B_min <= B_max / 5) is
  // block_bytes_min() itself.
  bool Valid() const { return block_bytes_min() >= 3 * entry_bytes_max(); }
};

// The keys and versions of a block, each kind one behind the other.
struct PisaColumns {
  std::string keys;
  std::vector<std::uint32_t> key_ends;      // in `keys`
  std::vector<std::uint32_t> version_ends;  // of each key, in `births` and `values`
  std::vector<Timestamp> births;
  std::vector<std::uint64_t> values;
};

// A block has keys, ascending, and each key has one version or several, ascending by birth. Nothing
// is ever deleted, so a version dies when the next of its key is born, and the last version of each
// key is live as long as the block is; entries of the paper, {key, birth, death, pointer}, are
// these versions. In a data block (level 0) values are captures, in an index block they are numbers
// of blocks one level below, which hold the keys from the entry's key on to the next live one. A
// block shows the keys of its range from its birth until just before its death. Versions may have
// been born before it: then they were copied, with their true births, from an earlier block.
// Not thread-safe while it grows.
class PisaBlock {
 public:
  PisaBlock() = default;
  PisaBlock(std::uint32_t level, std::string index_key, Timestamp birth, PisaBlockNumber previous)
      : level_(level), index_key_(std::move(index_key)), birth_(birth), previous_(previous) {}
  // A block that was written once. Requires: the ends in `columns` rise, and each key has a
  // version.
  PisaBlock(std::uint32_t level, std::string index_key, Timestamp birth, Timestamp death,
            PisaBlockNumber previous, PisaColumns columns)
      : level_(level),
        index_key_(std::move(index_key)),
        birth_(birth),
        death_(death),
        previous_(previous),
        columns_(std::move(columns)) {}

  std::uint32_t level() const { return level_; }
  // No key in the block is smaller; its parents have it under this key.
  std::string_view index_key() const { return index_key_; }
  Timestamp birth() const { return birth_; }
  Timestamp death() const { return death_; }
  // The block that showed this range until this one was born, or kNoPisaBlock.
  PisaBlockNumber previous() const { return previous_; }
  bool AliveAt(Timestamp time) const { return birth_ <= time && time < death_; }

  std::size_t key_count() const { return columns_.key_ends.size(); }
  std::size_t version_count() const { return columns_.births.size(); }
  std::string_view Key(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : columns_.key_ends[i - 1];
    return std::string_view(columns_.keys).substr(begin, columns_.key_ends[i] - begin);
  }
  // Versions are numbered through the block; those of key i are FirstVersion(i) to
  // FirstVersion(i + 1), and there is at least one.
  std::size_t FirstVersion(std::size_t i) const {
    return i == 0 ? 0 : columns_.version_ends[i - 1];
  }
  Timestamp BirthOf(std::size_t version) const { return columns_.births[version]; }
  std::uint64_t ValueOf(std::size_t version) const { return columns_.values[version]; }
  // A number that its owner gives to a key and that goes with it from block to block.
  std::uint32_t NoteOf(std::size_t i) const { return notes_.empty() ? 0 : notes_[i]; }
  void SetNote(std::size_t i, std::uint32_t note);

  // The first key that is not smaller; key_count() when there is none.
  std::size_t LowerBound(std::string_view key) const;
  bool HasKey(std::size_t i, std::string_view key) const {
    return i < key_count() && Key(i) == key;
  }
  // The version of key i that was the newest at `time`; kNone when it was not yet born.
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::size_t VersionAt(std::size_t i, Timestamp time) const;
  // Of the keys not larger than `key` that were born at `time`, the largest; kNone without one.
  std::size_t FindAt(std::string_view key, Timestamp time) const;

  // n_l and n_a, in bytes: with the newest version of each key, and with all versions.
  std::size_t live_bytes() const {
    return columns_.keys.size() + key_count() * (kPisaKeyBytes + kPisaVersionBytes);
  }
  std::size_t all_bytes() const {
    return columns_.keys.size() + key_count() * kPisaKeyBytes + version_count() * kPisaVersionBytes;
  }
  // By how much Add() would let all_bytes() grow.
  std::size_t Growth(std::string_view key, Timestamp birth) const;

  // The key's newest version is now this one. One that is never alive in the block then, because it
  // has the same birth, or because this one is born with the block, is replaced. Requires: alive,
  // key >= index_key(), birth not before that of its last version.
  void Add(std::string_view key, Timestamp birth, std::uint64_t value);
  // The key's newest version is now this one, and the one before is gone. Requires: it is there.
  void Replace(std::string_view key, Timestamp birth, std::uint64_t value);
  // Puts a version behind all others, of the last key or of a larger one. For whoever fills a
  // block.
  void Append(std::string_view key, Timestamp birth, std::uint64_t value, std::uint32_t note = 0);
  void Close(Timestamp death) { death_ = death; }

 private:
  // Whether the newest version of key i is alive in this block before a later one of that birth.
  bool Outlasts(std::size_t i, Timestamp birth) const;

  std::uint32_t level_ = 0;
  std::string index_key_;
  Timestamp birth_ = kBeginningOfTime;
  Timestamp death_ = kEndOfTime;
  PisaBlockNumber previous_ = kNoPisaBlock;

  PisaColumns columns_;
  std::vector<std::uint32_t> notes_;  // of each key; empty when there are none
};

// What takes the place of a block from `now` on.
struct PisaSplit {
  PisaBlock low;          // under the index key of the block
  bool has_high = false;  // a version split makes one block, a key split two
  PisaBlock high;

  bool InHigh(std::string_view key) const { return has_high && key >= high.index_key(); }
};

struct PisaEntry {
  std::string_view key;
  Timestamp birth;
  std::uint64_t value;
};

// Splits a block that has no room for `entry`. The block itself stays as it is, but for its death:
// whoever asks for a moment before `now` still finds everything in it. Its live entries are copied
// with their true births, and `entry` is added, or takes the place of the one it replaces. With
// 2.5 B_min of live bytes or more, it counted, it is a key split at half of the bytes, else a
// version split: the paper splits keys from 4 B_min on, which copies more for less room. `number`
// is that of the block; a block that is born and dies at the same moment was never alive, so its
// successors name its predecessor as their own.
PisaSplit SplitPisaBlock(PisaBlock& block, PisaBlockNumber number, Timestamp now,
                         const PisaEntry& entry, const PisaLimits& limits);

}  // namespace stele::catalog
