#include "store/container_index.h"

#include <algorithm>

namespace stele::store {
namespace {

constexpr std::string_view kFormat = "stele container index 2";
constexpr const char* kFormatKey = "!format";
constexpr const char* kPositionKey = "!position";
constexpr const char* kUsageKey = "!usage";
constexpr std::string_view kOwnerPrefix = "!owner ";

void AppendNumber(std::string& out, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift);
}

// Reads numbers from the front of a row.
class RowReader {
 public:
  explicit RowReader(std::string_view row) : row_(row) {}

  std::uint64_t Number() {
    if (row_.size() < 8) {
      good_ = false;
      return 0;
    }
    std::uint64_t value = 0;
    for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(row_[i]);
    row_.remove_prefix(8);
    return value;
  }
  std::string_view Rest() { return row_; }
  bool good() const { return good_; }

 private:
  std::string_view row_;
  bool good_ = true;
};

Error BadRow() {
  return {ErrorCode::kCorrupt,
          "a row of the table cannot be read: close the volume, delete the table and open again"};
}

std::string OverflowText(std::uint32_t overflow) {  // sorts by number
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(overflow >> shift);
  return text;
}

std::uint32_t OverflowOf(std::string_view text) {
  std::uint32_t overflow = 0;
  for (const char c : text.substr(0, 4)) overflow = overflow << 8 | static_cast<unsigned char>(c);
  return overflow;
}

std::string SignatureKey(const Signature& signature, char part) {
  std::string key = "s";
  key += signature.bytes();
  key += part;
  return key;
}
std::string BlockKey(const BlockId& block) {
  return SignatureKey(block.signature, 'b') + OverflowText(block.overflow);
}
std::string OwnerKey(const BlockId& block, const std::string& owner) {
  return SignatureKey(block.signature, 'c') + OverflowText(block.overflow) + owner;
}
std::string OperationKey(const Signature& signature, BlockIndex::Act act,
                         const Operation& operation) {
  std::string key = SignatureKey(signature, 'o');
  key += static_cast<char>(act);
  return key + operation.owner + ' ' + operation.id;
}

std::string FormatRow(const BlockRow& row) {
  std::string text;
  for (const std::uint64_t number : {row.location.container, row.location.offset,
                                     row.location.length, row.size, row.references}) {
    AppendNumber(text, number);
  }
  return text + row.record_id;
}

Result<BlockRow> ParseRow(std::string_view text) {
  RowReader reader(text);
  BlockRow row;
  for (std::uint64_t* number : {&row.location.container, &row.location.offset, &row.location.length,
                                &row.size, &row.references}) {
    *number = reader.Number();
  }
  row.record_id = reader.Rest();
  if (!reader.good()) return BadRow();
  return row;
}

std::string OwnerSumKey(std::string_view owner) {
  return std::string(kOwnerPrefix) + std::string(owner);
}

Result<OwnerUsage> ParseOwnerSum(std::string_view key, std::string_view row) {
  RowReader reader(row);
  OwnerUsage usage{std::string(key.substr(kOwnerPrefix.size())), 0, 0};
  usage.references = reader.Number();
  usage.content_bytes = reader.Number();
  if (!reader.good()) return BadRow();
  return usage;
}

std::string FormatNumbers(std::initializer_list<std::uint64_t> numbers) {
  std::string text;
  for (const std::uint64_t number : numbers) AppendNumber(text, number);
  return text;
}

}  // namespace

// Changes on their way into the table; later entries see those of earlier ones.
class BlockIndex::Batch {
 public:
  Batch(const BlockTable& table, Usage usage) : table_(table), usage_(usage) {}

  Status Apply(const LogEntry& entry) {
    const Act act = entry.kind == LogEntry::Kind::kRelease ? Act::kRelease : Act::kReference;
    const std::string operation = OperationKey(entry.block.signature, act, entry.operation);
    const auto done = Get(operation);
    if (!done) return done.error();
    if (*done) return {};
    changes_[operation] = OverflowText(entry.block.overflow);
    const auto found = Get(BlockKey(entry.block));
    if (!found) return found.error();
    std::optional<BlockRow> row;
    if (*found) {
      Result<BlockRow> parsed = ParseRow(**found);
      if (!parsed) return parsed.error();
      row = *std::move(parsed);
    }
    return act == Act::kRelease ? Release(entry, std::move(row)) : Refer(entry, std::move(row));
  }

  BlockTable::Changes& changes() { return changes_; }
  const Usage& usage() const { return usage_; }

