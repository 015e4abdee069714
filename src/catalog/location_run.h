#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "catalog/location_cursor.h"
#include "catalog/location_page.h"
#include "catalog/page_file.h"
#include "catalog/page_file_writer.h"
#include "util/result.h"

// A sorted run: entries of the location index in a page file. docs/formats/location.md.
namespace stele::catalog {

struct LocationRunTotals {
  std::uint64_t entries = 0;
  std::uint64_t keys = 0;

  friend bool operator==(const LocationRunTotals&, const LocationRunTotals&) = default;
};

// Not thread-safe. After an error nothing but the destructor may be called.
class LocationRunWriter {
 public:
  // `clock` knows the captures to come, as far as anybody does.
  static Result<std::unique_ptr<LocationRunWriter>> Create(io::FileSystem& fs, std::string path,
                                                           SerialClock clock = {});

  // Requires: behind the last entry.
  Status Add(const LocationEntry& entry);
  // Complete and durable under its name.
  Result<LocationRunTotals> Finish();

 private:
  LocationRunWriter(std::unique_ptr<PageFileWriter> file, SerialClock clock)
      : file_(std::move(file)), clock_(std::move(clock)) {}
  Status FinishPage();

  const std::unique_ptr<PageFileWriter> file_;
  const SerialClock clock_;
  LocationPageBuilder page_{clock_};
  std::string page_key_;  // what its index has for it
  LocationRunTotals totals_;
};

// Thread-safe.
class LocationRun {
 public:
  static Result<std::unique_ptr<LocationRun>> Open(io::FileSystem& fs, std::string path,
                                                   PageCache& cache);

  const LocationRunTotals& totals() const { return totals_; }
  const SerialClock& clock() const { return clock_; }
  const PageFile& file() const { return *file_; }

  enum class Reading {
    kAgain,  // pages are kept in the cache
    kOnce,
  };
  // Borrows the run.
  std::unique_ptr<LocationCursor> NewCursor(Reading reading) const;

 private:
  explicit LocationRun(std::unique_ptr<PageFile> file) : file_(std::move(file)) {}

  const std::unique_ptr<PageFile> file_;
  LocationRunTotals totals_;
  SerialClock clock_;
};

}  // namespace stele::catalog
