// What the index knows about records that could go: which of them still say something, and how much
// of each container they are.
#include <algorithm>
#include <set>

#include "store/container_batch.h"
#include "store/container_index.h"
#include "util/ascii.h"

namespace stele::store {
namespace {

constexpr std::string_view kCondemnedPrefix = "!condemned ";

std::string CondemnedKey(std::uint64_t container) {
  return std::string(kCondemnedPrefix) + std::to_string(container);
}

// Takes the rows of the table in their order: in each signature, blocks with references come first,
// then what owners hold, blocks without references, and operations.
class BytesInUse {
 public:
  explicit BytesInUse(std::size_t signature_bytes) : signature_bytes_(signature_bytes) {}

  Status Take(std::string_view key, std::string_view value) {
    if (key.size() <= signature_bytes_ + 2) return BadRow();
    const std::string_view here = key.substr(0, 1 + signature_bytes_);
    if (signature_ != here) {
      signature_ = here;
      living_.clear();
      held_.clear();
    }
    const char part = key[1 + signature_bytes_];
    const std::string_view rest = key.substr(2 + signature_bytes_);
    if (part == 'b') return TakeBlocks(value);
    if (part == 'c') {
      held_[std::string(rest.substr(std::min<std::size_t>(4, rest.size())))] =
          static_cast<std::int64_t>(RowReader(value).Number());
    }
    return part == 'o' ? TakeOperation(rest, value) : Status();
  }

  std::map<std::uint64_t, std::uint64_t> bytes() && { return std::move(bytes_); }

 private:
  Status TakeBlocks(std::string_view value) {
    const Result<std::vector<BlockRow>> rows = ParseBlockRows(value);
    if (!rows) return rows.error();
    for (const BlockRow& row : *rows) {
      living_.insert(row.record_id);
      if (row.location.length > 0) bytes_[row.location.container] += row.location.length;
    }
    return {};
  }

  // A release of a block that is gone is needed as long as there are references for it.
  Status TakeOperation(std::string_view what, std::string_view value) {
    const Result<std::vector<OperationRow>> rows = ParseOperationRows(value);
    if (!rows) return rows.error();
    const std::string owner(what.substr(1, what.find(' ') - 1));
    for (const OperationRow& row : *rows) {
      if (!living_.contains(row.record_id)) {
        if (what.front() != '-') continue;
        const auto held = held_.find(row.record_id + ' ' + owner);
        if (held != held_.end() && held->second < 0) continue;
      }
      bytes_[row.container] += row.bytes;
    }
    return {};
  }

  const std::size_t signature_bytes_;
  std::string signature_;
  std::set<std::string> living_;              // record ids
  std::map<std::string, std::int64_t> held_;  // by record id and owner
  std::map<std::uint64_t, std::uint64_t> bytes_;
};

}  // namespace

Result<std::map<std::uint64_t, std::uint64_t>> BlockIndex::UsedBytes(
    std::size_t signature_bytes) const {
  BytesInUse used(signature_bytes);
  Status status;
  const Status scanned = table_.Scan("s", [&](std::string_view key, std::string_view value) {
    status = used.Take(key, value);
    return status.ok();
  });
  if (status) status = scanned;
  if (!status) return status.error();
  return std::move(used).bytes();
}

Result<BlockIndex::Standing> BlockIndex::StandingOf(const LogEntry& entry) const {
  const char act = entry.kind == LogEntry::Kind::kRelease ? '-' : '+';
  const auto operation = table_.Get(OperationKey(entry.block.signature, act, entry.operation));
  if (!operation) return operation.error();
  const auto rows = ParseOperationRows(operation->value_or(""));
  const auto living = table_.Get(BlockKey(entry.block));
  if (!living) return living.error();
  const auto blocks = ParseBlockRows(living->value_or(""));
  const auto held = table_.Get(OwnerKey(entry.block, entry.record_id, entry.operation.owner));
  if (!held) return held.error();
  if (!rows || !blocks) return BadRow();
  Standing standing;
  for (const OperationRow& row : *rows) {
    standing.counts |= row.overflow == entry.block.overflow && row.record_id == entry.record_id &&
                       row.container == entry.location.container;
  }
  for (const BlockRow& row : *blocks) {
    if (row.record_id != entry.record_id) continue;
    standing.alive = true;
    standing.is_read = row.location == entry.location;
  }
  if (*held) standing.held = static_cast<std::int64_t>(RowReader(**held).Number());
  return standing;
}

Status BlockIndex::Condemn(std::uint64_t container) {
  return table_.Write({{CondemnedKey(container), ""}});
}

Result<std::vector<std::uint64_t>> BlockIndex::Condemned() const {
  std::vector<std::uint64_t> containers;
  const Status scanned =
      table_.Scan(std::string(kCondemnedPrefix), [&](std::string_view key, std::string_view) {
        containers.push_back(ParseDecimal(key.substr(kCondemnedPrefix.size())).value_or(0));
        return true;
      });
  if (!scanned) return scanned.error();
  return containers;
}

Status BlockIndex::Forget(std::span<const LogEntry> entries) {
  const std::lock_guard changing(changing_);
  IndexBatch batch(table_, usage());
  for (const LogEntry& entry : entries) {
    const Status forgotten = batch.Forget(entry);
    if (!forgotten) return forgotten;
  }
  return Write(batch, position());
}

Status BlockIndex::Removed(std::uint64_t container) {
  return table_.Write({{CondemnedKey(container), std::nullopt}});
}

}  // namespace stele::store
