#include "catalog/new_rows.h"

#include <algorithm>

#include "formats/url/surt.h"

namespace stele::catalog {
namespace {

bool IdBefore(const RowPlace& a, const RowPlace& b) { return a.id < b.id; }

// Of equal ids only the last stays.
void KeepNewest(NewRowsView::Places& places) {
  std::stable_sort(places.begin(), places.end(), IdBefore);
  NewRowsView::Places kept;
  kept.reserve(places.size());
  for (const RowPlace& place : places) {
    if (!kept.empty() && kept.back().id == place.id) kept.pop_back();
    kept.push_back(place);
  }
  places = std::move(kept);
}

}  // namespace

std::string LocationKeyOf(const Capture& capture) {
  return LocationKey(capture.key.empty() ? url::SurtKey(capture.url) : capture.key);
}

const RowPlace* NewRowsView::Find(CaptureId id) const {
  for (auto part = places.rbegin(); part != places.rend(); ++part) {
    const auto place =
        std::lower_bound((*part)->begin(), (*part)->end(), RowPlace{id, {}, 0}, IdBefore);
    if (place != (*part)->end() && place->id == id) return &*place;
  }
  return nullptr;
}

NewRowsView::Places NewRowsView::All() const {
  Places all;
  for (const auto& part : places) all.insert(all.end(), part->begin(), part->end());
  KeepNewest(all);
  return all;
}

void NewRows::Add(const Capture& capture, std::string_view key, std::uint64_t offset) {
  locations_.Add({key, capture.time, capture.id});
  pending_.push_back({capture.id, capture.time, offset});
}

Result<std::uint64_t> NewRows::Tail() {
  const Result<std::uint64_t> end =
      log_->Scan(tailed_, [this](const Capture& capture, std::uint64_t offset) {
        Add(capture, LocationKeyOf(capture), offset);
      });
  if (end) tailed_ = *end;
  return end;
}

Status NewRows::TailOfOther() {
  for (;;) {
    const Result<std::uint64_t> end = Tail();
    if (!end) return end.error();
    const Status checked = log_->CheckTail(*end);
    if (checked) return {};
    // Rows that were incomplete may have become complete before what is behind them was looked at.
    const Result<std::uint64_t> now = Tail();
    if (!now) return now.error();
    if (*now == *end) return checked;
  }
}

const NewRowsView& NewRows::View() {
  view_.log = log_;
  view_.locations = locations_.Sorted();
  if (pending_.empty()) return view_;
  auto& parts = view_.places;
  // Parts double in size, as those of the memtable do.
  while (!parts.empty() && parts.back()->size() <= 2 * pending_.size()) {
    pending_.insert(pending_.begin(), parts.back()->begin(), parts.back()->end());
    parts.pop_back();
  }
  KeepNewest(pending_);
  parts.push_back(std::make_shared<const NewRowsView::Places>(std::move(pending_)));
  pending_.clear();
  return view_;
}

}  // namespace stele::catalog
