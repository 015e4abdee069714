// References are sets: a block has the operations that any record names. Each owner's count may be
// below zero while records are still to come; the block has the sum of those above zero.
#include "store/container_batch.h"

#include <algorithm>
#include <map>

namespace stele::store {
namespace {

std::uint64_t Positive(std::int64_t count) {
  return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

bool LiesBehind(const RecordLocation& a, const RecordLocation& b) {
  return b.length == 0 || LogPosition{a.container, a.offset} > LogPosition{b.container, b.offset};
}

char ActOf(const LogEntry& entry) { return entry.kind == LogEntry::Kind::kRelease ? '-' : '+'; }

std::vector<OperationRow>::iterator FindBlock(std::vector<OperationRow>& rows,
                                              const LogEntry& entry) {
  return std::find_if(rows.begin(), rows.end(), [&](const OperationRow& row) {
    return row.overflow == entry.block.overflow && row.record_id == entry.record_id;
  });
}

Result<std::vector<OperationRow>> OperationsIn(const Result<std::optional<std::string>>& row) {
  if (!row) return row.error();
  return ParseOperationRows(row->value_or(""));
}

}  // namespace

Status IndexBatch::Apply(const LogEntry& entry) {
  const std::string key = OperationKey(entry.block.signature, ActOf(entry), entry.operation);
  auto operations = OperationsIn(Get(key));
  if (!operations) return operations.error();
  const bool is_block = entry.kind == LogEntry::Kind::kBlock;
  const OperationRow said{entry.block.overflow, entry.record_id, entry.location.container,
                          entry.note_bytes};
  const auto known = FindBlock(*operations, entry);
  const bool is_new = known == operations->end();
  if (is_new) {
    const auto behind = [](const OperationRow& a, const OperationRow& b) {
      return std::tie(a.overflow, a.record_id) < std::tie(b.overflow, b.record_id);
    };
    operations->insert(std::upper_bound(operations->begin(), operations->end(), said, behind),
                       said);
  } else if (std::tie(known->container, known->bytes) < std::tie(said.container, said.bytes)) {
    *known = said;
  }
  changes_[key] = FormatOperationRows(*operations);
  if (!is_new && !is_block) return {};
  Result<LoadedBlock> loaded = Load(entry);
  if (!loaded) return loaded.error();
  const BlockRow before = loaded->row;
  Status status;
  if (is_block && LiesBehind(entry.location, loaded->row.location)) {
    status = Resize(entry.block, loaded->row, entry.size);
    loaded->row.location = entry.location;
    loaded->row.size = entry.size;
    loaded->row.coding = entry.coding;
  }
  const bool is_release = entry.kind == LogEntry::Kind::kRelease;
  if (status && is_new) status = Count(entry, is_release ? -1 : 1, loaded->row);
  return status ? Save(entry.block, *std::move(loaded), before) : status;
}

Status IndexBatch::Forget(const LogEntry& entry) {
  const std::string key = OperationKey(entry.block.signature, ActOf(entry), entry.operation);
  auto operations = OperationsIn(Get(key));
  if (!operations) return operations.error();
  const auto known = FindBlock(*operations, entry);
  const bool counts = known != operations->end() && known->container == entry.location.container;
  if (counts) {
    operations->erase(known);
    auto& change = changes_[key];
    change = std::nullopt;
    if (!operations->empty()) change = FormatOperationRows(*operations);
  }
  Result<LoadedBlock> loaded = Load(entry);
  if (!loaded) return loaded.error();
  const BlockRow before = loaded->row;
  Status status;
  if (entry.kind == LogEntry::Kind::kBlock && loaded->row.location == entry.location) {
    status = Resize(entry.block, loaded->row, 0);
    loaded->row.location = {};
    loaded->row.size = 0;
    loaded->row.coding = ContentCoding::kUnknown;
  }
  const bool is_release = entry.kind == LogEntry::Kind::kRelease;
  if (status && counts) status = Count(entry, is_release ? 1 : -1, loaded->row);
  return status ? Save(entry.block, *std::move(loaded), before) : status;
}

Result<IndexBatch::LoadedBlock> IndexBatch::Load(const LogEntry& entry) const {
  const auto living = Get(BlockKey(entry.block));
  if (!living) return living.error();
  Result<std::vector<BlockRow>> rows = ParseBlockRows(living->value_or(""));
  if (!rows) return rows.error();
  LoadedBlock loaded{*std::move(rows), {}, false};
  const auto found =
      std::find_if(loaded.others.begin(), loaded.others.end(),
                   [&](const BlockRow& row) { return row.record_id == entry.record_id; });
  if (found != loaded.others.end()) {
    loaded.row = std::move(*found);
    loaded.others.erase(found);
    return loaded;
  }
  const auto dead = Get(DeadBlockKey(entry.block, entry.record_id));
  if (!dead) return dead.error();
  Result<std::vector<BlockRow>> row = ParseBlockRows(dead->value_or(""));
  if (!row) return row.error();
  loaded.has_dead_row = !row->empty();
  if (loaded.has_dead_row) loaded.row = std::move(row->front());
  loaded.row.record_id = entry.record_id;
  return loaded;
}

Status IndexBatch::Save(const BlockId& block, LoadedBlock loaded, const BlockRow& before) {
  const BlockRow& row = loaded.row;
  const bool was_alive = before.references > 0;
  const bool is_alive = row.references > 0;
  usage_.blocks += std::uint64_t{is_alive} - std::uint64_t{was_alive};
  usage_.references += row.references - before.references;
  usage_.content_bytes += (is_alive ? row.size : 0) - (was_alive ? before.size : 0);
  if (block.overflow > 0) {
    usage_.overflow_blocks += std::uint64_t{is_alive} - std::uint64_t{was_alive};
  }
  if (!is_alive && row.location.length > 0) {
    changes_[DeadBlockKey(block, row.record_id)] = FormatBlockRows({row});
  } else if (loaded.has_dead_row) {
    changes_[DeadBlockKey(block, row.record_id)] = std::nullopt;
  }
  if (!is_alive && !was_alive) return {};
  if (is_alive) loaded.others.push_back(loaded.row);
  std::sort(loaded.others.begin(), loaded.others.end(), [](const BlockRow& a, const BlockRow& b) {
    return a.location != b.location ? LiesBehind(a.location, b.location)
                                    : a.record_id < b.record_id;
  });
  auto& living = changes_[BlockKey(block)];
  living = std::nullopt;
  if (!loaded.others.empty()) living = FormatBlockRows(loaded.others);
  return {};
}

// What all owners of the block hold grows or shrinks.
Status IndexBatch::Resize(const BlockId& block, const BlockRow& row, std::uint64_t size) {
  if (row.references == 0 || row.size == size) return {};
  const std::string prefix = OwnerKeyPrefix(block, row.record_id);
  std::map<std::string, std::int64_t> owners;
  const auto take = [&](std::string_view key, const std::optional<std::string_view>& value) {
    const std::string_view owner = key.substr(prefix.size());
    if (owner.find(' ') != std::string_view::npos) return;  // of another record's id
    owners[std::string(owner)] = value ? static_cast<std::int64_t>(RowReader(*value).Number()) : 0;
  };
  const Status scanned = table_.Scan(prefix, [&](std::string_view key, std::string_view value) {
    take(key, value);
    return true;
  });
  if (!scanned) return scanned;
  for (auto change = changes_.lower_bound(prefix);
       change != changes_.end() && change->first.starts_with(prefix); ++change) {
    take(change->first, change->second);
  }
  for (const auto& [owner, count] : owners) {
    const Status added = AddToOwner(owner, 0, Positive(count) * (size - row.size));
    if (!added) return added;
  }
  return {};
}

// The owner has `more` references.
Status IndexBatch::Count(const LogEntry& entry, std::int64_t more, BlockRow& row) {
  const std::string key = OwnerKey(entry.block, entry.record_id, entry.operation.owner);
  const auto found = Get(key);
  if (!found) return found.error();
  const auto before = static_cast<std::int64_t>(*found ? RowReader(**found).Number() : 0);
  const std::int64_t after = before + more;
  auto& change = changes_[key];
  change = std::nullopt;
  if (after != 0) change = FormatNumbers({static_cast<std::uint64_t>(after)});
  const std::uint64_t difference = Positive(after) - Positive(before);
  row.references += difference;
  return AddToOwner(entry.operation.owner, difference, difference * row.size);
}

// Differences are modulo 2^64.
Status IndexBatch::AddToOwner(std::string_view owner, std::uint64_t references,
                              std::uint64_t bytes) {
  if (references == 0 && bytes == 0) return {};
  const std::string key = OwnerSumKey(owner);
  const auto found = Get(key);
  if (!found) return found.error();
  const std::string row = found->value_or(FormatNumbers({0, 0}));
  RowReader sums(row);
  references += sums.Number();
  bytes += sums.Number();
  auto& change = changes_[key];
  change = std::nullopt;
  if (references > 0) change = FormatNumbers({references, bytes});
  return {};
}

Result<std::optional<std::string>> IndexBatch::Get(const std::string& key) const {
  const auto changed = changes_.find(key);
  if (changed != changes_.end()) return changed->second;
  return table_.Get(key);
}

}  // namespace stele::store
