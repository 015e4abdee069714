#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "catalog/capture.h"
#include "catalog/page_frame.h"
#include "catalog/plane_column.h"
#include "util/coding.h"
#include "util/result.h"

// Some rows of one batch as a page: column by column, so that neighbours are alike and compress.
// docs/formats/captures.md.
namespace stele::catalog {

// The columns of numbers, in the order of the page. Those up to kOffset are differences to the row
// before, and have no value for the first row.
enum class CaptureNumber {
  kSerial,
  kTime,
  kRun,
  kContainer,
  kOffset,
  kRecordLength,
  kLength,
  kKind,
  kSite,
  kRestLength
};
inline constexpr std::size_t kCaptureNumbers =
    static_cast<std::size_t>(CaptureNumber::kRestLength) + 1;
// The columns of bytes.
enum class CaptureBytes { kKinds, kTextDigest, kSha256, kSha1, kTypes, kSites, kRests, kKey };
inline constexpr std::size_t kCaptureByteColumns = static_cast<std::size_t>(CaptureBytes::kKey) + 1;
// Pages have about this many bytes before they are compressed.
inline constexpr std::size_t kCapturePageBytes = 48 << 10;
// Each row counts with 20 bytes at least, so a page never has more than this.
inline constexpr std::size_t kCapturePageRowsMax = 1 << 12;

// Flags, status and type together: few of all combinations occur in a page.
struct CaptureKind {
  std::uint32_t flags = 0;  // StoredFlags()
  std::uint32_t status = 0;
  std::uint64_t type = 0;  // the number of the type in the page
};

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
  std::vector<std::uint64_t>& Numbers(CaptureNumber column) {
    return numbers_[static_cast<std::size_t>(column)];
  }
  std::string& Bytes(CaptureBytes column) { return columns_[static_cast<std::size_t>(column)]; }
  void AddPlace(const Capture& capture);
  std::uint64_t KindOf(const Capture& capture);
  std::uint64_t SiteOf(std::string_view site);

  std::array<std::vector<std::uint64_t>, kCaptureNumbers> numbers_;
  std::array<std::string, kCaptureByteColumns> columns_;
  std::unordered_map<std::string, std::uint64_t> types_;
  std::unordered_map<std::string, std::uint64_t> kinds_;  // by their bytes
  std::unordered_map<std::string, std::uint64_t> sites_;
  Capture first_;  // its numbers
  Capture last_;   // the same
  std::size_t rows_ = 0;
  std::size_t bytes_ = 0;
};

// Goes through a page, row by row. Borrows its bytes.
class CapturePageReader {
 public:
  // Errors: kCorrupt.
  static Result<CapturePageReader> Open(std::string_view page, std::uint32_t batch);

  // The next row; its texts are valid until the next call, and while the reader is not moved.
  // Requires: left() > 0. Errors: kCorrupt.
  Result<const Capture*> Next();
  // Passes the rows whose serials are before `serial`, for a fraction of what reading them costs.
  // What makes no sense is an error of the next row.
  void PassBefore(std::uint32_t serial);
  std::uint64_t left() const { return rows_ - next_; }

 private:
  CapturePageReader() = default;
  bool TakeHead(ByteReader& reader);
  bool TakeKinds();
  ByteReader& Bytes(CaptureBytes column) { return columns_[static_cast<std::size_t>(column)]; }
  std::uint64_t Number(CaptureNumber column, std::uint64_t row) const {
    return numbers_[static_cast<std::size_t>(column)][row];
  }
  // From the numbers of the row before to those of this one.
  void StepPlace(std::uint64_t row);
  void StepNumbers(std::uint64_t row);
  const CaptureKind* KindAt(std::uint64_t row) const;
  void TakeTexts(const CaptureKind& kind);

  std::array<PlaneColumn, kCaptureNumbers> numbers_;
  std::array<ByteReader, kCaptureByteColumns> columns_;
  std::vector<CaptureKind> kinds_;
  std::vector<std::string_view> types_;
  std::vector<std::string_view> sites_;
  std::string url_;  // of the row
  Capture row_;      // its numbers are those of the first row before the first Next()
  std::uint64_t rows_ = 0;
  std::uint64_t next_ = 0;
  bool good_ = true;
};

}  // namespace stele::catalog
