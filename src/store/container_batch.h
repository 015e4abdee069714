#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/container_index.h"
#include "store/container_rows.h"
#include "store/container_table.h"

namespace stele::store {

// Changes of a BlockIndex on their way into its table; later entries see those of earlier ones.
// What results is a function of the records that were applied and not forgotten, whatever their
// order. Borrows `table` for life. Not thread-safe.
class IndexBatch {
 public:
  IndexBatch(const BlockTable& table, BlockIndex::Usage usage) : table_(table), usage_(usage) {}

  // An operation counts once for a block. A record that lies behind the one known so far takes its
  // place: it is a copy.
  Status Apply(const LogEntry& entry);
  // The opposite, for a record that goes: what only it says is not known any more.
  Status Forget(const LogEntry& entry);

  BlockTable::Changes& changes() { return changes_; }
  const BlockIndex::Usage& usage() const { return usage_; }

 private:
  // A block by its record, whether anybody refers to it or not.
  struct LoadedBlock {
    std::vector<BlockRow> others;  // of the same number, with references
    BlockRow row;
    bool has_dead_row = false;
  };

  Result<LoadedBlock> Load(const LogEntry& entry) const;
  Status Save(const BlockId& block, LoadedBlock loaded, const BlockRow& before);
  Status Resize(const BlockId& block, const BlockRow& row, std::uint64_t size);
  Status Count(const LogEntry& entry, std::int64_t more, BlockRow& row);
  Status AddToOwner(std::string_view owner, std::uint64_t references, std::uint64_t bytes);
  Result<std::optional<std::string>> Get(const std::string& key) const;

  const BlockTable& table_;
  BlockIndex::Usage usage_;
  BlockTable::Changes changes_;
};

}  // namespace stele::store
