#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive_view.h"
#include "catalog/catalog_view.h"
#include "catalog/location_memtable.h"
#include "catalog/location_query.h"
#include "util/result.h"

namespace stele::archive {

// Whether a capture with this key counts.
using CaptureFilter = std::function<bool(std::string_view key, const catalog::Capture& row)>;

// Which captures a person asks for. All conditions that are given must hold; of one with several
// values, one value must.
struct CaptureQuery {
  catalog::LocationQuery where;  // URLs, times, and which of each URL
  // With Pick::kAll: also what was captured before where.from and was still the newest of its URL
  // then.
  bool alive = false;
  std::vector<std::uint32_t> runs;
  std::vector<std::uint32_t> batches;
  std::vector<catalog::CaptureId> ids;
  std::vector<std::string> types;     // "text/html", "image/*"
  std::vector<std::string> statuses;  // "404", "4xx"
  bool pages_only = false;
  bool with_removed = false;  // also those that were taken down
  CaptureFilter shows = {};   // of CaptureResults: and whatever this says; nothing: all

  bool Matches(const catalog::Capture& row) const;
};

// The answers, in the order of key and time. Of "before", "after" and "nearest", the one that is
// picked for a key is picked among those that match. Captures of other runs than the one that is
// asked for are passed without a look at their rows, and a small run costs what it is. Not
// thread-safe.
class CaptureResults {
 public:
  // Borrows `view` for life.
  CaptureResults(const ArchiveView& view, CaptureQuery query);

  // Null after the last. The row is valid until the next call. Errors: kCorrupt, kIo; kInvalid when
  // query.where.resume is none.
  Result<const catalog::HeldCapture*> Next();
  // The key of the last answer.
  std::string_view key() const { return key_; }
  // Where the same query goes on behind the last answer. Requires: there was one.
  std::string Resume() const { return alive_ ? alive_->Resume() : results_->Resume(); }

 private:
  // Where all captures of small runs are asked for, puts them in order, and no index is read.
  Status CollectRuns();
  // Nothing when they are too many.
  Result<std::optional<catalog::LocationMemtable::Parts>> EntriesOfRuns() const;
  bool IsOfRuns(const catalog::CaptureId& id) const;
  bool MayMatch(const catalog::CaptureId& id) const;
  // Goes to the next entry of the index, whatever its row is. False: there is none.
  Result<bool> NextEntry();
  bool Takes(std::string_view key, const catalog::Capture& row) const {
    return query_.Matches(row) && (!query_.shows || query_.shows(key, row));
  }
  // Picks among all captures of a key. Nothing when none matches.
  Result<std::optional<catalog::HeldCapture>> PickAgain(const std::string& key) const;

  const Holdings& holdings_;
  const catalog::CatalogView& catalog_;
  const CaptureQuery query_;
  std::vector<Holdings::IdRange> run_ids_;  // where runs are asked for
  bool begun_ = false;
  // One of them. What was alive at a moment or in a span is what PISA segments are made for.
  std::unique_ptr<catalog::LocationResults> results_;
  std::unique_ptr<catalog::PisaTimelineCursor> alive_;
  catalog::HeldCapture held_;
  std::string key_;
  catalog::CaptureId id_;
};

}  // namespace stele::archive
