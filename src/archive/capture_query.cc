#include "archive/capture_query.h"

#include <algorithm>
#include <set>

#include "catalog/location_merge.h"
#include "formats/cdx/capture_rules.h"

namespace stele::archive {

using Pick = catalog::LocationQuery::Pick;
using Parts = catalog::LocationMemtable::Parts;

namespace {

// A run is put in order in memory when it has at most so many captures, and the index has so many
// times as many entries.
constexpr std::uint64_t kCollectedMax = 500'000;
constexpr std::uint64_t kIndexFactor = 4;

bool IsAmong(const std::vector<std::uint32_t>& wanted, std::uint32_t number) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), number) != wanted.end();
}

// In rising order.
std::vector<Holdings::IdRange> IdsOf(const std::vector<std::uint32_t>& runs,
                                     const Holdings& holdings) {
  std::vector<Holdings::IdRange> ids;
  for (const std::uint32_t run : std::set<std::uint32_t>(runs.begin(), runs.end())) {
    const std::vector<Holdings::IdRange> more = holdings.IdsOfRun(run);
    ids.insert(ids.end(), more.begin(), more.end());
  }
  std::sort(ids.begin(), ids.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return ids;
}

bool IsEverything(const catalog::Selection& what) {
  return what.ranges.size() == 1 && what.ranges[0].begin.empty() &&
         what.ranges[0].end == catalog::SelectAll().ranges[0].end;
}

// Whether it is there for the one who asks, whatever is asked for.
bool IsVisible(const CaptureQuery& query, std::string_view key, const catalog::Capture& row) {
  return (query.with_removed || (row.flags & catalog::kRemoved) == 0) &&
         (!query.shows || query.shows(key, row));
}

// Looks for captures by their ids only where they are.
CaptureQuery Narrowed(const catalog::CatalogView& catalog, CaptureQuery query) {
  if (query.ids.empty() || !IsEverything(query.where.what)) return query;
  std::set<std::string> keys;
  for (const catalog::CaptureId& id : query.ids) {
    const Result<catalog::HeldCapture> held = catalog.Get(id);
    // What is damaged is come across, and complained of, on the way through all.
    if (!held && held.error().code != ErrorCode::kNotFound) return query;
    if (held) keys.insert(catalog::LocationKeyOf(held->row));
  }
  query.where.what.ranges.clear();
  for (const std::string& key : keys) {
    query.where.what.ranges.push_back(catalog::SelectKey(key).ranges.front());
  }
  return query;
}

// Picks among those captures of a key that count. Nothing when there are none.
Result<std::optional<catalog::HeldCapture>> PickAmong(
    const catalog::CatalogView& catalog, const std::string& key, Pick pick, Timestamp moment,
    const std::function<bool(const catalog::Capture& row)>& counts) {
  const auto distance = [&](Timestamp time) {
    return time < moment ? moment.milliseconds - time.milliseconds
                         : time.milliseconds - moment.milliseconds;
  };
  catalog::LocationQuery all;
  all.what = catalog::SelectKey(key);
  if (pick == Pick::kBefore) all.to = moment;
  if (pick == Pick::kAfter) all.from = moment;
  catalog::LocationResults entries = catalog.Find(all);
  std::optional<catalog::HeldCapture> best;
  for (;;) {
    Result<const catalog::LocationEntry*> entry = entries.Next();
    if (!entry) return entry.error();
    if (*entry == nullptr) return best;
    if (best && distance((*entry)->time) >= distance(best->row.time)) continue;
    Result<catalog::HeldCapture> held = catalog.Get((*entry)->id);
    if (!held) return held.error();
    if (counts(held->row)) best = *std::move(held);
  }
}

}  // namespace

bool CaptureQuery::Matches(const catalog::Capture& row) const {
  if (!with_removed && (row.flags & catalog::kRemoved) != 0) return false;
  if (pages_only && (row.flags & catalog::kPage) == 0) return false;
  if (!IsAmong(runs, row.run) || !IsAmong(batches, row.id.batch)) return false;
  if (!ids.empty() && std::find(ids.begin(), ids.end(), row.id) == ids.end()) return false;
  const auto any = [](const std::vector<std::string>& wanted, const auto& test) {
    return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), test);
  };
  return any(types, [&](const std::string& type) { return cdx::MatchesType(type, row.type); }) &&
         any(statuses, [&](const std::string& s) { return cdx::MatchesStatus(s, row.status); });
}

CaptureResults::CaptureResults(const ArchiveView& view, CaptureQuery query)
    : holdings_(view.holdings()),
      catalog_(view.catalog()),
      query_(Narrowed(catalog_, std::move(query))),
      run_ids_(IdsOf(query_.runs, holdings_)) {
  const catalog::LocationQuery& where = query_.where;
  const bool at_a_moment = where.pick == Pick::kBefore;
  if (!at_a_moment && !(query_.alive && where.from <= where.to)) {
    results_.reset(new catalog::LocationResults(catalog_.Find(where)));
    return;
  }
  alive_.reset(
      new catalog::PisaTimelineCursor(catalog_.Alive({.first = where.from,
                                                      .last = at_a_moment ? where.from : where.to,
                                                      .what = where.what,
                                                      .resume = where.resume})));
}

