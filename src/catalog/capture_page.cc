#include "catalog/capture_page.h"

#include "catalog/capture_presence.h"
#include "util/check.h"

namespace stele::catalog {
namespace {

using enum CaptureColumn;

// Records of a container lie one after the other: the next one is expected where this one ends.
std::uint64_t ExpectedOffset(const CapturePlace& last, std::uint32_t container) {
  return container == last.container ? last.offset + last.length : 0;
}

// Differences go around at the ends of their range, so that any two numbers have one.
std::int64_t Difference(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(a - b);
}
std::uint64_t Sum(std::uint64_t a, std::int64_t difference) {
  return a + static_cast<std::uint64_t>(difference);
}

}  // namespace

void CapturePageBuilder::Add(const Capture& capture) {
  Check(rows_ == 0 || (capture.id.serial > last_.id.serial && capture.id.batch == last_.id.batch));
  const auto time = static_cast<std::uint64_t>(capture.time.milliseconds);
  const auto last_time = static_cast<std::uint64_t>(last_.time.milliseconds);
  PutVarint(Column(kSerial), rows_ == 0 ? capture.id.serial : capture.id.serial - last_.id.serial);
  PutSignedVarint(Column(kTime), Difference(time, last_time));
  PutVarint(Column(kFlags), StoredFlags(capture));
  PutVarint(Column(kStatus), capture.status);
  const auto [type, is_new] = types_.try_emplace(std::string(capture.type), types_.size());
  if (is_new) PutSized(Column(kTypes), capture.type);
  PutVarint(Column(kType), type->second);
  PutSignedVarint(Column(kRun), Difference(capture.run, last_.run));
  PutSignedVarint(Column(kContainer), Difference(capture.place.container, last_.place.container));
  PutSignedVarint(
      Column(kOffset),
      Difference(capture.place.offset, ExpectedOffset(last_.place, capture.place.container)));
  PutVarint(Column(kRecordLength), capture.place.length);
  PutVarint(Column(kLength), capture.length);
  if (capture.original) {
    PutSignedVarint(Column(kOriginal), Difference(capture.original->batch, capture.id.batch));
    PutSignedVarint(Column(kOriginal), Difference(capture.original->serial, capture.id.serial));
  }
  if (capture.text_digest != 0) PutFixed64(Column(kTextDigest), capture.text_digest);
  if (capture.sha256) Column(kSha256).append(capture.sha256->data(), capture.sha256->size());
  if (capture.sha1) Column(kSha1).append(capture.sha1->data(), capture.sha1->size());
  PutVarint(Column(kUrlLength), capture.url.size());
  Column(kUrl) += capture.url;
  if (!capture.key.empty()) PutSized(Column(kKey), capture.key);
  last_ = capture;
  last_.type = last_.url = last_.key = {};
  ++rows_;
  bytes_ += 20 + (is_new ? capture.type.size() : 0) + (capture.sha256 ? 32 : 0) +
            (capture.sha1 ? 20 : 0) + capture.url.size() + capture.key.size();
}

PageParts CapturePageBuilder::Take() {
  PageParts page(1);
  PutVarint(page[0], rows_);
  for (const std::string& column : columns_) PutVarint(page[0], column.size());
  for (std::size_t i = 0; i < kCaptureColumns; ++i) {
    // Numbers, digests, texts.
    const auto column = static_cast<CaptureColumn>(i);
    if (column == kTextDigest || column == kUrlLength) page.emplace_back();
    page.back() += columns_[i];
    columns_[i].clear();
  }
  types_.clear();
  last_ = {};
  rows_ = 0;
  bytes_ = 0;
  return page;
}

Result<CapturePageReader> CapturePageReader::Open(std::string_view page, std::uint32_t batch) {
  const Error corrupt{ErrorCode::kCorrupt, "a page of captures cannot be understood"};
  ByteReader reader(page);
  CapturePageReader rows;
  rows.left_ = reader.Varint();
  std::array<std::uint64_t, kCaptureColumns> sizes;
  for (std::uint64_t& size : sizes) size = reader.Varint();
  for (std::size_t i = 0; i < kCaptureColumns; ++i) {
    rows.columns_[i] = ByteReader(reader.Bytes(sizes[i]));
  }
  if (!reader.good() || !reader.AtEnd()) return corrupt;
  ByteReader& types = rows.Column(kTypes);
  while (!types.AtEnd()) rows.types_.push_back(types.Sized());
  if (!types.good()) return corrupt;
  rows.row_.id.batch = batch;
  return rows;
}

std::uint32_t CapturePageReader::Narrow(CaptureColumn column) {
  const std::uint64_t value = Column(column).Varint();
  good_ = good_ && value <= 0xFFFF'FFFF;
  return static_cast<std::uint32_t>(value);
}

std::uint64_t CapturePageReader::PassSerials(std::uint32_t serial) {
  std::uint64_t rows = 0;
  for (ByteReader next = Column(kSerial); rows < left_; ++rows) {
    const std::uint64_t step = next.Varint();
    const std::uint64_t here = first_ ? step : row_.id.serial + step;
    if (here >= serial || !next.good()) break;
    row_.id.serial = static_cast<std::uint32_t>(here);
    first_ = false;
    Column(kSerial) = next;
  }
  return rows;
}

void CapturePageReader::PassPlaces(std::uint64_t rows) {
  for (std::uint64_t i = 0; i < rows; ++i) {
    const auto container =
        static_cast<std::uint32_t>(Sum(row_.place.container, Column(kContainer).SignedVarint()));
    row_.place.offset = Sum(ExpectedOffset(row_.place, container), Column(kOffset).SignedVarint());
    row_.place.container = container;
    row_.place.length = Column(kRecordLength).Varint();
  }
}

void CapturePageReader::PassBefore(std::uint32_t serial) {
  const std::uint64_t rows = PassSerials(serial);
  left_ -= rows;
  const auto pass = [this](CaptureColumn column, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) Column(column).Varint();
  };
  // Sums go around at the ends of their range, as those of single rows do.
  const auto sum = [this, rows](CaptureColumn column, std::uint64_t value) {
    for (std::uint64_t i = 0; i < rows; ++i) value = Sum(value, Column(column).SignedVarint());
    return value;
  };
  row_.time.milliseconds =
      static_cast<std::int64_t>(sum(kTime, static_cast<std::uint64_t>(row_.time.milliseconds)));
  row_.run = static_cast<std::uint32_t>(sum(kRun, row_.run));
  PassPlaces(rows);
  for (const CaptureColumn column : {kStatus, kType, kLength}) pass(column, rows);
  std::uint64_t originals = 0;
  std::uint64_t texts = 0;
  std::uint64_t sha256s = 0;
  std::uint64_t sha1s = 0;
  std::uint64_t url_bytes = 0;
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::uint64_t flags = Column(kFlags).Varint();
    originals += (flags & kHasOriginal) != 0 ? 1 : 0;
    texts += (flags & kHasText) != 0 ? 1 : 0;
    sha256s += (flags & kHasSha256) != 0 ? 1 : 0;
    sha1s += (flags & kHasSha1) != 0 ? 1 : 0;
    if ((flags & kHasKey) != 0) Column(kKey).Sized();
    url_bytes += Column(kUrlLength).Varint();
  }
  pass(kOriginal, 2 * originals);
  Column(kTextDigest).Bytes(texts * sizeof(std::uint64_t));
  Column(kSha256).Bytes(sha256s * sizeof(Sha256Bytes));
  Column(kSha1).Bytes(sha1s * sizeof(Sha1Bytes));
  Column(kUrl).Bytes(url_bytes);
}