 private:
  Status Refer(const LogEntry& entry, std::optional<BlockRow> row) {
    if (!row) {
      row.emplace();
      row->record_id = entry.record_id;
      ++usage_.blocks;
    }
    if (entry.kind == LogEntry::Kind::kBlock) {
      const Status resized = Resize(entry.block, entry.size - row->size);
      if (!resized) return resized;
      usage_.content_bytes += entry.size - row->size;
      row->location = entry.location;
      row->size = entry.size;
      row->record_id = entry.record_id;
    }
    ++row->references;
    ++usage_.references;
    changes_[BlockKey(entry.block)] = FormatRow(*row);
    const Result<std::uint64_t> held = OwnerCount(entry);
    if (!held) return held.error();
    SetOwnerCount(entry, *held + 1);
    return AddToOwner(entry.operation.owner, 1, row->size);
  }

  // A release whose reference was in a damaged part of the log takes nothing back.
  Status Release(const LogEntry& entry, std::optional<BlockRow> row) {
    const Result<std::uint64_t> held = OwnerCount(entry);
    if (!held) return held.error();
    if (!row || *held == 0) return {};
    --row->references;
    --usage_.references;
    if (row->references == 0) {
      --usage_.blocks;
      usage_.content_bytes -= row->size;
      changes_[BlockKey(entry.block)] = std::nullopt;
    } else {
      changes_[BlockKey(entry.block)] = FormatRow(*row);
    }
    SetOwnerCount(entry, *held - 1);
    return AddToOwner(entry.operation.owner, -1, -row->size);
  }

  // Differences are modulo 2^64.
  Status AddToOwner(const std::string& owner, std::uint64_t references, std::uint64_t bytes) {
    const std::string key = OwnerSumKey(owner);
    const auto row = Get(key);
    if (!row) return row.error();
    OwnerUsage usage;
    if (*row) {
      Result<OwnerUsage> parsed = ParseOwnerSum(key, **row);
      if (!parsed) return parsed.error();
      usage = *std::move(parsed);
    }
    usage.references += references;
    usage.content_bytes += bytes;
    auto& change = changes_[key];
    change = std::nullopt;
    if (usage.references > 0) change = FormatNumbers({usage.references, usage.content_bytes});
    return {};
  }

  // The record of a block that had been missing has been found: its size counts for all who hold
  // it.
  Status Resize(const BlockId& block, std::uint64_t more) {
    if (more == 0) return {};
    const std::string prefix = OwnerKey(block, "");
    std::map<std::string, std::uint64_t> owners;
    const Status scanned = table_.Scan(prefix, [&](std::string_view key, std::string_view row) {
      owners[std::string(key.substr(prefix.size()))] = RowReader(row).Number();
      return true;
    });
    if (!scanned) return scanned;
    for (auto change = changes_.lower_bound(prefix);
         change != changes_.end() && change->first.starts_with(prefix); ++change) {
      const std::string owner = change->first.substr(prefix.size());
      owners[owner] = change->second ? RowReader(*change->second).Number() : 0;
    }
    for (const auto& [owner, count] : owners) {
      const Status added = count == 0 ? Status() : AddToOwner(owner, 0, count * more);
      if (!added) return added;
    }
    return {};
  }

  Result<std::uint64_t> OwnerCount(const LogEntry& entry) const {
    const auto row = Get(OwnerKey(entry.block, entry.operation.owner));
    if (!row) return row.error();
    return *row ? RowReader(**row).Number() : 0;
  }

  void SetOwnerCount(const LogEntry& entry, std::uint64_t count) {
    auto& change = changes_[OwnerKey(entry.block, entry.operation.owner)];
    change = count == 0 ? std::nullopt : std::optional(FormatNumbers({count}));
  }

  Result<std::optional<std::string>> Get(const std::string& key) const {
    const auto changed = changes_.find(key);
    if (changed != changes_.end()) return changed->second;
    return table_.Get(key);
  }

  const BlockTable& table_;
  Usage usage_;
  BlockTable::Changes changes_;
};

Status BlockIndex::Load() {
  const auto format = table_.Get(kFormatKey);
  if (!format) return format.error();
  if (format->value_or("") != kFormat) return Clear();
  const auto position = table_.Get(kPositionKey);
  const auto usage = table_.Get(kUsageKey);
  if (!position) return position.error();
  if (!usage) return usage.error();
  if (!*position || !*usage) return BadRow();
  RowReader position_row(**position);
  RowReader usage_row(**usage);
  const std::lock_guard lock(mutex_);
  position_.container = position_row.Number();
  position_.offset = position_row.Number();
  usage_.blocks = usage_row.Number();
  usage_.references = usage_row.Number();
  usage_.content_bytes = usage_row.Number();
  return position_row.good() && usage_row.good() ? Status() : Status(BadRow());
}

