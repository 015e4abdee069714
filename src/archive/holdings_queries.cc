// What can be asked of holdings that were added up.
#include <algorithm>
#include <limits>

#include "archive/holdings.h"

namespace stele::archive {

const Holdings::Brought* Holdings::FindBrought(const catalog::CaptureId& id) const {
  auto behind = brought_.upper_bound(id);
  if (behind == brought_.begin()) return nullptr;
  --behind;
  return behind->first.batch == id.batch ? &behind->second : nullptr;
}

std::vector<Holdings::IdRange> Holdings::IdsOfRun(std::uint32_t run) const {
  constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();
  std::vector<IdRange> ranges;
  for (auto part = brought_.begin(); part != brought_.end(); ++part) {
    if (part->second.run != run) continue;
    const auto behind = std::next(part);
    const bool is_last = behind == brought_.end() || behind->first.batch != part->first.batch;
    const std::uint32_t last = is_last ? kMax : behind->first.serial - 1;
    if (!ranges.empty() && ranges.back().last.batch == part->first.batch &&
        ranges.back().last.serial + 1 == part->first.serial) {
      ranges.back().last.serial = last;
    } else {
      ranges.push_back({part->first, {part->first.batch, last}});
    }
  }
  return ranges;
}

bool Holdings::IsComparable(const Run& run) const {
  if (!run.end || !run.is_from_outside() || run.kind == kPatchKind) return false;
  return RemovedOfRun(run.number) < run.captures;
}

std::uint64_t Holdings::RemovedOfRun(std::uint32_t run) const {
  std::uint64_t removed = 0;
  for (const IdRange& range : IdsOfRun(run)) {
    removed += static_cast<std::uint64_t>(
        std::distance(removed_.lower_bound(range.first), removed_.upper_bound(range.last)));
  }
  return removed;
}

std::uint64_t Holdings::RemovedIn(const Container& container) const {
  std::uint64_t removed = 0;
  for (const Container::Batch& part : container.batches) {
    const auto first = removed_.lower_bound({part.batch, part.base});
    for (auto id = first; id != removed_.end() && id->batch == part.batch; ++id) {
      if (id->serial - part.base >= part.count) break;
      ++removed;
    }
  }
  for (const catalog::CaptureId& id : container.ids) removed += removed_.contains(id) ? 1 : 0;
  return removed;
}

const Run* Holdings::FindUnendedRun() const {
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    if (run->second.is_from_outside()) return run->second.end ? nullptr : &run->second;
  }
  return nullptr;
}

std::uint64_t Holdings::CaptureCount() const {
  std::uint64_t count = 0;
  for (const auto& [number, container] : containers_) {
    if (container.ids.empty()) count += container.captures;
    // Those that took the place of others, which are still there, are counted with them.
    for (const catalog::CaptureId& id : container.ids) {
      const Brought* brought = FindBrought(id);
      if (new_places_.at(id) == number && IsPurged(brought->container)) ++count;
    }
  }
  return count;
}

bool Holdings::HasTombstone(const std::vector<Tombstone>& tombstones) const {
  return std::any_of(tombstones.begin(), tombstones.end(),
                     [&](Tombstone tombstone) { return tombstones_.contains(tombstone); });
}

// In the container that brought it, or the last that it came to.
bool Holdings::IsHeld(const catalog::CaptureId& id) const {
  const auto moved = new_places_.find(id);
  const Brought* brought = FindBrought(id);
  return (moved != new_places_.end() && containers_.contains(moved->second)) ||
         (brought != nullptr && containers_.contains(brought->container));
}

std::map<std::uint32_t, Holdings::BatchCount> Holdings::CountByBatch() const {
  std::map<std::uint32_t, BatchCount> counts;
  for (const auto& [number, container] : containers_) {
    for (const Container::Batch& part : container.batches) {
      counts[part.batch].captures += part.count;
    }
    for (const catalog::CaptureId& id : container.ids) {
      const Brought* brought = FindBrought(id);
      if (new_places_.at(id) == number && IsPurged(brought->container)) ++counts[id.batch].captures;
    }
  }
  for (const catalog::CaptureId& id : removed_) {
    if (!IsHeld(id)) continue;
    BatchCount& count = counts[id.batch];
    ++count.removed;
    if (count.captures > 0) --count.captures;
  }
  std::erase_if(counts, [](const auto& entry) { return entry.second == BatchCount(); });
  return counts;
}

const Container* Holdings::Find(std::uint32_t number) const {
  const auto found = containers_.find(number);
  return found == containers_.end() ? nullptr : &found->second;
}

const Container* Holdings::FindOpen(std::uint32_t number) const {
  const auto found = open_containers_.find(number);
  return found == open_containers_.end() ? nullptr : &found->second;
}

const Container* Holdings::FindBySha256(std::string_view sha256) const {
  const auto found = by_sha256_.find(sha256);
  return found == by_sha256_.end() ? nullptr : Find(found->second);
}

const Container* Holdings::FindKnown(const Container& container) const {
  const Container* known = FindBySha256(container.sha256);
  if (known != nullptr) return known;
  for (const std::string& part : container.part_sha256s) {
    known = FindBySha256(part);
    if (known == nullptr) return nullptr;
  }
  return known;
}

bool Holdings::WasPurged(std::string_view sha256) const {
  return purged_sha256s_.contains(sha256) && !by_sha256_.contains(sha256);
}

const Hold* Holdings::HoldOver(std::string_view key, Timestamp captured) const {
  for (const auto& [number, hold] : holds_) {
    if (hold.Covers(key, captured)) return &hold;
  }
  return nullptr;
}

std::uint32_t Holdings::NextContainer() const { return last_container_ + 1; }

std::optional<std::uint32_t> Holdings::NewPlaceOf(const catalog::CaptureId& id) const {
  const auto found = new_places_.find(id);
  if (found == new_places_.end()) return std::nullopt;
  return found->second;
}

std::uint32_t Holdings::NextRun() const { return runs_.empty() ? 1 : runs_.rbegin()->first + 1; }

std::uint32_t Holdings::NextRemoval() const {
  return removals_.empty() ? 1 : removals_.rbegin()->first + 1;
}

std::uint32_t Holdings::NextHold() const { return holds_.empty() ? 1 : holds_.rbegin()->first + 1; }

std::uint32_t Holdings::NextSerial(std::uint32_t batch) const {
  const auto found = next_serials_.find(batch);
  return found == next_serials_.end() ? 0 : found->second;
}

}  // namespace stele::archive
