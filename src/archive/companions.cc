#include "archive/companions.h"

#include <algorithm>
#include <set>

#include "archive/container_scan.h"
#include "util/checksum.h"

namespace stele::archive {
namespace {

constexpr std::size_t kContainersMax = 4;
// A record without a name for its capture belongs to one that is at most so many captures away.
constexpr std::size_t kNearby = 2;

// Takes what follows a capture, up to the next one.
class BehindOne final : public ContainerRowsSink {
 public:
  Status Add(const ContainerCapture&) override {
    is_over = true;
    return Error{ErrorCode::kNotFound, "no more is wanted"};
  }
  Status Add(const Companion& companion) override {
    companions.push_back(companion);
    return {};
  }

  std::vector<Companion> companions;
  bool is_over = false;
};

bool IsBefore(const CaptureMark& a, const CaptureMark& b) { return a.position < b.position; }

}  // namespace

MarkedCaptures::MarkedCaptures(std::vector<CaptureMark> captures) : captures_(std::move(captures)) {
  for (std::size_t number = 0; number < captures_.size(); ++number) {
    const CaptureMark& mark = captures_[number];
    by_position_and_uri_.push_back({mark.position, mark.uri, mark.position, number});
    if (mark.id == 0) continue;
    by_id_.push_back({mark.id, 0, mark.position, number});
    by_id_and_uri_.push_back({mark.id, mark.uri, mark.position, number});
  }
  for (std::vector<Kin>* all : {&by_id_, &by_id_and_uri_, &by_position_and_uri_}) {
    std::sort(all->begin(), all->end());
  }
}

std::optional<std::size_t> MarkedCaptures::Nearest(const std::vector<Kin>& all, const Kin& wanted) {
  const auto is_kin = [&](std::vector<Kin>::const_iterator it) {
    return it != all.end() && it->kind == wanted.kind && it->uri == wanted.uri;
  };
  const auto is_there = [&](std::vector<Kin>::const_iterator it) {
    return is_kin(it) && it->position == wanted.position;
  };
  const auto at = std::lower_bound(all.begin(), all.end(), wanted);
  if (is_there(at)) return is_there(at + 1) ? std::nullopt : std::optional(at->number);
  if (at != all.begin() && is_kin(at - 1)) return (at - 1)->number;
  return is_kin(at) ? std::optional(at->number) : std::nullopt;
}

std::optional<std::size_t> MarkedCaptures::Named(std::uint64_t id, std::uint64_t position,
                                                 std::uint64_t uri) const {
  const auto same_uri = Nearest(by_id_and_uri_, {id, uri, position});
  return same_uri ? same_uri : Nearest(by_id_, {id, 0, position});
}

std::optional<std::size_t> MarkedCaptures::Beside(std::uint64_t position, std::uint64_t uri) const {
  const auto [first, behind] = std::equal_range(captures_.begin(), captures_.end(),
                                                CaptureMark{.position = position}, IsBefore);
  if (first != behind) return Nearest(by_position_and_uri_, {position, uri, position});
  const auto at = static_cast<std::size_t>(behind - captures_.begin());
  for (std::size_t distance = 1; distance <= kNearby; ++distance) {
    // Before it first: most writers put the response first.
    if (at >= distance && captures_[at - distance].uri == uri) return at - distance;
    if (at + distance - 1 < captures_.size() && captures_[at + distance - 1].uri == uri) {
      return at + distance - 1;
    }
  }
  return std::nullopt;
}

Companions::CaptureKey Companions::KeyOf(const catalog::Capture& capture) {
  return {capture.place.offset, ChecksumOf(capture.url), capture.time.milliseconds};
}

Result<std::vector<Companion>> Companions::Behind(const ArchiveView& view,
                                                  const catalog::Capture& capture) {
  const Result<std::string> path = view.PathOf(capture.place.container);
  if (!path) return path.error();
  const auto file = archive_file::ArchiveFile::Open(view.fs(), *path);
  if (!file) return file.error();
  const Status moved = (*file)->reader().SkipTo(capture.place.offset);
  if (!moved) return moved.error();
  BehindOne behind;
  ContainerSummary summary;
  const Status scanned = ScanContainer(**file, {}, behind, summary);
  if (!scanned && !behind.is_over) return scanned.error();
  return std::move(behind.companions);
}

Result<std::vector<Companion>> Companions::Of(const catalog::Capture& capture) {
  if (view_.holdings().FindOpen(capture.place.container) != nullptr) {
    return Behind(view_, capture);
  }
  Result<const ByCapture*> loaded = Load(capture.place.container);
  if (!loaded) return loaded.error();
  std::vector<Companion> companions;
  const auto [begin, end] = (*loaded)->equal_range(KeyOf(capture));
  // Of those that cannot be told apart in their file, one.
  std::set<std::tuple<record::RecordType, std::uint64_t, std::uint64_t, std::uint64_t>> known;
  for (auto it = begin; it != end; ++it) {
    const Companion& one = it->second;
    if (known.emplace(one.type, one.offset, one.about, one.uri).second) companions.push_back(one);
  }
  return companions;
}

Result<const Companions::ByCapture*> Companions::Load(std::uint32_t container) {
  if (const auto known = containers_.find(container); known != containers_.end()) {
    return &known->second;
  }
  Result<std::unique_ptr<ContainerRows>> rows = view_.RowsOf(container);
  if (!rows) return rows.error();
  std::vector<CaptureMark> marks;
  std::vector<CaptureKey> keys;
  const Status read = (*rows)->ForEachCapture([&](std::span<ContainerCapture> some) -> Status {
    for (const ContainerCapture& capture : some) {
      keys.push_back(KeyOf(capture.row));
      marks.push_back({capture.row.place.offset, std::get<1>(keys.back()), capture.record_id});
    }
    return {};
  });
  if (!read) return read.error();
  Result<std::vector<Companion>> companions = (*rows)->Companions();
  if (!companions) return companions.error();
  const MarkedCaptures captures(std::move(marks));
  ByCapture found;
  for (const Companion& companion : *companions) {
    std::optional<std::size_t> owner =
        captures.Named(companion.about, companion.offset, companion.uri);
    if (!owner && companion.type != record::RecordType::kContinuation) {
      owner = captures.Beside(companion.offset, companion.uri);
    }
    if (owner) found.emplace(keys[*owner], companion);
  }
  if (containers_.size() >= kContainersMax) containers_.erase(containers_.begin());
  return &containers_.emplace(container, std::move(found)).first->second;
}

}  // namespace stele::archive
