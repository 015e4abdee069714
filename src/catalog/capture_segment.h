#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "catalog/capture.h"
#include "catalog/capture_page.h"
#include "catalog/page_file.h"
#include "catalog/page_file_writer.h"
#include "util/result.h"

// Rows of one batch in the order of their serials, in a page file. docs/formats/captures.md.
namespace stele::catalog {

// The times of some captures: from the first to the last.
struct TimeRange {
  Timestamp first;
  Timestamp last;

  bool Meets(Timestamp from, Timestamp to) const { return first <= to && from <= last; }
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

struct CaptureSegmentTotals {
  std::uint32_t batch = 0;
  std::uint64_t rows = 0;
  std::uint32_t first_serial = 0;
  std::uint32_t last_serial = 0;
  TimeRange times;

  friend bool operator==(const CaptureSegmentTotals&, const CaptureSegmentTotals&) = default;
};

// Not thread-safe. After an error nothing but the destructor may be called.
class CaptureSegmentWriter {
 public:
  // `level` is zstd's.
  static Result<std::unique_ptr<CaptureSegmentWriter>> Create(io::FileSystem& fs, std::string path,
                                                              std::uint32_t batch, int level);

  // Requires: of this batch, the serial behind that of the last one, passes CheckCapture().
  Status Add(const Capture& capture);
  // Complete and durable under its name. Requires: at least one row.
  Result<CaptureSegmentTotals> Finish();

 private:
  CaptureSegmentWriter(std::unique_ptr<PageFileWriter> file, std::uint32_t batch);
  Status FinishPage();

  const std::unique_ptr<PageFileWriter> file_;
  CaptureSegmentTotals totals_;
  CapturePageBuilder page_;
  std::uint32_t page_serial_ = 0;  // of the first row of the page
  TimeRange page_times_;
  std::vector<TimeRange> times_;  // of each page
};

// Thread-safe.
class CaptureSegment {
 public:
  static Result<std::unique_ptr<CaptureSegment>> Open(io::FileSystem& fs, std::string path,
                                                      PageCache& cache,
                                                      std::string_view remedy = kReindexRemedy);

  const CaptureSegmentTotals& totals() const { return totals_; }
  const PageFile& file() const { return *file_; }

  // One page is read. Errors: kNotFound, kCorrupt.
  Result<HeldCapture> Get(std::uint32_t serial) const;

  std::uint32_t pages() const { return file_->pages(); }
  const TimeRange& page_times(std::uint32_t page) const { return times_[page]; }
  // The page where the row of `serial` is, or the rows behind it begin: pages before it have only
  // smaller ones.
  std::uint32_t PageOf(std::uint32_t serial) const;

 private:
  CaptureSegment(std::unique_ptr<PageFile> file) : file_(std::move(file)) {}
  Status ReadSummary();

  const std::unique_ptr<PageFile> file_;
  CaptureSegmentTotals totals_;
  std::vector<TimeRange> times_;
};

// Goes through the rows of a segment whose time may be in a range, in the order of their serials;
// pages with none are not read. Borrows the segment. Not thread-safe.
class CaptureSegmentCursor {
 public:
  CaptureSegmentCursor(const CaptureSegment& segment, Timestamp from, Timestamp to)
      : segment_(segment), from_(from), to_(to) {}

  // To the first row whose serial is not before `serial` and whose time is in the range.
  Status Seek(std::uint32_t serial);
  // Requires: valid().
  Status Next();
  bool valid() const { return row_ != nullptr; }
  // The texts are valid until the cursor moves.
  const Capture& row() const { return *row_; }

 private:
  Status Advance(std::uint32_t serial_min);

  const CaptureSegment& segment_;
  const Timestamp from_;
  const Timestamp to_;
  std::uint32_t next_page_ = 0;
  Page bytes_;
  std::optional<CapturePageReader> rows_;
  const Capture* row_ = nullptr;
};

}  // namespace stele::catalog
