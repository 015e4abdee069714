#include "store/reference_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "util/ascii.h"
#include "util/rabin.h"

namespace stele::store {
namespace {

constexpr std::string_view kVersion = "2";
constexpr std::size_t kFields = 9;

std::optional<std::int64_t> ParseSigned(std::string_view text) {
  if (text.size() < 2 || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const std::optional<std::uint64_t> value = ParseDecimal(text.substr(1));
  if (!value || *value > INT64_MAX) return std::nullopt;
  const auto number = static_cast<std::int64_t>(*value);
  return text.front() == '-' ? -number : number;
}

std::string OperationKey(ReferenceEntry::Kind kind, const Operation& operation) {
  return fmt::format("{}{} {}", static_cast<char>(kind), operation.owner, operation.id);
}

std::uint64_t AtLeastZero(std::int64_t count) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0));
}

}  // namespace

std::string FormatReferenceEntry(const ReferenceEntry& entry) {
  std::string line =
      fmt::format("{} {} {} {} {} {:+} {:+} {}", static_cast<char>(entry.kind),
                  BlockName(entry.block.signature, entry.block.overflow), entry.operation.owner,
                  entry.operation.id, kVersion, entry.blocks, entry.stored_bytes, entry.size);
  line += fmt::format(" {:016X}\n", RabinFingerprint(line));
  return line;
}

std::optional<ReferenceEntry> ParseReferenceEntry(std::string_view line) {
  const std::vector<std::string_view> fields = Split(line, ' ');
  if (fields.size() != kFields || fields[4] != kVersion) return std::nullopt;
  const std::string_view signed_part = line.substr(0, line.rfind(' '));
  if (fields[8] != fmt::format("{:016X}", RabinFingerprint(signed_part))) return std::nullopt;
  if (fields[0] != "+" && fields[0] != "-") return std::nullopt;
  const std::optional<BlockId> block = ParseBlockName(fields[1]);
  const Operation operation{std::string(fields[2]), std::string(fields[3])};
  const auto blocks = ParseSigned(fields[5]);
  const auto stored = ParseSigned(fields[6]);
  const auto size = ParseDecimal(fields[7]);
  if (!block || !IsOperation(operation) || !blocks || !stored || !size) return std::nullopt;
  if (*size > INT64_MAX) return std::nullopt;
  if (*blocks < -1 || *blocks > 1) return std::nullopt;
  const auto kind = static_cast<ReferenceEntry::Kind>(fields[0].front());
  return ReferenceEntry{kind,    *block,  operation,
                        *blocks, *stored, static_cast<std::int64_t>(*size)};
}

ReferenceEntries ParseReferenceEntries(std::string_view journal) {
  ReferenceEntries result;
  for (std::size_t begin = 0; begin < journal.size();) {
    const std::size_t end = journal.find('\n', begin);
    if (end == std::string_view::npos) break;
    std::optional<ReferenceEntry> entry = ParseReferenceEntry(journal.substr(begin, end - begin));
    begin = end + 1;
    if (!entry) {
      ++result.tail_lines;
      continue;
    }
    result.entries.push_back(*std::move(entry));
    result.damaged += std::exchange(result.tail_lines, 0);
    result.good_bytes = begin;
  }
  result.has_tail = result.good_bytes < journal.size();
  return result;
}

void ReferenceSet::Add(const ReferenceEntry& entry) {
  const bool added =
      operations_.emplace(OperationKey(entry.kind, entry.operation), entry.block.overflow).second;
  if (!added) return;
  const int change = entry.kind == ReferenceEntry::Kind::kReference ? 1 : -1;
  Counter& counter = counters_[entry.block.overflow];
  counter.total += change;
  counter.by_owner[entry.operation.owner] += change;
  if (change > 0) counter.size = entry.size;
}

std::optional<std::uint32_t> ReferenceSet::Find(ReferenceEntry::Kind kind,
                                                const Operation& operation) const {
  const auto found = operations_.find(OperationKey(kind, operation));
  if (found == operations_.end()) return std::nullopt;
  return found->second;
}

std::uint64_t ReferenceSet::Count(std::uint32_t overflow) const {
  const auto found = counters_.find(overflow);
  return found == counters_.end() ? 0 : AtLeastZero(found->second.total);
}

std::uint64_t ReferenceSet::CountOf(std::uint32_t overflow, const std::string& owner) const {
  const auto found = counters_.find(overflow);
  if (found == counters_.end()) return 0;
  const auto held = found->second.by_owner.find(owner);
  return held == found->second.by_owner.end() ? 0 : AtLeastZero(held->second);
}

std::vector<std::uint32_t> ReferenceSet::Live() const {
  std::vector<std::uint32_t> live;
  for (const auto& [overflow, counter] : counters_) {
    if (counter.total > 0) live.push_back(overflow);
  }
  return live;
}

std::int64_t ReferenceSet::SizeOf(std::uint32_t overflow) const {
  const auto found = counters_.find(overflow);
  return found == counters_.end() ? 0 : found->second.size;
}

std::map<std::string, std::uint64_t> ReferenceSet::OwnersOf(std::uint32_t overflow) const {
  std::map<std::string, std::uint64_t> owners;
  const auto found = counters_.find(overflow);
  if (found == counters_.end()) return owners;
  for (const auto& [owner, count] : found->second.by_owner) {
    if (count > 0) owners[owner] = AtLeastZero(count);
  }
  return owners;
}

std::vector<BlockOperation> ReferenceSet::Operations(std::uint32_t overflow,
                                                     const std::optional<BlockOperation>& after,
                                                     std::size_t limit) const {
  const std::string from = after ? OperationKey(after->kind, after->operation) : "";
  std::vector<std::string_view> keys;
  for (const auto& [key, block] : operations_) {
    if (block == overflow && key > from) keys.push_back(key);
  }
  const std::size_t count = std::min(limit, keys.size());
  std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count), keys.end());
  std::vector<BlockOperation> operations;
  for (const std::string_view key : std::span(keys).first(count)) {
    const std::size_t space = key.find(' ');
    operations.push_back(
        {static_cast<BlockOperation::Kind>(key.front()),
         {std::string(key.substr(1, space - 1)), std::string(key.substr(space + 1))}});
  }
  return operations;
}

std::uint32_t ReferenceSet::FreeOverflow(std::uint32_t lowest) const {
  std::uint32_t free = lowest;
  for (const std::uint32_t taken : Live()) {
    if (taken > free) break;
    if (taken == free) ++free;
  }
  return free;
}

}  // namespace stele::store