Result<const Capture*> CapturePageReader::Next() {
  Check(left_ > 0);
  const auto narrow = [this](std::uint64_t value) {
    good_ = good_ && value <= 0xFFFF'FFFF;
    return static_cast<std::uint32_t>(value);
  };
  const std::uint64_t step = Column(kSerial).Varint();
  good_ = good_ && (first_ || step > 0);
  row_.id.serial = narrow(first_ ? step : row_.id.serial + step);
  first_ = false;
  row_.time.milliseconds = static_cast<std::int64_t>(
      Sum(static_cast<std::uint64_t>(row_.time.milliseconds), Column(kTime).SignedVarint()));
  const std::uint32_t flags = Narrow(kFlags);
  row_.flags = flags & kFlagsMask;
  row_.status = Narrow(kStatus);
  const std::uint32_t type = Narrow(kType);
  good_ = good_ && type < types_.size();
  row_.type = good_ ? types_[type] : std::string_view();
  row_.run = narrow(Sum(row_.run, Column(kRun).SignedVarint()));
  const std::uint32_t container =
      narrow(Sum(row_.place.container, Column(kContainer).SignedVarint()));
  row_.place.offset = Sum(ExpectedOffset(row_.place, container), Column(kOffset).SignedVarint());
  row_.place.container = container;
  row_.place.length = Column(kRecordLength).Varint();
  row_.length = Column(kLength).Varint();
  row_.original.reset();
  if (flags & kHasOriginal) {
    const std::uint32_t batch = narrow(Sum(row_.id.batch, Column(kOriginal).SignedVarint()));
    row_.original = {batch, narrow(Sum(row_.id.serial, Column(kOriginal).SignedVarint()))};
  }
  row_.text_digest = flags & kHasText ? Column(kTextDigest).Fixed64() : 0;
  row_.sha256.reset();
  if (flags & kHasSha256) row_.sha256 = BytesOf<Sha256Bytes>(Column(kSha256));
  row_.sha1.reset();
  if (flags & kHasSha1) row_.sha1 = BytesOf<Sha1Bytes>(Column(kSha1));
  row_.url = Column(kUrl).Bytes(Column(kUrlLength).Varint());
  row_.key = flags & kHasKey ? Column(kKey).Sized() : std::string_view();
  --left_;
  for (const ByteReader& column : columns_) {
    good_ = good_ && column.good() && (left_ > 0 || column.AtEnd());
  }
  if (!good_) return Error{ErrorCode::kCorrupt, "a row of captures cannot be understood"};
  return &row_;
}

}  // namespace stele::catalog
