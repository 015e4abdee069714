#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/container_entry.h"
#include "store/container_rows.h"
#include "store/container_table.h"

namespace stele::store {

class IndexBatch;

// What the log of a volume says, by signature: the blocks, and who refers to them. A function of
// the records in the log: their order means nothing, an operation counts once, and of several
// copies of a block the last one is used.
//
//   '!format'                                    of these rows
//   '!position'                                  up to where the log has been applied
//   '!usage'                                     sums over all blocks
//   '!condemned ' container                      a container that is being removed
//   '!owner ' owner                              sums over what an owner holds, if anything
//   's' signature 'b' overflow                   the block of this number that has references
//   's' signature 'c' overflow record ' ' owner  references of an owner less releases, if not 0
//   's' signature 'd' overflow record            a block that has no references
//   's' signature 'o' '+' or '-' owner ' ' id    the block that an operation was about
//
// Any thread may ask, and any may change something, one after another. Borrows `table` for life.
class BlockIndex {
 public:
  struct Usage {
    std::uint64_t blocks = 0;
    std::uint64_t references = 0;
    std::uint64_t content_bytes = 0;
    std::uint64_t overflow_blocks = 0;  // among the blocks: those of other numbers than 0

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
  // The references of an owner; 0 for a block that nobody refers to.
  Result<std::uint64_t> CountOf(const BlockId& block, const std::string& owner) const;
  // The same where Find() has given `row`.
  Result<std::uint64_t> CountOf(const BlockId& block, const BlockRow& row,
                                const std::string& owner) const;

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

  // Takes all entries that stand between position() and `end`; entries and position are written
  // as one.
  Status Apply(std::span<const LogEntry> entries, LogPosition end);

  // What is said by one record that is in the log.
  struct Standing {
    bool counts = false;    // no later record names the operation
    bool alive = false;     // its block has references
    bool is_read = false;   // it is where the content of a living block is read
    std::int64_t held = 0;  // by the operation's owner: references less releases
  };
  Result<Standing> StandingOf(const LogEntry& entry) const;
  // By container: the bytes of records that say something about blocks with references, or keep
  // others from having some. Containers in which nothing is used may be missing. Reads all rows.
  Result<std::map<std::uint64_t, std::uint64_t>> UsedBytes(std::size_t signature_bytes) const;

  // Removing a container, everything that counts in it having been copied: it is condemned, which
  // is remembered until it is removed; all its entries are forgotten, except where copies say the
  // same; when that is durable, the file may go.
  Status Condemn(std::uint64_t container);
  Result<std::vector<std::uint64_t>> Condemned() const;
  Status Forget(std::span<const LogEntry> entries);
  Status Removed(std::uint64_t container);

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

  // Requires: `changing_` is held.
  Status Write(IndexBatch& batch, LogPosition position);

  BlockTable& table_;
  std::mutex changing_;       // with whoever changes something
  mutable std::mutex mutex_;  // of all below
  LogPosition position_;
  Usage usage_;
};

}  // namespace stele::store