Status BlockIndex::Clear() {
  const Status cleared = table_.Clear();
  if (!cleared) return cleared;
  {
    const std::lock_guard lock(mutex_);
    position_ = {};
    usage_ = {};
  }
  return Apply({}, {});
}

LogPosition BlockIndex::position() const {
  const std::lock_guard lock(mutex_);
  return position_;
}

BlockIndex::Usage BlockIndex::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_;
}

Result<std::optional<BlockRow>> BlockIndex::Find(const BlockId& block) const {
  const auto row = table_.Get(BlockKey(block));
  if (!row) return row.error();
  if (!*row) return std::optional<BlockRow>();
  Result<BlockRow> parsed = ParseRow(**row);
  if (!parsed) return parsed.error();
  return std::optional(*std::move(parsed));
}

Result<std::vector<BlockIndex::NumberedBlock>> BlockIndex::Blocks(
    const Signature& signature) const {
  const std::string prefix = SignatureKey(signature, 'b');
  std::vector<NumberedBlock> blocks;
  Status parsing;
  const Status scanned = table_.Scan(prefix, [&](std::string_view key, std::string_view value) {
    Result<BlockRow> row = ParseRow(value);
    if (!row) {
      parsing = row.error();
      return false;
    }
    blocks.push_back({OverflowOf(key.substr(prefix.size())), *std::move(row)});
    return true;
  });
  if (!scanned) return scanned.error();
  if (!parsing) return parsing.error();
  return blocks;
}

Result<std::uint64_t> BlockIndex::CountOf(const BlockId& block, const std::string& owner) const {
  const auto row = table_.Get(OwnerKey(block, owner));
  if (!row) return row.error();
  return *row ? RowReader(**row).Number() : 0;
}

Result<std::optional<std::uint32_t>> BlockIndex::FindOperation(const Signature& signature, Act act,
                                                               const Operation& operation) const {
  const auto row = table_.Get(OperationKey(signature, act, operation));
  if (!row) return row.error();
  if (!*row) return std::optional<std::uint32_t>();
  return std::optional(OverflowOf(**row));
}

Status BlockIndex::Apply(std::span<const LogEntry> entries, LogPosition end) {
  Batch batch(table_, usage());
  for (const LogEntry& entry : entries) {
    const Status applied = batch.Apply(entry);
    if (!applied) return applied;
  }
  const Usage& usage = batch.usage();
  BlockTable::Changes& changes = batch.changes();
  changes[kFormatKey] = kFormat;
  changes[kPositionKey] = FormatNumbers({end.container, end.offset});
  changes[kUsageKey] = FormatNumbers({usage.blocks, usage.references, usage.content_bytes});
  const Status written = table_.Write(changes);
  if (!written) return written;
  const std::lock_guard lock(mutex_);
  position_ = end;
  usage_ = usage;
  return {};
}

Result<std::vector<BlockOperation>> BlockIndex::Operations(
    const BlockId& block, const std::optional<BlockOperation>& after, std::size_t limit) const {
  const std::string prefix = SignatureKey(block.signature, 'o');
  std::vector<BlockOperation> operations;
  bool good = true;
  const auto visit = [&](std::string_view key, std::string_view value) {
    if (operations.size() >= limit) return false;
    if (OverflowOf(value) != block.overflow) return true;
    const std::string_view what = key.substr(prefix.size());
    const std::size_t space = what.find(' ');
    good = space != std::string_view::npos;
    if (!good) return false;
    operations.push_back(
        {static_cast<Act>(what.front()),
         {std::string(what.substr(1, space - 1)), std::string(what.substr(space + 1))}});
    return true;
  };
  const Status scanned = table_.ScanAfter(
      prefix, after ? OperationKey(block.signature, after->kind, after->operation) : "", visit);
  if (!scanned) return scanned.error();
  if (!good) return BadRow();
  return operations;
}

