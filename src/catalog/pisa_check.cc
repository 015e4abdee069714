#include "catalog/pisa_check.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stele::catalog {
namespace {

// A block and what those who point to it know of it.
struct Visit {
  PisaBlockNumber number;
  bool is_root;
  std::optional<std::string> end_key;  // its keys are smaller
};

class Checker {
 public:
  Checker(const PisaForest& forest, const PisaLimits& limits,
          const std::function<void(const Error&)>& report)
      : forest_(forest), limits_(limits), report_(report) {}

  Result<PisaCounts> Run();

 private:
  Status Fault(const Error& error);
  void Fault(std::string_view what) { report_(forest_.Corrupt(number_, what)); }
  Status CheckBlock(const Visit& visit);
  void CheckOrder(const PisaBlock& block, const std::optional<std::string>& end_key);
  void CheckSizes(const PisaBlock& block, bool is_root);
  Status CheckChildren(const PisaBlock& block, const std::optional<std::string>& end_key);
  Status CheckVersions(const PisaBlock& block, const std::optional<std::string>& end_key);
  void CheckCopies(const PisaBlock& block, const PisaBlock& previous,
                   const std::optional<std::string>& end_key);

  const PisaForest& forest_;
  const PisaLimits& limits_;
  const std::function<void(const Error&)>& report_;
  std::unordered_set<PisaBlockNumber> seen_;
  std::vector<Visit> open_;
  PisaBlockNumber number_ = kNoPisaBlock;  // of the block that is being checked
  PisaCounts counts_;
};

// Corruption is a finding, everything else ends the check.
Status Checker::Fault(const Error& error) {
  if (error.code != ErrorCode::kCorrupt) return error;
  report_(error);
  return {};
}

Result<PisaCounts> Checker::Run() {
  if (!limits_.Valid()) {
    report_({ErrorCode::kCorrupt, "blocks are too small for three entries with the longest keys"});
  }
  const std::vector<PisaPart>& parts = forest_.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::optional<std::string> end_key;
    if (i + 1 < parts.size()) end_key = parts[i + 1].first_key;
    for (const PisaRoot& root : parts[i].roots) {
      const Result<PisaBlockPointer> block = ReadRootAt(forest_, parts[i], root.birth);
      if (!block) {
        if (Status status = Fault(block.error()); !status) return status.error();
      } else if (seen_.insert(root.block).second) {
        open_.push_back({root.block, true, end_key});
      }
    }
  }
  while (!open_.empty()) {
    const Visit visit = std::move(open_.back());
    open_.pop_back();
    if (Status status = CheckBlock(visit); !status) return status.error();
  }
  return counts_;
}

Status Checker::CheckBlock(const Visit& visit) {
  number_ = visit.number;
  const Result<PisaBlockPointer> block = forest_.Read(visit.number);
  if (!block) return Fault(block.error());
  ++counts_.blocks;
  counts_.versions += (*block)->version_count();
  CheckOrder(**block, visit.end_key);
  CheckSizes(**block, visit.is_root);
  if (Status status = CheckVersions(**block, visit.end_key); !status) return status;
  return (*block)->level() == 0 ? Status() : CheckChildren(**block, visit.end_key);
}

void Checker::CheckOrder(const PisaBlock& block, const std::optional<std::string>& end_key) {
  if (block.birth() >= block.death()) Fault("Order: it was never alive");
  for (std::size_t i = 0; i < block.key_count(); ++i) {
    if (i > 0 && block.Key(i - 1) >= block.Key(i)) Fault("Order: its keys do not rise");
    for (std::size_t v = block.FirstVersion(i) + 1; v < block.FirstVersion(i + 1); ++v) {
      if (block.BirthOf(v - 1) >= block.BirthOf(v)) Fault("Order: births of a key do not rise");
      if (block.BirthOf(v) > block.death()) Fault("Order: an entry was born after its block died");
    }
  }
  if (block.key_count() == 0) return;
  if (block.Key(0) < block.index_key()) Fault("Order: a key is before its range");
  if (end_key && block.Key(block.key_count() - 1) >= *end_key) {
    Fault("Order: a key is behind its range");
  }
}