bool CaptureResults::IsOfRuns(const catalog::CaptureId& id) const {
  const auto behind = std::upper_bound(
      run_ids_.begin(), run_ids_.end(), id,
      [](const catalog::CaptureId& a, const Holdings::IdRange& b) { return a < b.first; });
  return behind != run_ids_.begin() && std::prev(behind)->Has(id);
}

bool CaptureResults::MayMatch(const catalog::CaptureId& id) const {
  return IsAmong(query_.batches, id.batch) && (query_.runs.empty() || IsOfRuns(id));
}

Status CaptureResults::CollectRuns() {
  if (query_.runs.empty() || alive_ || query_.where.pick != Pick::kAll ||
      !IsEverything(query_.where.what)) {
    return {};
  }
  std::uint64_t captures = 0;
  for (const std::uint32_t number : query_.runs) {
    const auto run = holdings_.runs().find(number);
    if (run == holdings_.runs().end()) return {};
    captures += run->second.captures;
  }
  if (captures > kCollectedMax || captures * kIndexFactor > holdings_.CaptureCount()) return {};
  Result<std::optional<Parts>> parts = EntriesOfRuns();
  if (!parts) return parts.error();
  if (!*parts) return {};
  const auto kept = std::make_shared<const Parts>(**std::move(parts));
  auto merged = std::make_unique<catalog::MergedLocations>();
  for (const auto& part : *kept) merged->Add(part->NewCursor());
  results_ = std::make_unique<catalog::LocationResults>(std::move(merged), query_.where, kept);
  return {};
}

Result<std::optional<Parts>> CaptureResults::EntriesOfRuns() const {
  catalog::LocationMemtable entries;
  for (auto range = run_ids_.begin(); range != run_ids_.end();) {
    const std::uint32_t batch = range->first.batch;
    catalog::CaptureScan::Query rows;
    rows.from = query_.where.from;
    rows.to = query_.where.to;
    rows.batch = batch;
    if (range->first.serial > 0) rows.after = {batch, range->first.serial - 1};
    catalog::CaptureScan scan = catalog_.Scan(rows);
    while (range != run_ids_.end() && range->first.batch == batch) {
      const Result<const catalog::Capture*> row = scan.Next();
      if (!row) return row.error();
      while (range != run_ids_.end() && range->first.batch == batch &&
             (*row == nullptr || range->last < (*row)->id)) {
        ++range;
      }
      if (*row == nullptr || !IsOfRuns((*row)->id)) continue;
      entries.Add({catalog::LocationKeyOf(**row), (*row)->time, (*row)->id});
      // Nobody knows how many a run has that goes on.
      if (entries.entries() > kCollectedMax) return std::optional<Parts>();
    }
  }
  return std::optional(entries.Sorted());
}

Result<bool> CaptureResults::NextEntry() {
  if (alive_) {
    Result<bool> found = alive_->Next();
    if (!found || !*found) return found;
    key_ = alive_->key();
    id_ = alive_->capture();
    return true;
  }
  Result<const catalog::LocationEntry*> entry = results_->Next();
  if (!entry) return entry.error();
  if (*entry == nullptr) return false;
  key_ = (*entry)->key;
  id_ = (*entry)->id;
  return true;
}

Result<const catalog::HeldCapture*> CaptureResults::Next() {
  const bool all = query_.where.pick == Pick::kAll;
  const bool in_span = all && alive_ != nullptr;
  if (!begun_) {
    begun_ = true;
    if (const Status collected = CollectRuns(); !collected) return collected.error();
  }
  for (;;) {
    Result<bool> found = NextEntry();
    if (!found) return found.error();
    if (!*found) return nullptr;
    if (all && !in_span && !MayMatch(id_)) continue;
    Result<catalog::HeldCapture> held = catalog_.Get(id_);
    if (!held) return held.error();
    if (in_span && !IsVisible(query_, key_, held->row)) {
      // What was taken down, or is not shown, never was the newest. A key has one entry up to the
      // begin of the span, and one for each moment after it.
      const Timestamp moment = std::max(held->row.time, query_.where.from);
      auto before = PickAmong(catalog_, key_, Pick::kBefore, moment,
                              [&](const auto& row) { return IsVisible(query_, key_, row); });
      if (!before) return before.error();
      if (!*before) continue;
      if (held->row.time > query_.where.from && (*before)->row.time != held->row.time) continue;
      held = **std::move(before);
    }
    if (Takes(key_, held->row)) {
      held_ = *std::move(held);
      return &held_;
    }
    if (all) continue;
    Result<std::optional<catalog::HeldCapture>> other = PickAgain(key_);
    if (!other) return other.error();
    if (!*other) continue;
    held_ = **std::move(other);
    return &held_;
  }
}

Result<std::optional<catalog::HeldCapture>> CaptureResults::PickAgain(
    const std::string& key) const {
  return PickAmong(catalog_, key, query_.where.pick, query_.where.from,
                   [&](const catalog::Capture& row) { return Takes(key, row); });
}

}  // namespace stele::archive
