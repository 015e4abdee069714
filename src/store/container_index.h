#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/container_entry.h"
#include "store/container_table.h"

namespace stele::store {

struct BlockRow {
  RecordLocation location;  // of length 0: the record has not been found
  std::uint64_t size = 0;   // of the content
  std::uint64_t references = 0;
  std::string record_id;

  friend bool operator==(const BlockRow&, const BlockRow&) = default;
};

// What the log of a volume says, by signature: the blocks, and who refers to them. A function of
// the log: the same entries in the same order make the same rows, and an operation counts once.
//
//   '!format'                                       of these rows
//   '!position'                                     up to where the log has been applied
//   '!usage'                                        sums over all blocks
//   '!owner ' owner                                 sums over what an owner holds, if anything
//   's' signature 'b' overflow                      a block with references
//   's' signature 'c' overflow owner                the references of one owner, where there are
//   any 's' signature 'o' '+' or '-' owner ' ' id       the block that an operation was about
//
// Any thread may ask; one at a time applies. Borrows `table` for life.
class BlockIndex {
 public:
  struct Usage {
    std::uint64_t blocks = 0;
    std::uint64_t references = 0;
    std::uint64_t content_bytes = 0;

    friend bool operator==(const Usage&, const Usage&) = default;
  };

  explicit BlockIndex(BlockTable& table) : table_(table) {}

  // Reads position and usage. Rows of another format are removed.
  Status Load();
  // Forgets everything: the position is the begin of the log.
  Status Clear();
  Status Flush() { return table_.Flush(); }

  LogPosition position() const;
  Usage usage() const;

  Result<std::optional<BlockRow>> Find(const BlockId& block) const;
  struct NumberedBlock {
    std::uint32_t overflow = 0;
    BlockRow row;
  };
  // By their numbers.
  Result<std::vector<NumberedBlock>> Blocks(const Signature& signature) const;
  Result<std::uint64_t> CountOf(const BlockId& block, const std::string& owner) const;

  using Act = BlockOperation::Kind;
  Result<std::optional<std::uint32_t>> FindOperation(const Signature& signature, Act act,
                                                     const Operation& operation) const;

  // As Volume has them. Requires: signatures have `signature_bytes`.
  Result<std::vector<BlockOperation>> Operations(const BlockId& block,
                                                 const std::optional<BlockOperation>& after,
                                                 std::size_t limit) const;
  Result<std::vector<ListedBlock>> List(const ListRequest& request,
                                        std::size_t signature_bytes) const;
  Result<std::vector<OwnerUsage>> Owners() const;
  Result<OwnerUsage> UsageOf(const std::string& owner) const;

  // Takes entries in the order of the log, all that stand between position() and `end`; entries
  // and position are written as one.
  Status Apply(std::span<const LogEntry> entries, LogPosition end);

  // Every block, as of one moment, with the sums of its references as operations and owners say.
  struct AuditedBlock {
    BlockId block;
    BlockRow row;
    std::int64_t by_operations = 0;
    std::int64_t by_owners = 0;
  };
  // The sums over what an owner holds, as kept and as added up.
  struct AuditedOwner {
    OwnerUsage kept;
    OwnerUsage found;
  };
  struct Auditor {
    // Blocks that have references but no row come with a row of no length and no references.
    std::function<void(const AuditedBlock&)> block;
    std::function<void(const AuditedOwner&)> owner;
  };
  Status Audit(std::size_t signature_bytes, const Auditor& auditor) const;

 private:
  class Audition;
  class Batch;

  BlockTable& table_;
  mutable std::mutex mutex_;  // of all below
  LogPosition position_;
  Usage usage_;
};

}  // namespace stele::store
