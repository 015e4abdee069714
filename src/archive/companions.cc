#include "archive/companions.h"

#include <algorithm>
#include <unordered_map>

#include "util/checksum.h"

namespace stele::archive {
namespace {

constexpr std::size_t kContainersMax = 4;
// A record without a name for its capture belongs to one that is at most so many captures away.
constexpr std::size_t kNearby = 2;

struct Place {
  std::uint64_t offset = 0;
  std::uint64_t uri = 0;
};

// The offset of the capture that it belongs to; nothing when there is none.
std::optional<std::uint64_t> OwnerOf(
    const Companion& companion, const std::vector<Place>& places,
    const std::unordered_map<std::uint64_t, std::uint64_t>& by_record_id) {
  if (const auto named = by_record_id.find(companion.about);
      companion.about != 0 && named != by_record_id.end()) {
    return named->second;
  }
  const auto behind = std::upper_bound(
      places.begin(), places.end(), companion.offset,
      [](std::uint64_t offset, const Place& place) { return offset < place.offset; });
  const auto at = static_cast<std::size_t>(behind - places.begin());
  for (std::size_t distance = 1; distance <= kNearby; ++distance) {
    // Before it first: most writers put the response first.
    if (at >= distance && places[at - distance].uri == companion.uri) {
      return places[at - distance].offset;
    }
    if (at + distance - 1 < places.size() && places[at + distance - 1].uri == companion.uri) {
      return places[at + distance - 1].offset;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Companion>> Companions::Of(const catalog::CapturePlace& capture) {
  Result<const ByCapture*> loaded = Load(capture.container);
  if (!loaded) return loaded.error();
  std::vector<Companion> companions;
  const auto [begin, end] = (*loaded)->equal_range(capture.offset);
  for (auto it = begin; it != end; ++it) companions.push_back(it->second);
  return companions;
}

Result<const Companions::ByCapture*> Companions::Load(std::uint32_t container) {
  if (const auto known = containers_.find(container); known != containers_.end()) {
    return &known->second;
  }
  if (view_.holdings().FindOpen(container) != nullptr) {
    return &containers_.emplace(container, ByCapture()).first->second;
  }
  Result<std::unique_ptr<ContainerRows>> rows = view_.RowsOf(container);
  if (!rows) return rows.error();
  std::vector<Place> places;
  std::unordered_map<std::uint64_t, std::uint64_t> by_record_id;
  const Status read = (*rows)->ForEachCapture([&](std::span<ContainerCapture> some) -> Status {
    for (const ContainerCapture& capture : some) {
      places.push_back({capture.row.place.offset, ChecksumOf(capture.row.url)});
      by_record_id.emplace(capture.record_id, capture.row.place.offset);
    }
    return {};
  });
  if (!read) return read.error();
  Result<std::vector<Companion>> companions = (*rows)->Companions();
  if (!companions) return companions.error();
  ByCapture found;
  for (const Companion& companion : *companions) {
    if (const auto owner = OwnerOf(companion, places, by_record_id)) {
      found.emplace(*owner, companion);
    }
  }
  if (containers_.size() >= kContainersMax) containers_.erase(containers_.begin());
  return &containers_.emplace(container, std::move(found)).first->second;
}

}  // namespace stele::archive
