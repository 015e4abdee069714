// Giving back the space of a container volume.
#include <fmt/format.h>

#include <algorithm>

#include "store/container_compact.h"
#include "store/container_volume.h"

namespace stele::store {
namespace {

constexpr std::uint64_t kWorthSealingBytes = 4096;

bool IsMoreThan(double share, std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) > share * static_cast<double>(whole);
}

}  // namespace

ContainerCompactor ContainerVolume::NewCompactor() {
  return {files_, index_, *log_, fmt::format("{}/temporary/{}", directory_, ++temporary_number_)};
}

// Containers that were condemned before a crash.
Status ContainerVolume::RemoveCondemned() {
  const Result<std::vector<std::uint64_t>> condemned = index_.Condemned();
  if (!condemned) return condemned.error();
  ContainerCompactor compactor = NewCompactor();
  for (const std::uint64_t container : *condemned) {
    const Result<std::uint64_t> freed = compactor.Remove(container);
    if (!freed) return freed.error();
  }
  return {};
}

// The container that grows is sealed, when it would be chosen otherwise: what is used of it moves
// to the next one.
Status ContainerVolume::SealIfUnused(const UsedBytes& used, double used_share_max) {
  const LogPosition end = index_.position();
  const auto found = used.find(end.container);
  const std::uint64_t used_bytes = found == used.end() ? 0 : found->second;
  if (end.offset < kWorthSealingBytes || IsMoreThan(used_share_max, used_bytes, end.offset)) {
    return {};
  }
  return log_->StartNext();
}

// What needs no copying comes first, in case there is no room for copies; then older ones, because
// releases stay until their references are gone.
Result<std::vector<ContainerVolume::Victim>> ContainerVolume::ChooseVictims(const UsedBytes& used,
                                                                            double used_share_max) {
  const std::uint64_t last = index_.position().container;
  const Result<std::vector<ContainerName>> names = files_.List();
  if (!names) return names.error();
  std::vector<Victim> victims;
  for (const ContainerName& name : *names) {
    if (!name.sealed || name.serial >= last) continue;
    const auto file = files_.Open(name.serial);
    if (!file) return file.error();
    const Result<std::uint64_t> size = (*file)->Size();
    if (!size) return size.error();
    const auto found = used.find(name.serial);
    const std::uint64_t used_bytes = found == used.end() ? 0 : found->second;
    if (!IsMoreThan(used_share_max, used_bytes, *size)) {
      victims.push_back({name.serial, *size, used_bytes == 0});
    }
  }
  std::stable_partition(victims.begin(), victims.end(),
                        [](const Victim& victim) { return victim.is_unused; });
  return victims;
}

Result<std::uint64_t> ContainerVolume::Compact(const CompactOptions& options) {
  const std::lock_guard maintaining(maintaining_);
  Status status = RemoveCondemned();
  if (!status) return status.error();
  const Result<UsedBytes> used = index_.UsedBytes(options_.signature->size());
  if (!used) return used.error();
  status = SealIfUnused(*used, options.used_share_max);
  if (!status) return status.error();
  const Result<std::vector<Victim>> victims = ChooseVictims(*used, options.used_share_max);
  if (!victims) return victims.error();
  std::uint64_t all_bytes = 0;
  for (const Victim& victim : *victims) all_bytes += victim.size;
  std::uint64_t done_bytes = 0;
  std::uint64_t freed_bytes = 0;
  for (const Victim& victim : *victims) {
    if (options.stop && options.stop()) break;
    const Result<std::optional<std::uint64_t>> freed = CompactOne(victim, options);
    if (!freed) return freed.error();
    if (!*freed) break;
    freed_bytes += **freed;
    done_bytes += victim.size;
    if (options.progress) options.progress(done_bytes, all_bytes);
  }
  return freed_bytes;
}

// Returns what was freed; nothing when it was stopped.
Result<std::optional<std::uint64_t>> ContainerVolume::CompactOne(const Victim& victim,
                                                                 const CompactOptions& options) {
  if (state() == VolumeState::kFrozen) return Full();
  ContainerCompactor compactor = NewCompactor();
  const Result<ContainerCompactor::Copied> copied =
      compactor.CopyUsed(victim.container, options.stop);
  if (!copied) return copied.error();
  if (copied->stopped) return std::optional<std::uint64_t>();
  if (!copied->damaged.empty()) {
    for (const LogDamage& damage : copied->damaged) {
      if (options.report) options.report(FindingOf(damage));
    }
    return std::optional<std::uint64_t>(0);
  }
  const Status synced = Sync();  // the copies
  if (!synced) return synced.error();
  const Result<std::uint64_t> removed = compactor.Remove(victim.container);
  if (!removed) return removed.error();
  return std::optional(*removed - std::min(*removed, compactor.copied_bytes()));
}

}  // namespace stele::store
