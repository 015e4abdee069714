#include "archive/capture_query.h"

#include <algorithm>

#include "formats/cdx/capture_rules.h"

namespace stele::archive {

using Pick = catalog::LocationQuery::Pick;

bool CaptureQuery::Matches(const catalog::Capture& row) const {
  if (!with_removed && (row.flags & catalog::kRemoved) != 0) return false;
  if (pages_only && (row.flags & catalog::kPage) == 0) return false;
  if (run && row.run != *run) return false;
  if (batch && row.id.batch != *batch) return false;
  const auto any = [](const std::vector<std::string>& wanted, const auto& test) {
    return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), test);
  };
  return any(types, [&](const std::string& type) { return cdx::MatchesType(type, row.type); }) &&
         any(statuses, [&](const std::string& s) { return cdx::MatchesStatus(s, row.status); });
}

CaptureResults::CaptureResults(const catalog::CatalogView& catalog, CaptureQuery query)
    : catalog_(catalog), query_(std::move(query)) {
  const catalog::LocationQuery& where = query_.where;
  const bool at_a_moment = where.pick == Pick::kBefore;
  if (!at_a_moment && !(query_.alive && where.from <= where.to)) {
    results_.reset(new catalog::LocationResults(catalog.Find(where)));
    return;
  }
  alive_.reset(
      new catalog::PisaTimelineCursor(catalog.Alive({.first = where.from,
                                                     .last = at_a_moment ? where.from : where.to,
                                                     .what = where.what,
                                                     .resume = where.resume})));
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
  for (;;) {
    Result<bool> found = NextEntry();
    if (!found) return found.error();
    if (!*found) return nullptr;
    if (all && query_.batch && id_.batch != *query_.batch) continue;
    Result<catalog::HeldCapture> held = catalog_.Get(id_);
    if (!held) return held.error();
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
  const Timestamp moment = query_.where.from;
  const auto distance = [&](Timestamp time) {
    return time < moment ? moment.milliseconds - time.milliseconds
                         : time.milliseconds - moment.milliseconds;
  };
  catalog::LocationQuery all;
  all.what = catalog::SelectKey(key);
  if (query_.where.pick == Pick::kBefore) all.to = moment;
  if (query_.where.pick == Pick::kAfter) all.from = moment;
  catalog::LocationResults entries = catalog_.Find(all);
  std::optional<catalog::HeldCapture> best;
  for (;;) {
    Result<const catalog::LocationEntry*> entry = entries.Next();
    if (!entry) return entry.error();
    if (*entry == nullptr) return best;
    if (best && distance((*entry)->time) >= distance(best->row.time)) continue;
    Result<catalog::HeldCapture> held = catalog_.Get((*entry)->id);
    if (!held) return held.error();
    if (Takes(key, held->row)) best = *std::move(held);
  }
}

}  // namespace stele::archive
