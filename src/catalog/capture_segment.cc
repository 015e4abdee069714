#include "catalog/capture_segment.h"

#include <algorithm>

#include "util/check.h"
#include "util/coding.h"

namespace stele::catalog {
namespace {

constexpr std::string_view kKind = "captures";
constexpr std::uint64_t kVersion = 2;

// Sorts as the number does.
std::string SerialKey(std::uint32_t serial) {
  std::string key;
  for (int shift = 24; shift >= 0; shift -= 8) key += static_cast<char>(serial >> shift);
  return key;
}

void Widen(TimeRange& range, const TimeRange& other) {
  range.first = std::min(range.first, other.first);
  range.last = std::max(range.last, other.last);
}

// The least and the most of each page, as differences.
void PutTimes(std::string& out, const TimeRange& range, Timestamp& last) {
  PutSignedVarint(out,
                  static_cast<std::int64_t>(static_cast<std::uint64_t>(range.first.milliseconds) -
                                            static_cast<std::uint64_t>(last.milliseconds)));
  PutVarint(out, static_cast<std::uint64_t>(range.last.milliseconds) -
                     static_cast<std::uint64_t>(range.first.milliseconds));
  last = range.first;
}

TimeRange TakeTimes(ByteReader& reader, Timestamp& last) {
  TimeRange range;
  range.first.milliseconds =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(last.milliseconds) +
                                static_cast<std::uint64_t>(reader.SignedVarint()));
  range.last.milliseconds = static_cast<std::int64_t>(
      static_cast<std::uint64_t>(range.first.milliseconds) + reader.Varint());
  last = range.first;
  return range;
}

}  // namespace

CaptureSegmentWriter::CaptureSegmentWriter(std::unique_ptr<PageFileWriter> file,
                                           std::uint32_t batch)
    : file_(std::move(file)) {
  totals_.batch = batch;
}

Result<std::unique_ptr<CaptureSegmentWriter>> CaptureSegmentWriter::Create(io::FileSystem& fs,
                                                                           std::string path,
                                                                           std::uint32_t batch,
                                                                           int level) {
  Result<std::unique_ptr<PageFileWriter>> file =
      PageFileWriter::Create(fs, std::move(path), kKind, level);
  if (!file) return file.error();
  return std::unique_ptr<CaptureSegmentWriter>(new CaptureSegmentWriter(std::move(*file), batch));
}

Status CaptureSegmentWriter::Add(const Capture& capture) {
  Check(capture.id.batch == totals_.batch);
  const TimeRange moment{capture.time, capture.time};
  if (totals_.rows == 0) {
    totals_.first_serial = capture.id.serial;
    totals_.times = moment;
  }
  if (page_.rows() == 0) {
    Check(totals_.rows == 0 || capture.id.serial > totals_.last_serial);
    page_serial_ = capture.id.serial;
    page_times_ = moment;
  }
  Widen(totals_.times, moment);
  Widen(page_times_, moment);
  totals_.last_serial = capture.id.serial;
  ++totals_.rows;
  page_.Add(capture);
  return page_.bytes() >= kCapturePageBytes ? FinishPage() : Status();
}

Status CaptureSegmentWriter::FinishPage() {
  times_.push_back(page_times_);
  const Result<std::uint32_t> page = file_->Append(page_.Take(), SerialKey(page_serial_));
  return page ? Status() : page.error();
}

Result<CaptureSegmentTotals> CaptureSegmentWriter::Finish() {
  Check(totals_.rows > 0);
  if (page_.rows() > 0) {
    if (const Status status = FinishPage(); !status) return status.error();
  }
  std::string summary;
  PutVarint(summary, kVersion);
  PutVarint(summary, totals_.batch);
  PutVarint(summary, totals_.rows);
  PutVarint(summary, totals_.first_serial);
  PutVarint(summary, totals_.last_serial);
  Timestamp last;
  for (const TimeRange& times : times_) PutTimes(summary, times, last);
  if (const Status status = file_->Finish(summary); !status) return status.error();
  return totals_;
}

