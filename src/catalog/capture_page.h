#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "catalog/capture.h"
#include "catalog/page_frame.h"
#include "util/coding.h"
#include "util/result.h"

// Some rows of one batch as a page: column by column, so that neighbours are alike and compress.
// docs/formats/captures.md.
namespace stele::catalog {

// The columns, in the order of the page.
enum class CaptureColumn {
  kSerial,
  kTime,
  kFlags,
  kStatus,
  kType,
  kRun,
  kContainer,
  kOffset,
  kRecordLength,
  kLength,
  kOriginal,
  kTextDigest,
  kSha256,
  kSha1,
  kUrlLength,
  kUrl,
  kKey,
  kTypes,
  kCount
};
inline constexpr std::size_t kCaptureColumns = static_cast<std::size_t>(CaptureColumn::kCount);
// Pages have about this many bytes before they are compressed.
inline constexpr std::size_t kCapturePageBytes = 24 << 10;

// Collects rows in the order of their serials.
class CapturePageBuilder {
 public:
  // Requires: all of one batch, the serial behind that of the last row.
  void Add(const Capture& capture);
  // The page, and begins the next.
  PageParts Take();

  std::size_t rows() const { return rows_; }
  std::size_t bytes() const { return bytes_; }  // of the page so far, about

 private:
  std::string& Column(CaptureColumn column) { return columns_[static_cast<std::size_t>(column)]; }

  std::array<std::string, kCaptureColumns> columns_;
  std::unordered_map<std::string, std::uint32_t> types_;
  Capture last_;  // its numbers
  std::size_t rows_ = 0;
  std::size_t bytes_ = 0;
};

// Goes through a page, row by row. Borrows its bytes.
class CapturePageReader {
 public:
  // Errors: kCorrupt.
  static Result<CapturePageReader> Open(std::string_view page, std::uint32_t batch);

  // The next row, which points into the page. Requires: left() > 0. Errors: kCorrupt.
  Result<const Capture*> Next();
  // Passes the rows whose serials are before `serial`, for a fraction of what reading them costs.
  // What makes no sense is an error of the next row.
  void PassBefore(std::uint32_t serial);
  std::uint64_t left() const { return left_; }

 private:
  CapturePageReader() = default;
  ByteReader& Column(CaptureColumn column) { return columns_[static_cast<std::size_t>(column)]; }
  std::uint32_t Narrow(CaptureColumn column);
  std::uint64_t PassSerials(std::uint32_t serial);  // how many
  void PassPlaces(std::uint64_t rows);

  std::array<ByteReader, kCaptureColumns> columns_;
  std::vector<std::string_view> types_;
  Capture row_;
  std::uint64_t left_ = 0;
  bool first_ = true;
  bool good_ = true;
};

}  // namespace stele::catalog
