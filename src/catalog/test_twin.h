#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "catalog/catalog.h"
#include "formats/url/surt.h"

// A catalog that is slow and obvious: all captures in a map, each query a loop over them.
namespace stele::catalog {

// So small that a few hundred captures make several files of each kind.
constexpr CatalogOptions kSmall{6000, 3, 3, 100};

using TwinEntry = std::tuple<std::string, std::int64_t, CaptureId>;

class CatalogTwin {
 public:
  void Append(const std::vector<Capture>& captures) {
    for (const Capture& capture : captures) {
      Capture& row = rows_[capture.id] = capture;
      row.url = texts_.emplace_back(capture.url);
      row.key = texts_.emplace_back(capture.key);
      row.type = texts_.emplace_back(capture.type);
    }
  }
  void Forget(const std::set<CaptureId>& captures) {
    for (const CaptureId& id : captures) rows_.erase(id);
  }

  const std::map<CaptureId, Capture>& rows() const { return rows_; }
  std::set<CaptureId> IdsOf(std::uint32_t batch) const {
    std::set<CaptureId> ids;
    for (const auto& [id, row] : rows_) {
      if (id.batch == batch) ids.insert(id);
    }
    return ids;
  }

  static std::string KeyOf(const Capture& row) {
    return row.key.empty() ? url::SurtKey(row.url) : std::string(row.key);
  }

  std::vector<TwinEntry> Find(const LocationQuery& query) const {
    using Pick = LocationQuery::Pick;
    std::map<std::string, std::vector<TwinEntry>> by_key;
    for (const auto& [id, row] : rows_) {
      const std::string key = KeyOf(row);
      if (query.what.Has(key)) by_key[key].emplace_back(key, row.time.milliseconds, id);
    }
    std::vector<TwinEntry> answers;
    for (auto& [key, entries] : by_key) {
      std::sort(entries.begin(), entries.end());
      const TwinEntry* best = nullptr;
      for (const TwinEntry& entry : entries) {
        const std::int64_t time = std::get<1>(entry);
        const std::int64_t at = query.from.milliseconds;
        if (query.pick == Pick::kAll && at <= time && time <= query.to.milliseconds) {
          answers.push_back(entry);
        }
        if (query.pick == Pick::kBefore && time <= at) best = &entry;
        if (query.pick == Pick::kAfter && time >= at && best == nullptr) best = &entry;
        if (query.pick != Pick::kNearest) continue;
        const auto distance = [&](const TwinEntry& e) { return std::abs(std::get<1>(e) - at); };
        // Of several at one earlier moment the last, of several at one later moment the first.
        if (best == nullptr || distance(entry) < distance(*best) ||
            (distance(entry) == distance(*best) && time <= at)) {
          best = &entry;
        }
      }
      if (best != nullptr) answers.push_back(*best);
    }
    return answers;
  }

  // With its death, where that is in the time asked for.
  using Shown = std::tuple<std::string, std::int64_t, std::int64_t, CaptureId>;

  std::vector<Shown> Alive(const PisaTimelineQuery& query) const {
    std::map<std::string, std::map<Timestamp, CaptureId>> by_key;
    for (const auto& [id, row] : rows_) {
      const std::string key = KeyOf(row);
      if (query.what.Has(key)) by_key[key][row.time] = id;  // the largest id is the last
    }
    std::vector<Shown> shown;
    for (const auto& [key, captures] : by_key) {
      for (auto at = captures.begin(); at != captures.end(); ++at) {
        const auto next = std::next(at);
        Timestamp death = next == captures.end() ? kEndOfTime : next->first;
        if (at->first > query.last || death <= query.first) continue;
        if (death > query.last) death = kEndOfTime;
        shown.emplace_back(key, at->first.milliseconds, death.milliseconds, at->second);
      }
    }
    return shown;
  }

  std::vector<CaptureId> Scan(const CaptureScan::Query& query) const {
    std::vector<CaptureId> ids;
    for (const auto& [id, row] : rows_) {
      if (row.time < query.from || query.to < row.time) continue;
      if (query.what && !query.what->Has(KeyOf(row))) continue;
      if (query.batch && id.batch != *query.batch) continue;
      if (query.after && id <= *query.after) continue;
      ids.push_back(id);
    }
    return ids;
  }

 private:
  std::map<CaptureId, Capture> rows_;
  std::deque<std::string> texts_;
};

// All answers of a catalog, asked for in portions of `limit`, each from where the last one ended.
inline std::vector<TwinEntry> AllAnswers(const CatalogView& view, LocationQuery query,
                                         std::size_t limit) {
  std::vector<TwinEntry> answers;
  for (;;) {
    LocationResults results = view.Find(query);
    for (std::size_t i = 0; i < limit; ++i) {
      const Result<const LocationEntry*> entry = results.Next();
      EXPECT_TRUE(entry) << entry.error().text;
      if (!entry || *entry == nullptr) return answers;
      answers.emplace_back((*entry)->key, (*entry)->time.milliseconds, (*entry)->id);
    }
    query.resume = results.Resume();
  }
}

inline std::vector<CatalogTwin::Shown> AllAlive(const CatalogView& view, PisaTimelineQuery query,
                                                std::size_t limit) {
  std::vector<CatalogTwin::Shown> shown;
  query.limit = limit;
  for (;;) {
    PisaTimelineCursor cursor = view.Alive(query);
    for (std::size_t i = 0;; ++i) {
      const Result<bool> more = cursor.Next();
      EXPECT_TRUE(more) << more.error().text;
      if (!more || (!*more && i < limit)) return shown;
      if (!*more) break;
      shown.emplace_back(cursor.key(), cursor.birth().milliseconds, cursor.death().milliseconds,
                         cursor.capture());
      query.resume = cursor.Resume();
    }
  }
}

inline std::vector<CaptureId> AllRows(const CatalogView& view, CaptureScan::Query query,
                                      std::size_t limit, const CatalogTwin& twin) {
  std::vector<CaptureId> ids;
  for (;;) {
    CaptureScan scan = view.Scan(query);
    for (std::size_t i = 0; i < limit; ++i) {
      const Result<const Capture*> row = scan.Next();
      EXPECT_TRUE(row) << row.error().text;
      if (!row || *row == nullptr) return ids;
      const auto expected = twin.rows().find((*row)->id);
      EXPECT_TRUE(expected != twin.rows().end() && expected->second == **row);
      ids.push_back((*row)->id);
    }
    query.after = ids.back();
  }
}

// Some queries of each kind have the twin's answers, and nothing is damaged. Its captures are of
// May and June 2004.
inline void ExpectSameAs(const CatalogTwin& twin, const CatalogView& view) {
  LocationQuery query;
  query.what = SelectAll();
  EXPECT_EQ(AllAnswers(view, query, 1000), twin.Find(query));
  query.pick = LocationQuery::Pick::kNearest;
  query.from = *ParseDigits("20040601");
  EXPECT_EQ(AllAnswers(view, query, 1000), twin.Find(query));
  EXPECT_EQ(AllRows(view, {}, 1000, twin), twin.Scan({}));
  for (const char* digits : {"20040501", "20040515", "20040602", "20040701"}) {
    const PisaTimelineQuery alive{*ParseDigits(digits), *ParseDigits("20040701")};
    EXPECT_EQ(AllAlive(view, alive, 1000), twin.Alive(alive));
  }
  view.Verify([](const Error& error) { ADD_FAILURE() << error.text; });
}

}  // namespace stele::catalog
