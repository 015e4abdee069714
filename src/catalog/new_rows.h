#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "catalog/capture.h"
#include "catalog/capture_log.h"
#include "catalog/location_memtable.h"
#include "util/result.h"

namespace stele::catalog {

// Where a row lies in a log.
struct RowPlace {
  CaptureId id;
  Timestamp time;
  std::uint64_t offset = 0;
};

// What the rows of one log say, as of one moment. Immutable.
struct NewRowsView {
  using Places = std::vector<RowPlace>;  // sorted by id; each once

  std::shared_ptr<const CaptureLog> log;
  LocationMemtable::Parts locations;
  std::vector<std::shared_ptr<const Places>> places;  // the newest last

  // Null when it is not here.
  const RowPlace* Find(CaptureId id) const;
  Places All() const;
};

// Rows of one log, in memory as far as they are searched. Not thread-safe.
class NewRows {
 public:
  NewRows(std::uint64_t number, std::shared_ptr<const CaptureLog> log)
      : number_(number), log_(std::move(log)) {}

  std::uint64_t number() const { return number_; }  // of the log
  std::size_t rows() const { return locations_.entries(); }

  // `key` is its location key.
  void Add(const Capture& capture, std::string_view key, std::uint64_t offset);
  // Adds what has come into the log since the last time. Returns where its complete rows end.
  Result<std::uint64_t> Tail();
  // The same for a log that another process may be writing. Errors: also kCorrupt when rows that
  // were durable are damaged.
  Status TailOfOther();

  const NewRowsView& View();

 private:
  const std::uint64_t number_;
  const std::shared_ptr<const CaptureLog> log_;
  std::uint64_t tailed_ = 0;
  LocationMemtable locations_;
  std::vector<RowPlace> pending_;
  NewRowsView view_;
};

// The key under which the location index files a capture.
std::string LocationKeyOf(const Capture& capture);

}  // namespace stele::catalog
