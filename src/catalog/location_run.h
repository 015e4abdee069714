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
  static Result<std::unique_ptr<LocationRunWriter>> Create(io::FileSystem& fs, std::string path);

  // Requires: behind the last entry.
  Status Add(const LocationEntry& entry);
  // Complete and durable under its name.
  Result<LocationRunTotals> Finish();

 private:
  explicit LocationRunWriter(std::unique_ptr<PageFileWriter> file) : file_(std::move(file)) {}
  Status FinishPage();

  const std::unique_ptr<PageFileWriter> file_;
  LocationPageBuilder page_;
  std::string page_key_;  // what its index has for it
  LocationRunTotals totals_;
};

// Thread-safe.
class LocationRun {
 public:
  static Result<std::unique_ptr<LocationRun>> Open(io::FileSystem& fs, std::string path,
                                                   PageCache& cache);

  const LocationRunTotals& totals() const { return totals_; }
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
};

}  // namespace stele::catalog
