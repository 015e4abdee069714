#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/content_key.h"
#include "store/volume.h"

namespace stele::store {

// One reference or release, as a line of a journal:
//
//   + ADEE2232AF3A4355.1 tomba 5f0c… 2 +1 +812 2048 7D10E5A1C2B3F409 LF
//   | block             owner  id   |  |  |    |    |
//   '+' or '-'                      |  |  |    |    Rabin fingerprint of what stands before it
//                                   |  |  |    size of the content
//                                   |  blocks, stored bytes: what it changed
//                                   format version
struct ReferenceEntry {
  using Kind = BlockOperation::Kind;
  Kind kind = Kind::kReference;
  BlockId block;
  Operation operation;
  std::int64_t blocks = 0;  // 1: made the block, -1: removed it, 0: neither
  std::int64_t stored_bytes = 0;
  std::int64_t size = 0;
};

// With its line feed.
std::string FormatReferenceEntry(const ReferenceEntry& entry);
// `line` without its line feed. Nothing for a line that is damaged in any byte.
std::optional<ReferenceEntry> ParseReferenceEntry(std::string_view line);

// What `journal` says, damaged lines left out and counted. What cannot be read behind the last good
// line may be what a crash left of lines that were being written.
struct ReferenceEntries {
  std::vector<ReferenceEntry> entries;
  std::uint64_t damaged = 0;     // lines before a good one
  std::size_t good_bytes = 0;    // the end of the last good line
  std::uint64_t tail_lines = 0;  // behind it, with their line feeds
  bool has_tail = false;         // something is there, with a line feed or without
};
ReferenceEntries ParseReferenceEntries(std::string_view journal);

// The references to all blocks of one signature. Adding an entry twice, or entries in another
// order, leads to the same set. Not thread-safe.
class ReferenceSet {
 public:
  void Add(const ReferenceEntry& entry);

  // The block that an operation of this kind was about, when it is in the set.
  std::optional<std::uint32_t> Find(ReferenceEntry::Kind kind, const Operation& operation) const;

  std::uint64_t Count(std::uint32_t overflow) const;
  std::uint64_t CountOf(std::uint32_t overflow, const std::string& owner) const;
  // The blocks that have references, by their numbers.
  std::vector<std::uint32_t> Live() const;
  // The lowest number without references, from `lowest` on.
  std::uint32_t FreeOverflow(std::uint32_t lowest = 0) const;
  // Of the content, as its latest reference said; 0 for a block that never had one.
  std::int64_t SizeOf(std::uint32_t overflow) const;
  // The owners of references to a block.
  std::map<std::string, std::uint64_t> OwnersOf(std::uint32_t overflow) const;
  // As Volume::Operations().
  std::vector<BlockOperation> Operations(std::uint32_t overflow,
                                         const std::optional<BlockOperation>& after,
                                         std::size_t limit) const;

 private:
  struct Counter {
    std::int64_t total = 0;
    std::int64_t size = 0;
    std::map<std::string, std::int64_t> by_owner;
  };
  std::unordered_map<std::string, std::uint32_t> operations_;  // kind, owner, ' ', id
  std::map<std::uint32_t, Counter> counters_;
};

}  // namespace stele::store
