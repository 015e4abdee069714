#include "store/container_index.h"

#include <algorithm>

namespace stele::store {
namespace {

constexpr std::string_view kFormat = "stele container index 1";
constexpr const char* kFormatKey = "!format";
constexpr const char* kPositionKey = "!position";
constexpr const char* kUsageKey = "!usage";

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
    return {};
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

Status BlockIndex::Audit(std::size_t signature_bytes,
                         const std::function<void(const AuditedBlock&)>& visit) const {
  std::optional<Signature> signature;
  std::map<std::uint32_t, AuditedBlock> blocks;
  const auto finish = [&] {
    for (const auto& [overflow, block] : blocks) {
      const bool nothing =
          block.row.references == 0 && block.by_operations == 0 && block.by_owners == 0;
      if (!nothing) visit(block);
    }
    blocks.clear();
  };
  bool good = true;
  const Status scanned = table_.Scan("s", [&](std::string_view key, std::string_view value) {
    good = key.size() > signature_bytes + 2;
    if (!good) return false;
    const Signature here(key.substr(1, signature_bytes));
    if (!signature || *signature != here) finish();
    signature.emplace(here);
    const char part = key[1 + signature_bytes];
    const std::string_view rest = key.substr(2 + signature_bytes);
    const std::uint32_t overflow = OverflowOf(part == 'o' ? value : rest);
    AuditedBlock& block =
        blocks.try_emplace(overflow, AuditedBlock{{here, overflow}, {}, 0, 0}).first->second;
    if (part == 'b') {
      Result<BlockRow> row = ParseRow(value);
      good = row.ok();
      if (row) block.row = *std::move(row);
    } else if (part == 'c') {
      block.by_owners += static_cast<std::int64_t>(RowReader(value).Number());
    } else {
      block.by_operations += rest.front() == static_cast<char>(Act::kReference) ? 1 : -1;
    }
    return good;
  });
  finish();
  if (!scanned) return scanned;
  return good ? Status() : Status(BadRow());
}

}  // namespace stele::store