void Checker::CheckSizes(const PisaBlock& block, bool is_root) {
  std::size_t born_with = 0;    // live bytes at its birth
  std::size_t born_before = 0;  // of these, what was copied for sure
  for (std::size_t i = 0; i < block.key_count(); ++i) {
    const Timestamp birth = block.BirthOf(block.FirstVersion(i));
    const std::size_t bytes = block.Key(i).size() + kPisaKeyBytes + kPisaVersionBytes;
    if (birth <= block.birth()) born_with += bytes;
    if (birth < block.birth()) born_before += bytes;
    if (bytes > limits_.entry_bytes_max()) Fault("Condition 1: a key is longer than allowed");
  }
  const std::size_t max = limits_.block_bytes_max;
  const std::size_t min = limits_.block_bytes_min();
  if (!is_root && born_with < min) Fault("Invariant 1: it has fewer live bytes than B_min");
  if (block.all_bytes() > max) Fault("Invariant 1: it has more bytes than B_max");
  if (block.previous() != kNoPisaBlock && born_before > max - min + 1) {
    Fault("Invariant 2: it was born with more bytes than B_max - B_min + 1");
  }
  if (block.death() != kEndOfTime && block.all_bytes() + limits_.entry_bytes_max() <= max) {
    Fault("Observation 2: it was split before it was full");
  }
}

Status Checker::CheckChildren(const PisaBlock& block, const std::optional<std::string>& end_key) {
  for (std::size_t i = 0; i < block.key_count(); ++i) {
    const std::size_t end = block.FirstVersion(i + 1);
    for (std::size_t v = block.FirstVersion(i); v < end; ++v) {
      const Timestamp birth = block.BirthOf(v);
      if (birth >= block.death()) continue;
      const Result<PisaBlockPointer> child = ReadChildAt(forest_, block, i, birth);
      if (!child) {
        if (Status status = Fault(child.error()); !status) return status;
        continue;
      }
      const Timestamp death = (*child)->death();
      if (v + 1 < end ? death != block.BirthOf(v + 1) : death < block.death()) {
        Fault("Index: an entry and its child do not die at the same time");
      }
      if (!seen_.insert(block.ValueOf(v)).second) continue;
      const Timestamp time = std::max(birth, block.birth());
      std::size_t next = i + 1;
      while (next < block.key_count() && block.VersionAt(next, time) == PisaBlock::kNone) ++next;
      std::optional<std::string> child_end = end_key;
      if (next < block.key_count()) child_end = block.Key(next);
      open_.push_back({block.ValueOf(v), false, std::move(child_end)});
    }
  }
  return {};
}

Status Checker::CheckVersions(const PisaBlock& block, const std::optional<std::string>& end_key) {
  const Result<PisaBlockPointer> previous = ReadPrevious(forest_, block);
  if (!previous) return Fault(previous.error());
  if (*previous) CheckCopies(block, **previous, end_key);
  return {};
}

void Checker::CheckCopies(const PisaBlock& block, const PisaBlock& previous,
                          const std::optional<std::string>& end_key) {
  for (std::size_t i = previous.LowerBound(block.index_key()); i < previous.key_count(); ++i) {
    const std::string_view key = previous.Key(i);
    if (end_key && key >= *end_key) break;
    const std::size_t at = block.LowerBound(key);
    if (!block.HasKey(at, key)) {
      Fault("Versions: a live entry of its predecessor is missing");
      continue;
    }
    const std::size_t first = block.FirstVersion(at);
    const std::size_t last = previous.FirstVersion(i + 1) - 1;
    const bool copied = block.BirthOf(first) == previous.BirthOf(last) &&
                        block.ValueOf(first) == previous.ValueOf(last);
    // A version that was born with the block took the place of the other one.
    if (!copied && block.BirthOf(first) != block.birth()) {
      Fault("Versions: an entry is not as it was in its predecessor");
    }
  }
  for (std::size_t i = 0; i < block.key_count(); ++i) {
    if (block.BirthOf(block.FirstVersion(i)) < block.birth() &&
        !previous.HasKey(previous.LowerBound(block.Key(i)), block.Key(i))) {
      Fault("Versions: an entry that is older than its block is not in its predecessor");
    }
  }
}

}  // namespace

Result<PisaCounts> CheckPisa(const PisaForest& forest, const PisaLimits& limits,
                             const std::function<void(const Error&)>& report) {
  return Checker(forest, limits, report).Run();
}

}  // namespace stele::catalog
