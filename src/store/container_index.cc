#include "store/container_index.h"

#include <algorithm>

#include "store/container_batch.h"

namespace stele::store {
namespace {

constexpr std::string_view kFormat = "stele container index 5";
constexpr const char* kFormatKey = "!format";
constexpr const char* kPositionKey = "!position";
constexpr const char* kUsageKey = "!usage";
constexpr std::string_view kOwnerPrefix = "!owner ";

Result<OwnerUsage> ParseOwnerSum(std::string_view key, std::string_view row) {
  RowReader reader(row);
  OwnerUsage usage{std::string(key.substr(kOwnerPrefix.size())), 0, 0};
  usage.references = reader.Number();
  usage.content_bytes = reader.Number();
  if (!reader.good()) return BadRow();
  return usage;
}

}  // namespace

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
  usage_.overflow_blocks = usage_row.Number();
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

// Of several, which there may be while records are still to come, the last one.
Result<std::optional<BlockRow>> BlockIndex::Find(const BlockId& block) const {
  const auto row = table_.Get(BlockKey(block));
  if (!row) return row.error();
  Result<std::vector<BlockRow>> rows = ParseBlockRows(row->value_or(""));
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<BlockRow>();
  return std::optional(std::move(rows->front()));
}

// Most volumes have no overflow blocks, and then there is nothing to scan.
Result<std::vector<BlockIndex::NumberedBlock>> BlockIndex::Blocks(
    const Signature& signature) const {
  if (usage().overflow_blocks == 0) {
    Result<std::optional<BlockRow>> first = Find({signature, 0});
    if (!first) return first.error();
    if (!*first) return std::vector<NumberedBlock>();
    return std::vector{NumberedBlock{0, **std::move(first)}};
  }
  const std::string prefix = SignatureKey(signature, 'b');
  std::vector<NumberedBlock> blocks;
  Status parsing;
  const Status scanned = table_.Scan(prefix, [&](std::string_view key, std::string_view value) {
    Result<std::vector<BlockRow>> rows = ParseBlockRows(value);
    if (!rows || rows->empty()) {
      parsing = BadRow();
      return false;
    }
    blocks.push_back({OverflowOf(key.substr(prefix.size())), std::move(rows->front())});
    return true;
  });
  if (!scanned) return scanned.error();
  if (!parsing) return parsing.error();
  return blocks;
}

Result<std::uint64_t> BlockIndex::CountOf(const BlockId& block, const std::string& owner) const {
  const Result<std::optional<BlockRow>> found = Find(block);
  if (!found) return found.error();
  if (!*found) return std::uint64_t{0};
  return CountOf(block, **found, owner);
}

Result<std::uint64_t> BlockIndex::CountOf(const BlockId& block, const BlockRow& row,
                                          const std::string& owner) const {
  const auto counted = table_.Get(OwnerKey(block, row.record_id, owner));
  if (!counted) return counted.error();
  const auto count = static_cast<std::int64_t>(*counted ? RowReader(**counted).Number() : 0);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0));
}

// An id that was forgotten and used again may be about several blocks; the last one counts.
Result<std::optional<std::uint32_t>> BlockIndex::FindOperation(const Signature& signature, Act act,
                                                               const Operation& operation) const {
  const auto row = table_.Get(OperationKey(signature, static_cast<char>(act), operation));
  if (!row) return row.error();
  const Result<std::vector<OperationRow>> rows = ParseOperationRows(row->value_or(""));
  if (!rows) return rows.error();
  const auto last = std::max_element(
      rows->begin(), rows->end(),
      [](const OperationRow& a, const OperationRow& b) { return a.container < b.container; });
  if (last == rows->end()) return std::optional<std::uint32_t>();
  return std::optional(last->overflow);
}

