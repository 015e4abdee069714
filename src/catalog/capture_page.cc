// What is alike lies together and is compressed together: small numbers and the upper bytes of
// large ones; lower bytes and digests, which look random; texts. A site, the front of a URL up to
// its path, stands in a page once, and so does each combination of flags, status and type.
#include "catalog/capture_page.h"

#include "catalog/capture_presence.h"
#include "util/check.h"

namespace stele::catalog {
namespace {

using enum CaptureNumber;
using enum CaptureBytes;

// Records of a container lie one after the other: the next one is expected where this one ends.
std::uint64_t ExpectedOffset(const CapturePlace& last, std::uint32_t container) {
  return container == last.container ? last.offset + last.length : 0;
}

// Small numbers for small differences of either sign. They go around at the ends of their range,
// so that any two numbers have one.
std::uint64_t Folded(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t difference = a - b;
  return difference << 1 ^ (~(difference >> 63) + 1);
}
std::uint64_t Sum(std::uint64_t a, std::uint64_t folded) {
  return a + (folded >> 1 ^ (~(folded & 1) + 1));
}

std::uint64_t Unsigned(Timestamp time) { return static_cast<std::uint64_t>(time.milliseconds); }

bool IsDifference(std::size_t column) { return column <= static_cast<std::size_t>(kOffset); }

// How many bytes of a URL name its site: those up to the slash before its path.
std::size_t SiteBytes(std::string_view url) {
  const std::size_t colon = url.find("://");
  if (colon == std::string_view::npos) return 0;
  const std::size_t slash = url.find('/', colon + 3);
  return slash == std::string_view::npos ? url.size() : slash + 1;
}

void TakeAll(ByteReader& texts, std::vector<std::string_view>& to) {
  while (!texts.AtEnd()) to.push_back(texts.Sized());
}

}  // namespace

std::uint64_t CapturePageBuilder::KindOf(const Capture& capture) {
  const auto [type, is_new] = types_.try_emplace(std::string(capture.type), types_.size());
  if (is_new) {
    PutSized(Bytes(kTypes), capture.type);
    bytes_ += capture.type.size();
  }
  std::string kind;
  PutVarint(kind, StoredFlags(capture));
  PutVarint(kind, capture.status);
  PutVarint(kind, type->second);
  const auto [known, is_new_kind] = kinds_.try_emplace(kind, kinds_.size());
  if (is_new_kind) Bytes(kKinds) += kind;
  return known->second;
}

std::uint64_t CapturePageBuilder::SiteOf(std::string_view site) {
  const auto [known, is_new] = sites_.try_emplace(std::string(site), sites_.size());
  if (is_new) PutSized(Bytes(kSites), site);
  return known->second;
}

void CapturePageBuilder::AddPlace(const Capture& capture) {
  const CapturePlace& place = capture.place;
  Numbers(kRecordLength).push_back(place.length);
  if (rows_ == 0) return;
  Numbers(kContainer).push_back(Folded(place.container, last_.place.container));
  Numbers(kOffset).push_back(Folded(place.offset, ExpectedOffset(last_.place, place.container)));
}

void CapturePageBuilder::Add(const Capture& capture) {
  Check(rows_ == 0 || (capture.id.serial > last_.id.serial && capture.id.batch == last_.id.batch));
  if (rows_ > 0) {
    Numbers(kSerial).push_back(capture.id.serial - last_.id.serial);
    Numbers(kTime).push_back(Folded(Unsigned(capture.time), Unsigned(last_.time)));
    Numbers(kRun).push_back(Folded(capture.run, last_.run));
  }
  AddPlace(capture);
  Numbers(kLength).push_back(capture.length);
  Numbers(kKind).push_back(KindOf(capture));
  if (capture.text_digest != 0) PutFixed64(Bytes(kTextDigest), capture.text_digest);
  if (capture.sha256) Bytes(kSha256).append(capture.sha256->data(), capture.sha256->size());
  if (capture.sha1) Bytes(kSha1).append(capture.sha1->data(), capture.sha1->size());
  const std::size_t site_bytes = SiteBytes(capture.url);
  Numbers(kSite).push_back(SiteOf(capture.url.substr(0, site_bytes)));
  Numbers(kRestLength).push_back(capture.url.size() - site_bytes);
  Bytes(kRests) += capture.url.substr(site_bytes);
  if (!capture.key.empty()) PutSized(Bytes(kKey), capture.key);
  last_ = capture;
  last_.type = last_.url = last_.key = {};
  if (rows_ == 0) first_ = last_;
  ++rows_;
  bytes_ += 20 + (capture.sha256 ? 32 : 0) + (capture.sha1 ? 20 : 0) + capture.url.size() +
            capture.key.size();
}

PageParts CapturePageBuilder::Take() {
  PageParts page(3);
  std::string& head = page[0];
  PutVarint(head, rows_);
  for (const std::string& column : columns_) PutVarint(head, column.size());
  PutVarint(head, first_.id.serial);
  PutSignedVarint(head, first_.time.milliseconds);
  PutVarint(head, first_.run);
  PutVarint(head, first_.place.container);
  PutVarint(head, first_.place.offset);
  std::string high;
  for (std::vector<std::uint64_t>& column : numbers_) {
    PutPlanes(column, head, high, page[1]);
    column.clear();
  }
  head += high;
  for (std::size_t i = 0; i < kCaptureByteColumns; ++i) {
    const auto column = static_cast<CaptureBytes>(i);
    page[column < kTextDigest ? 0 : column < kTypes ? 1 : 2] += columns_[i];
    columns_[i].clear();
  }
  types_.clear();
  kinds_.clear();
  sites_.clear();
  rows_ = 0;
  bytes_ = 0;
  return page;
}

// The numbers of the first row, and all columns, of which none is looked at.
bool CapturePageReader::TakeHead(ByteReader& reader) {
  rows_ = reader.Varint();
  std::array<std::uint64_t, kCaptureByteColumns> sizes;
  for (std::uint64_t& size : sizes) size = reader.Varint();
  const std::uint64_t serial = reader.Varint();
  row_.time.milliseconds = reader.SignedVarint();
  const std::uint64_t run = reader.Varint();
  const std::uint64_t container = reader.Varint();
  row_.id.serial = static_cast<std::uint32_t>(serial);
  row_.run = static_cast<std::uint32_t>(run);
  row_.place.container = static_cast<std::uint32_t>(container);
  row_.place.offset = reader.Varint();
  for (PlaneColumn& column : numbers_) {
    if (!column.TakeHead(reader)) return false;
  }
  if (!reader.good() || rows_ == 0 || rows_ > kCapturePageRowsMax) return false;
  const auto values = [this](std::size_t column) { return rows_ - (IsDifference(column) ? 1 : 0); };
  for (std::size_t i = 0; i < kCaptureNumbers; ++i) numbers_[i].TakeHigh(reader, values(i));
  for (std::size_t i = 0; i < kCaptureByteColumns; ++i) {
    if (i == static_cast<std::size_t>(kTextDigest)) {
      for (std::size_t n = 0; n < kCaptureNumbers; ++n) numbers_[n].TakeLow(reader, values(n));
    }
    columns_[i] = ByteReader(reader.Bytes(sizes[i]));
  }
  return reader.good() && reader.AtEnd() && (serial | run | container) <= 0xFFFF'FFFF;
}

bool CapturePageReader::TakeKinds() {
  ByteReader& kinds = Bytes(kKinds);
  while (!kinds.AtEnd()) {
    const std::uint64_t flags = kinds.Varint();
    const std::uint64_t status = kinds.Varint();
    const std::uint64_t type = kinds.Varint();
    if (!kinds.good() || (flags | status) > 0xFFFF'FFFF || type >= types_.size()) return false;
    if ((flags & ~std::uint64_t{kStoredFlagsMask}) != 0) return false;
    kinds_.push_back({static_cast<std::uint32_t>(flags), static_cast<std::uint32_t>(status), type});
  }
  return true;
}

Result<CapturePageReader> CapturePageReader::Open(std::string_view page, std::uint32_t batch) {
  ByteReader reader(page);
  CapturePageReader rows;
  rows.row_.id.batch = batch;
  bool good = rows.TakeHead(reader);
  if (good) {
    TakeAll(rows.Bytes(kTypes), rows.types_);
    TakeAll(rows.Bytes(kSites), rows.sites_);
    good = rows.Bytes(kTypes).good() && rows.Bytes(kSites).good() && rows.TakeKinds();
  }
  if (!good) return Error{ErrorCode::kCorrupt, "a page of captures cannot be understood"};
  return rows;
}

const CaptureKind* CapturePageReader::KindAt(std::uint64_t row) const {
  const std::uint64_t kind = Number(kKind, row);
  return kind < kinds_.size() ? &kinds_[kind] : nullptr;
}

void CapturePageReader::StepPlace(std::uint64_t row) {
  CapturePlace& place = row_.place;
  if (row > 0) {
    const std::uint64_t container = Sum(place.container, Number(kContainer, row - 1));
    good_ = good_ && container <= 0xFFFF'FFFF;
    const auto here = static_cast<std::uint32_t>(container);
    place.offset = Sum(ExpectedOffset(place, here), Number(kOffset, row - 1));
    place.container = here;
  }
  place.length = Number(kRecordLength, row);
}

void CapturePageReader::StepNumbers(std::uint64_t row) {
  if (row == 0) return;
  const std::uint64_t step = Number(kSerial, row - 1);
  const std::uint64_t run = Sum(row_.run, Number(kRun, row - 1));
  good_ = good_ && step > 0 && step <= 0xFFFF'FFFF - row_.id.serial && run <= 0xFFFF'FFFF;
  row_.id.serial += static_cast<std::uint32_t>(step);
  row_.run = static_cast<std::uint32_t>(run);
  row_.time.milliseconds =
      static_cast<std::int64_t>(Sum(Unsigned(row_.time), Number(kTime, row - 1)));
}

void CapturePageReader::PassBefore(std::uint32_t serial) {
  std::uint64_t rests = 0;
  std::uint64_t texts = 0;
  std::uint64_t sha256s = 0;
  std::uint64_t sha1s = 0;
  for (; next_ < rows_ && good_; ++next_) {
    const std::uint64_t here =
        row_.id.serial + (next_ == 0 ? std::uint64_t{0} : Number(kSerial, next_ - 1));
    if (here >= serial) break;
    StepNumbers(next_);
    StepPlace(next_);
    const CaptureKind* kind = KindAt(next_);
    good_ = good_ && kind != nullptr;
    if (kind == nullptr) break;
    rests += Number(kRestLength, next_);
    texts += (kind->flags & kHasText) != 0 ? 1 : 0;
    sha256s += (kind->flags & kHasSha256) != 0 ? 1 : 0;
    sha1s += (kind->flags & kHasSha1) != 0 ? 1 : 0;
    if ((kind->flags & kHasKey) != 0) Bytes(kKey).Sized();
  }
  Bytes(kTextDigest).Bytes(texts * sizeof(std::uint64_t));
  Bytes(kSha256).Bytes(sha256s * sizeof(Sha256Bytes));
  Bytes(kSha1).Bytes(sha1s * sizeof(Sha1Bytes));
  Bytes(kRests).Bytes(rests);
}

void CapturePageReader::TakeTexts(const CaptureKind& kind) {
  row_.type = types_[kind.type];
  row_.text_digest = kind.flags & kHasText ? Bytes(kTextDigest).Fixed64() : 0;
  row_.sha256.reset();
  if (kind.flags & kHasSha256) row_.sha256 = BytesOf<Sha256Bytes>(Bytes(kSha256));
  row_.sha1.reset();
  if (kind.flags & kHasSha1) row_.sha1 = BytesOf<Sha1Bytes>(Bytes(kSha1));
  const std::uint64_t site = Number(kSite, next_);
  good_ = good_ && site < sites_.size();
  url_.assign(site < sites_.size() ? sites_[site] : std::string_view());
  url_ += Bytes(kRests).Bytes(Number(kRestLength, next_));
  row_.url = url_;
  row_.key = kind.flags & kHasKey ? Bytes(kKey).Sized() : std::string_view();
}

Result<const Capture*> CapturePageReader::Next() {
  Check(left() > 0);
  const Error corrupt{ErrorCode::kCorrupt, "a row of captures cannot be understood"};
  const CaptureKind* kind = KindAt(next_);
  if (kind == nullptr || !good_) return corrupt;
  StepNumbers(next_);
  StepPlace(next_);
  row_.flags = kind->flags & kFlagsMask;
  row_.status = kind->status;
  row_.length = Number(kLength, next_);
  TakeTexts(*kind);
  ++next_;
  good_ = good_ && StoredFlags(row_) == kind->flags;
  for (const ByteReader& column : columns_) {
    good_ = good_ && column.good() && (left() > 0 || column.AtEnd());
  }
  if (!good_) return corrupt;
  return &row_;
}

}  // namespace stele::catalog
