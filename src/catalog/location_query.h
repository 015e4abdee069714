#pragma once

#include <limits>
#include <memory>
#include <string>

#include "catalog/location_cursor.h"
#include "catalog/selection.h"
#include "util/result.h"
#include "util/timestamp.h"

namespace stele::catalog {

inline constexpr Timestamp kTimeBegin{std::numeric_limits<std::int64_t>::min()};
inline constexpr Timestamp kTimeEnd{std::numeric_limits<std::int64_t>::max()};

struct LocationQuery {
  enum class Pick {
    kAll,      // every capture from `from` to `to`, both included
    kBefore,   // of each key the last capture at `from` or before
    kAfter,    // of each key the first capture at `from` or after
    kNearest,  // of each key the nearest to `from`; of two equally near ones the earlier
  };

  Selection what;
  Pick pick = Pick::kAll;
  Timestamp from = kTimeBegin;
  Timestamp to = kTimeEnd;
  // Goes on behind the entry where LocationResults::Resume() was asked; empty: from the begin.
  std::string resume;
};

// The answers to a query, one after another in the order of the index. Not thread-safe.
class LocationResults {
 public:
  // `cursor` is over all entries; `keep` is kept as long as this, for what the cursor borrows.
  LocationResults(std::unique_ptr<LocationCursor> cursor, LocationQuery query,
                  std::shared_ptr<const void> keep);

  // Null after the last. The entry is valid until the next call. Errors: kCorrupt and kIo from the
  // index; kInvalid when query.resume is none. After an error nothing more may be asked.
  Result<const LocationEntry*> Next();

  // Where the same query goes on behind the last entry, also in another process and after more
  // captures came. Empty before the first.
  std::string Resume() const;

 private:
  using Move = LocationCursor::Move;

  Status Begin();
  Move NextOfAll();
  Move NextOfPicks();
  // The one of `key` that the query picks; null when there is none.
  Move PickOf(const std::string& key);
  // The entry where the cursor stands, or where the next range has one; null behind the last.
  Move InRanges(Move move);
  Move SeekBehindKey(const std::string& key);
  const LocationEntry* Remember(const LocationEntry& entry);

  const std::unique_ptr<LocationCursor> cursor_;
  const LocationQuery query_;
  const std::shared_ptr<const void> keep_;
  std::size_t range_ = 0;
  bool begun_ = false;
  const LocationEntry* at_ = nullptr;  // where the cursor stands; not yet answered
  std::string key_;                    // of answer_
  LocationEntry answer_;
  bool answered_ = false;
};

}  // namespace stele::catalog