// Those of an owner are found at its counters, which stand behind all blocks of their signature.
Result<std::vector<ListedBlock>> BlockIndex::List(const ListRequest& request,
                                                  std::size_t signature_bytes) const {
  std::vector<ListedBlock> listed;
  std::map<BlockId, std::uint64_t> sizes;  // of blocks of the signature at hand
  bool good = true;
  const auto visit = [&](std::string_view key, std::string_view value) {
    if (listed.size() >= request.limit) return false;
    good = key.size() > signature_bytes + 2;
    if (!good) return false;
    const char part = key[1 + signature_bytes];
    if (part == 'o') return true;
    const std::string_view rest = key.substr(2 + signature_bytes);
    const BlockId block{Signature(key.substr(1, signature_bytes)), OverflowOf(rest)};
    if (part == 'b') {
      const Result<BlockRow> row = ParseRow(value);
      good = row.ok();
      if (!good) return false;
      if (request.owner.empty()) {
        listed.push_back({block, row->size, row->references});
      } else {
        if (!sizes.empty() && sizes.begin()->first.signature != block.signature) sizes.clear();
        sizes[block] = row->size;
      }
    } else if (!request.owner.empty() && rest.substr(4) == request.owner) {
      const auto size = sizes.find(block);
      if (size != sizes.end()) listed.push_back({block, size->second, RowReader(value).Number()});
    }
    return true;
  };
  const Status scanned =
      table_.ScanAfter("s", request.after ? BlockKey(*request.after) : "", visit);
  if (!scanned) return scanned.error();
  if (!good) return BadRow();
  return listed;
}

Result<std::vector<OwnerUsage>> BlockIndex::Owners() const {
  std::vector<OwnerUsage> owners;
  Status parsing;
  const Status scanned =
      table_.Scan(std::string(kOwnerPrefix), [&](std::string_view key, std::string_view row) {
        Result<OwnerUsage> usage = ParseOwnerSum(key, row);
        if (!usage) parsing = usage.error();
        if (usage) owners.push_back(*std::move(usage));
        return parsing.ok();
      });
  if (!scanned) return scanned.error();
  if (!parsing) return parsing.error();
  return owners;
}

Result<OwnerUsage> BlockIndex::UsageOf(const std::string& owner) const {
  const std::string key = OwnerSumKey(owner);
  const auto row = table_.Get(key);
  if (!row) return row.error();
  if (!*row) return OwnerUsage{owner, 0, 0};
  return ParseOwnerSum(key, **row);
}

// Takes all rows in their order.
class BlockIndex::Audition {
 public:
  Audition(std::size_t signature_bytes, const Auditor& auditor)
      : signature_bytes_(signature_bytes), auditor_(auditor) {}

  // False for a row that cannot be read.
  bool Take(std::string_view key, std::string_view value) {
    if (key.starts_with(kOwnerPrefix)) {
      const Result<OwnerUsage> kept = ParseOwnerSum(key, value);
      if (kept) owners_[kept->owner].kept = *kept;
      return kept.ok();
    }
    if (!key.starts_with('s')) return true;
    if (key.size() <= signature_bytes_ + 2) return false;
    const Signature here(key.substr(1, signature_bytes_));
    if (!blocks_.empty() && blocks_.begin()->second.block.signature != here) FinishSignature();
    const char part = key[1 + signature_bytes_];
    const std::string_view rest = key.substr(2 + signature_bytes_);
    const std::uint32_t overflow = OverflowOf(part == 'o' ? value : rest);
    AuditedBlock& block =
        blocks_.try_emplace(overflow, AuditedBlock{{here, overflow}, {}, 0, 0}).first->second;
    if (part == 'b') {
      Result<BlockRow> row = ParseRow(value);
      if (row) block.row = *std::move(row);
      return row.ok();
    }
    if (part == 'c') {
      const std::uint64_t count = RowReader(value).Number();
      block.by_owners += static_cast<std::int64_t>(count);
      OwnerUsage& found = owners_[std::string(rest.substr(4))].found;
      found.references += count;
      found.content_bytes += count * block.row.size;
    } else {
      block.by_operations += rest.front() == static_cast<char>(Act::kReference) ? 1 : -1;
    }
    return true;
  }

  void Finish() {
    FinishSignature();
    for (auto& [owner, audited] : owners_) {
      audited.kept.owner = audited.found.owner = owner;
      auditor_.owner(audited);
    }
  }

 private:
  void FinishSignature() {
    for (const auto& [overflow, block] : blocks_) {
      const bool nothing =
          block.row.references == 0 && block.by_operations == 0 && block.by_owners == 0;
      if (!nothing) auditor_.block(block);
    }
    blocks_.clear();
  }

  const std::size_t signature_bytes_;
  const Auditor& auditor_;
  std::map<std::uint32_t, AuditedBlock> blocks_;  // of the signature at hand
  std::map<std::string, AuditedOwner> owners_;
};

Status BlockIndex::Audit(std::size_t signature_bytes, const Auditor& auditor) const {
  Audition audition(signature_bytes, auditor);
  bool good = true;
  const Status scanned = table_.Scan("", [&](std::string_view key, std::string_view value) {
    good = audition.Take(key, value);
    return good;
  });
  audition.Finish();
  if (!scanned) return scanned;
  return good ? Status() : Status(BadRow());
}

}  // namespace stele::store