Status BlockIndex::Apply(std::span<const LogEntry> entries, LogPosition end) {
  const std::lock_guard changing(changing_);
  IndexBatch batch(table_, usage());
  for (const LogEntry& entry : entries) {
    const Status applied = batch.Apply(entry);
    if (!applied) return applied;
  }
  return Write(batch, end);
}

Status BlockIndex::Write(IndexBatch& batch, LogPosition position) {
  const Usage& usage = batch.usage();
  BlockTable::Changes& changes = batch.changes();
  changes[kFormatKey] = kFormat;
  changes[kPositionKey] = FormatNumbers({position.container, position.offset});
  changes[kUsageKey] =
      FormatNumbers({usage.blocks, usage.references, usage.content_bytes, usage.overflow_blocks});
  const Status written = table_.Write(changes);
  if (!written) return written;
  const std::lock_guard lock(mutex_);
  position_ = position;
  usage_ = usage;
  return {};
}

Result<std::vector<BlockOperation>> BlockIndex::Operations(
    const BlockId& block, const std::optional<BlockOperation>& after, std::size_t limit) const {
  const Result<std::optional<BlockRow>> living = Find(block);
  if (!living) return living.error();
  const std::string prefix = SignatureKey(block.signature, 'o');
  std::vector<BlockOperation> operations;
  bool good = true;
  const auto visit = [&](std::string_view key, std::string_view value) {
    if (operations.size() >= limit) return false;
    const auto rows = ParseOperationRows(value);
    good = rows.ok();
    if (!good) return false;
    const auto is_here = [&](const OperationRow& row) {
      return row.overflow == block.overflow && (!*living || row.record_id == (*living)->record_id);
    };
    if (std::none_of(rows->begin(), rows->end(), is_here)) return true;
    const std::string_view what = key.substr(prefix.size());
    const std::size_t space = what.find(' ');
    good = space != std::string_view::npos;
    if (!good) return false;
    operations.push_back(
        {static_cast<Act>(what.front()),
         {std::string(what.substr(1, space - 1)), std::string(what.substr(space + 1))}});
    return true;
  };
  const std::string from =
      after ? OperationKey(block.signature, static_cast<char>(after->kind), after->operation) : "";
  const Status scanned = table_.ScanAfter(prefix, from, visit);
  if (!scanned) return scanned.error();
  if (!good) return BadRow();
  return operations;
}