Result<std::unique_ptr<CaptureSegment>> CaptureSegment::Open(io::FileSystem& fs, std::string path,
                                                             PageCache& cache,
                                                             std::string_view remedy) {
  Result<std::unique_ptr<PageFile>> file =
      PageFile::Open(fs, std::move(path), kKind, cache, remedy);
  if (!file) return file.error();
  std::unique_ptr<CaptureSegment> segment(new CaptureSegment(std::move(*file)));
  if (const Status status = segment->ReadSummary(); !status) return status.error();
  return segment;
}

Status CaptureSegment::ReadSummary() {
  ByteReader reader(file_->summary());
  if (reader.Varint() != kVersion) return file_->Corrupt("it is of another version of the format");
  const std::uint64_t batch = reader.Varint();
  totals_.rows = reader.Varint();
  const std::uint64_t first = reader.Varint();
  const std::uint64_t last = reader.Varint();
  bool good = batch <= 0xFFFF'FFFF && first <= last && last <= 0xFFFF'FFFF && pages() > 0;
  totals_.batch = static_cast<std::uint32_t>(batch);
  totals_.first_serial = static_cast<std::uint32_t>(first);
  totals_.last_serial = static_cast<std::uint32_t>(last);
  Timestamp last_time;
  for (std::uint32_t page = 0; page < pages() && reader.good(); ++page) {
    times_.push_back(TakeTimes(reader, last_time));
    if (page == 0) totals_.times = times_.front();
    Widen(totals_.times, times_.back());
    good = good && file_->index().first_key(page).size() == 4;
  }
  if (good && reader.good() && reader.AtEnd()) return {};
  return file_->Corrupt("its summary makes no sense");
}

std::uint32_t CaptureSegment::PageOf(std::uint32_t serial) const {
  return file_->index().LastAtOrBefore(SerialKey(serial)).value_or(0);
}

Result<HeldCapture> CaptureSegment::Get(std::uint32_t serial) const {
  const Error missing{ErrorCode::kNotFound, "no such capture"};
  if (serial < totals_.first_serial || serial > totals_.last_serial) return missing;
  const std::uint32_t page = PageOf(serial);
  const Result<Page> bytes = file_->Read(page);
  if (!bytes) return bytes.error();
  Result<CapturePageReader> rows = CapturePageReader::Open(**bytes, totals_.batch);
  if (!rows) return file_->CorruptPage(page, rows.error().text);
  rows->PassBefore(serial);
  if (rows->left() == 0) return missing;
  const Result<const Capture*> row = rows->Next();
  if (!row) return file_->CorruptPage(page, row.error().text);
  if ((*row)->id.serial != serial) return missing;
  return HoldCapture(**row);
}

Status CaptureSegmentCursor::Seek(std::uint32_t serial) {
  next_page_ = segment_.PageOf(serial);
  rows_.reset();
  return Advance(serial);
}

Status CaptureSegmentCursor::Next() {
  Check(valid());
  return Advance(0);
}

Status CaptureSegmentCursor::Advance(std::uint32_t serial_min) {
  row_ = nullptr;
  for (;;) {
    while (rows_ && rows_->left() > 0) {
      const Result<const Capture*> row = rows_->Next();
      if (!row) return segment_.file().CorruptPage(next_page_ - 1, row.error().text);
      if ((*row)->id.serial < serial_min || (*row)->time < from_ || (*row)->time > to_) continue;
      row_ = *row;
      return {};
    }
    while (next_page_ < segment_.pages() && !segment_.page_times(next_page_).Meets(from_, to_)) {
      ++next_page_;
    }
    if (next_page_ == segment_.pages()) return {};
    Result<Page> bytes = segment_.file().ReadPast(next_page_++);
    if (!bytes) return bytes.error();
    bytes_ = std::move(*bytes);
    Result<CapturePageReader> rows = CapturePageReader::Open(*bytes_, segment_.totals().batch);
    if (!rows) return segment_.file().CorruptPage(next_page_ - 1, rows.error().text);
    rows_ = std::move(*rows);
  }
}

}  // namespace stele::catalog
