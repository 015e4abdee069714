#include "archive/continuations.h"

#include <algorithm>
#include <tuple>

#include "archive/archive_view.h"

namespace stele::archive {
namespace {

// The file's number of first segments in an index; others count from 1 on.
constexpr std::size_t kOfFirst = 0;

// Crawlers cut a record where a file is full, and go on in the next one of the same run.
std::vector<std::uint32_t> LikelyFirst(const Holdings& holdings, std::uint32_t home) {
  const Container* first = holdings.Find(home);
  const std::uint32_t run = first == nullptr ? 0 : first->run;
  std::vector<std::tuple<bool, bool, std::uint32_t>> order;
  for (const auto& [number, container] : holdings.containers()) {
    order.emplace_back(container.run != run, number < home, number);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::uint32_t> numbers;
  for (const auto& place : order) numbers.push_back(std::get<2>(place));
  return numbers;
}

}  // namespace

Status Continuations::Load(const ArchiveView& view, std::uint32_t container) {
  if (loaded_.contains(container)) return {};
  const Result<std::unique_ptr<ContainerRows>> rows = view.RowsOf(container);
  if (!rows) return rows.error();
  const Result<std::vector<Companion>> companions = (*rows)->Companions();
  if (!companions) return companions.error();
  for (const Companion& companion : *companions) {
    const bool names_one = companion.about != 0;
    if (companion.type != record::RecordType::kContinuation || !names_one) continue;
    by_origin_.emplace(companion.about, Known{{container, companion}});
  }
  loaded_.insert(container);
  return {};
}

Status Continuations::Index(const ArchiveView& view, std::uint64_t origin) {
  const auto [begin, end] = by_origin_.equal_range(origin);
  for (auto at = begin; at != end; ++at) {
    Known& known = at->second;
    if (known.is_indexed) continue;
    const Result<std::unique_ptr<StoredRecord>> stored =
        view.Open(known.where.container, known.where.place);
    if (!stored) return stored.error();
    indexed_.push_back(known.where);
    index_.Add((*stored)->record(), indexed_.size());
    known.is_indexed = true;
  }
  return {};
}

Continuations::Found Continuations::Arrange(std::string_view first_id, std::uint64_t origin) const {
  Found found;
  for (const warc::Segment& segment : index_.LeadingSegmentsOf(first_id)) {
    if (segment.file != kOfFirst) found.leading.push_back(indexed_[segment.file - 1]);
  }
  if (const auto whole = index_.SegmentsOf(first_id); !whole) {
    found.flaw = whole.error().text;
    const auto [begin, end] = by_origin_.equal_range(origin);
    for (auto at = begin; at != end; ++at) found.all.push_back(at->second.where);
  } else {
    found.all = found.leading;
  }
  return found;
}

Result<Continuations::Found> Continuations::Of(const ArchiveView& view, const record::Record& first,
                                               std::uint32_t container) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t origin = RecordIdHash(first.record_id());
  index_.Add(first, kOfFirst);
  Found found = Arrange(first.record_id(), origin);
  Status failure;
  std::size_t arranged = 0;
  for (const std::uint32_t number : LikelyFirst(view.holdings(), container)) {
    if (const Status loaded = Load(view, number); !loaded) {
      if (failure) failure = loaded;
      continue;
    }
    const std::size_t known = by_origin_.count(origin);
    if (known == arranged) continue;
    arranged = known;
    if (const Status indexed = Index(view, origin); !indexed) return indexed.error();
    found = Arrange(first.record_id(), origin);
    if (found.flaw.empty()) return found;
  }
  return failure ? Result<Found>(std::move(found)) : failure.error();
}

Result<std::set<std::uint32_t>> Continuations::ContainersOf(
    const ArchiveView& view, const std::set<std::uint64_t>& origins) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [number, container] : view.holdings().containers()) {
    if (const Status loaded = Load(view, number); !loaded) return loaded.error();
  }
  std::set<std::uint32_t> containers;
  for (const std::uint64_t origin : origins) {
    const auto [begin, end] = by_origin_.equal_range(origin);
    for (auto at = begin; at != end; ++at) containers.insert(at->second.where.container);
  }
  return containers;
}

}  // namespace stele::archive