// Those of an owner are found at its counters, which stand behind all blocks of their signature.
Result<std::vector<ListedBlock>> BlockIndex::List(const ListRequest& request,
                                                  std::size_t signature_bytes) const {
  std::vector<ListedBlock> listed;
  std::map<BlockId, BlockRow> blocks;  // of the signature at hand
  bool good = true;
  const auto visit = [&](std::string_view key, std::string_view value) {
    if (listed.size() >= request.limit) return false;
    good = key.size() > signature_bytes + 2;
    if (!good) return false;
    const char part = key[1 + signature_bytes];
    if (part != 'b' && part != 'c') return true;
    const std::string_view rest = key.substr(2 + signature_bytes);
    const BlockId block{Signature(key.substr(1, signature_bytes)), OverflowOf(rest)};
    if (part == 'b') {
      Result<std::vector<BlockRow>> rows = ParseBlockRows(value);
      good = rows && !rows->empty();
      if (!good) return false;
      if (request.owner.empty()) {
        listed.push_back({block, rows->front().size, rows->front().references});
      } else {
        if (!blocks.empty() && blocks.begin()->first.signature != block.signature) blocks.clear();
        blocks[block] = std::move(rows->front());
      }
    } else if (const OwnerKeyParts parts = ParseOwnerKey(rest);
               !request.owner.empty() && parts.owner == request.owner) {
      const auto found = blocks.find(block);
      const auto count = static_cast<std::int64_t>(RowReader(value).Number());
      if (found != blocks.end() && found->second.record_id == parts.record_id && count > 0) {
        listed.push_back({block, found->second.size, static_cast<std::uint64_t>(count)});
      }
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

  Status Take(std::string_view key, std::string_view value) {
    if (key.starts_with(kOwnerPrefix)) {
      const Result<OwnerUsage> kept = ParseOwnerSum(key, value);
      if (!kept) return kept.error();
      owners_[kept->owner].kept = *kept;
    }
    if (!key.starts_with('s')) return {};
    if (key.size() <= signature_bytes_ + 2) return BadRow();
    const Signature here(key.substr(1, signature_bytes_));
    if (signature_ != here) FinishSignature();
    signature_ = here;
    const char part = key[1 + signature_bytes_];
    const std::string_view rest = key.substr(2 + signature_bytes_);
    if (part == 'b') return TakeBlocks(OverflowOf(rest), value);
    if (part == 'c') {
      TakeOwner(ParseOwnerKey(rest), static_cast<std::int64_t>(RowReader(value).Number()));
    } else if (part == 'o') {
      return TakeOperation(rest, value);
    }
    return {};
  }

  void Finish() {
    FinishSignature();
    for (auto& [owner, audited] : owners_) {
      audited.kept.owner = audited.found.owner = owner;
      auditor_.owner(audited);
    }
  }

 private:
  struct Found {
    AuditedBlock block;
    std::map<std::string, std::int64_t> operations;  // by owner
  };

  Found& BlockAt(std::uint32_t overflow, std::string_view record_id) {
    const Found none{{{*signature_, overflow}, {}, 0, 0}, {}};
    return blocks_.try_emplace({overflow, std::string(record_id)}, none).first->second;
  }

  void FinishSignature() {
    for (auto& [place, found] : blocks_) {
      AuditedBlock& block = found.block;
      for (const auto& [owner, count] : found.operations) {
        block.by_operations += std::max<std::int64_t>(count, 0);
      }
      const bool nothing =
          block.row.references == 0 && block.by_operations == 0 && block.by_owners == 0;
      if (!nothing) auditor_.block(block);
    }
    blocks_.clear();
  }

  void TakeOwner(const OwnerKeyParts& parts, std::int64_t count) {
    if (count <= 0) return;
    AuditedBlock& block = BlockAt(parts.overflow, parts.record_id).block;
    block.by_owners += count;
    OwnerUsage& found = owners_[std::string(parts.owner)].found;
    found.references += static_cast<std::uint64_t>(count);
    found.content_bytes += static_cast<std::uint64_t>(count) * block.row.size;
  }

  Status TakeBlocks(std::uint32_t overflow, std::string_view value) {
    Result<std::vector<BlockRow>> rows = ParseBlockRows(value);
    if (!rows) return rows.error();
    for (BlockRow& row : *rows) BlockAt(overflow, row.record_id).block.row = std::move(row);
    return {};
  }

  Status TakeOperation(std::string_view what, std::string_view value) {
    const Result<std::vector<OperationRow>> rows = ParseOperationRows(value);
    if (!rows) return rows.error();
    const std::string owner(what.substr(1, what.find(' ') - 1));
    const int more = what.front() == static_cast<char>(Act::kReference) ? 1 : -1;
    for (const OperationRow& row : *rows) {
      BlockAt(row.overflow, row.record_id).operations[owner] += more;
    }
    return {};
  }

  const std::size_t signature_bytes_;
  const Auditor& auditor_;
  std::optional<Signature> signature_;
  std::map<std::string, AuditedOwner> owners_;
  std::map<std::pair<std::uint32_t, std::string>, Found> blocks_;  // of the signature at hand
};

Status BlockIndex::Audit(std::size_t signature_bytes, const Auditor& auditor) const {
  Audition audition(signature_bytes, auditor);
  Status status;
  const Status scanned = table_.Scan("", [&](std::string_view key, std::string_view value) {
    status = audition.Take(key, value);
    return status.ok();
  });
  audition.Finish();
  return scanned ? status : scanned;
}

}  // namespace stele::store
