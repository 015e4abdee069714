#include "catalog/location_merge.h"

#include <algorithm>

#include "util/check.h"

namespace stele::catalog {

void MergedLocations::Add(std::unique_ptr<LocationCursor> cursor,
                          std::vector<std::uint32_t> hidden_batches) {
  sources_.push_back(std::make_unique<Source>());
  sources_.back()->cursor = std::move(cursor);
  sources_.back()->hidden = std::move(hidden_batches);
}

bool MergedLocations::Source::Hides(const LocationEntry& at) const {
  return !hidden.empty() && std::binary_search(hidden.begin(), hidden.end(), at.id.batch);
}

Status MergedLocations::Source::Settle(Move move) {
  while (move && *move != nullptr && Hides(**move)) move = cursor->Next();
  if (!move) return move.error();
  entry = *move;
  return {};
}

bool MergedLocations::Behind(const Source* a, const Source* b) { return *a->entry > *b->entry; }

LocationCursor::Move MergedLocations::Front() {
  if (heap_.empty()) return nullptr;
  return heap_.front()->entry;
}

LocationCursor::Move MergedLocations::Seek(const LocationEntry& at) {
  heap_.clear();
  for (const std::unique_ptr<Source>& source : sources_) {
    if (const Status status = source->Settle(source->cursor->Seek(at)); !status) {
      return status.error();
    }
    if (source->entry != nullptr) heap_.push_back(source.get());
  }
  std::make_heap(heap_.begin(), heap_.end(), Behind);
  return Front();
}

LocationCursor::Move MergedLocations::Next() {
  Check(!heap_.empty());
  // The front source moves last: its entry is compared with the others'.
  std::pop_heap(heap_.begin(), heap_.end(), Behind);
  Source& last = *heap_.back();
  heap_.pop_back();
  while (!heap_.empty() && *heap_.front()->entry == *last.entry) {
    std::pop_heap(heap_.begin(), heap_.end(), Behind);
    Source& same = *heap_.back();
    if (const Status status = same.Settle(same.cursor->Next()); !status) return status.error();
    if (same.entry == nullptr) {
      heap_.pop_back();
    } else {
      std::push_heap(heap_.begin(), heap_.end(), Behind);
    }
  }
  if (const Status status = last.Settle(last.cursor->Next()); !status) return status.error();
  if (last.entry != nullptr) {
    heap_.push_back(&last);
    std::push_heap(heap_.begin(), heap_.end(), Behind);
  }
  return Front();
}

LocationCursor::Move MergedLocations::SeekBack(const LocationEntry& at) {
  heap_.clear();
  const LocationEntry* best = nullptr;
  for (const std::unique_ptr<Source>& source : sources_) {
    Move move = source->cursor->SeekBack(at);
    while (move && *move != nullptr && source->Hides(**move)) {
      const std::string key((*move)->key);
      LocationEntry before{key, (*move)->time, (*move)->id};
      // Keys before it are of no interest to whoever looks for this one.
      move = StepBack(before) ? source->cursor->SeekBack(before) : Move(nullptr);
    }
    if (!move) return move;
    if (*move != nullptr && (best == nullptr || **move > *best)) best = *move;
  }
  return best;
}

}  // namespace stele::catalog
