#include "archive/continuations.h"

#include "formats/warc/segments.h"

namespace stele::archive {

Status Continuations::Load() {
  std::multimap<std::uint64_t, Continuation> found;
  for (const auto& [number, container] : view_.holdings().containers()) {
    const Result<std::unique_ptr<ContainerRows>> rows = view_.RowsOf(number);
    if (!rows) return rows.error();
    const Result<std::vector<Companion>> companions = (*rows)->Companions();
    if (!companions) return companions.error();
    for (const Companion& companion : *companions) {
      if (companion.type != record::RecordType::kContinuation) continue;
      found.emplace(companion.about, Continuation{number, companion});
    }
  }
  by_origin_ = std::move(found);
  return {};
}

Result<Continuations::Found> Continuations::Of(const record::Record& first) {
  if (!by_origin_) {
    if (const Status loaded = Load(); !loaded) return loaded.error();
  }
  Found found;
  warc::SegmentIndex index;
  index.Add(first, 0);
  const auto [begin, end] = by_origin_->equal_range(RecordIdHash(first.record_id()));
  for (auto at = begin; at != end; ++at) {
    const Result<std::unique_ptr<StoredRecord>> stored =
        view_.Open(at->second.container, at->second.place);
    if (!stored) return stored.error();
    found.segments.push_back(at->second);
    index.Add((*stored)->record(), found.segments.size());
  }
  const Result<std::vector<warc::Segment>> segments = index.SegmentsOf(first.record_id());
  if (!segments) return found;
  std::vector<Continuation> in_order;
  for (const warc::Segment& segment : *segments) {
    if (segment.file > 0) in_order.push_back(found.segments[segment.file - 1]);
  }
  return Found{std::move(in_order), true};
}

Result<std::set<std::uint32_t>> Continuations::ContainersOf(
    const std::set<std::uint64_t>& origins) {
  if (!by_origin_) {
    if (const Status loaded = Load(); !loaded) return loaded.error();
  }
  std::set<std::uint32_t> containers;
  for (const std::uint64_t origin : origins) {
    const auto [begin, end] = by_origin_->equal_range(origin);
    for (auto at = begin; at != end; ++at) containers.insert(at->second.container);
  }
  return containers;
}

}  // namespace stele::archive
