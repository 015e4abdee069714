#include "archive/companions.h"

#include <algorithm>

#include "util/checksum.h"

namespace stele::archive {
namespace {

constexpr std::size_t kContainersMax = 4;
// A record without a name for its capture belongs to one that is at most so many captures away.
constexpr std::size_t kNearby = 2;

bool IsBefore(const CaptureMark& a, const CaptureMark& b) { return a.position < b.position; }

// Records that share a member share its offset, too, so that nobody knows what stands beside what:
// the only capture of that URI is meant.
std::optional<std::size_t> CaptureAround(std::span<const CaptureMark> captures,
                                         const Companion& companion) {
  const auto [begin, end] = std::equal_range(captures.begin(), captures.end(),
                                             CaptureMark{companion.offset, 0}, IsBefore);
  if (begin == end) return CaptureBeside(captures, companion.offset, companion.uri);
  const auto is_it = [&](const CaptureMark& mark) { return mark.uri == companion.uri; };
  const auto found = std::find_if(begin, end, is_it);
  if (found == end || std::find_if(found + 1, end, is_it) != end) return std::nullopt;
  return static_cast<std::size_t>(found - captures.begin());
}

// Whether two cannot be told apart in their file.
bool AreAlike(const Companion& a, const Companion& b) {
  return a.type == b.type && a.offset == b.offset && a.about == b.about && a.uri == b.uri;
}

}  // namespace

std::optional<std::size_t> CaptureBeside(std::span<const CaptureMark> captures,
                                         std::uint64_t position, std::uint64_t uri) {
  const auto behind =
      std::upper_bound(captures.begin(), captures.end(), CaptureMark{position, 0}, IsBefore);
  const auto at = static_cast<std::size_t>(behind - captures.begin());
  for (std::size_t distance = 1; distance <= kNearby; ++distance) {
    // Before it first: most writers put the response first.
    if (at >= distance && captures[at - distance].uri == uri) return at - distance;
    if (at + distance - 1 < captures.size() && captures[at + distance - 1].uri == uri) {
      return at + distance - 1;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> CaptureNamed(const CapturesById& by_id,
                                        std::span<const CaptureMark> captures,
                                        std::uint64_t position, std::uint64_t id) {
  if (id == 0) return std::nullopt;
  std::optional<std::size_t> before;
  std::optional<std::size_t> first;
  const auto [begin, end] = by_id.equal_range(id);
  for (auto it = begin; it != end; ++it) {
    const std::size_t number = it->second;
    if (!first || number < *first) first = number;
    const bool is_before = captures[number].position <= position;
    if (is_before && (!before || *before < number)) before = number;
  }
  return before ? before : first;
}

Companions::CaptureKey Companions::KeyOf(const catalog::Capture& capture) {
  return {capture.place.offset, ChecksumOf(capture.url), capture.time.milliseconds};
}

Result<std::vector<Companion>> Companions::Of(const catalog::Capture& capture) {
  Result<const ByCapture*> loaded = Load(capture.place.container);
  if (!loaded) return loaded.error();
  std::vector<Companion> companions;
  const auto [begin, end] = (*loaded)->equal_range(KeyOf(capture));
  for (auto it = begin; it != end; ++it) {
    const bool is_there = std::any_of(companions.begin(), companions.end(),
                                      [&](const Companion& c) { return AreAlike(c, it->second); });
    if (!is_there) companions.push_back(it->second);
  }
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
  std::vector<CaptureMark> marks;
  std::vector<CaptureKey> keys;
  CapturesById by_record_id;
  const Status read = (*rows)->ForEachCapture([&](std::span<ContainerCapture> some) -> Status {
    for (const ContainerCapture& capture : some) {
      by_record_id.emplace(capture.record_id, marks.size());
      keys.push_back(KeyOf(capture.row));
      marks.push_back({capture.row.place.offset, std::get<1>(keys.back())});
    }
    return {};
  });
  if (!read) return read.error();
  Result<std::vector<Companion>> companions = (*rows)->Companions();
  if (!companions) return companions.error();
  ByCapture found;
  for (const Companion& companion : *companions) {
    std::optional<std::size_t> owner =
        CaptureNamed(by_record_id, marks, companion.offset, companion.about);
    if (!owner) owner = CaptureAround(marks, companion);
    if (owner) found.emplace(keys[*owner], companion);
  }
  if (containers_.size() >= kContainersMax) containers_.erase(containers_.begin());
  return &containers_.emplace(container, std::move(found)).first->second;
}

}  // namespace stele::archive
