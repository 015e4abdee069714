// A log is a head and entries: length, checksum, body. The checksum is seeded with the entry's
// offset. A body is 'r' and a row, or only 's': all before this place was synced before the 's' was
// written. So a bad entry with an 's' behind it is damage, and one without is the end of a writer
// whose last rows did not reach the disk; their containers bring them again.
#include "catalog/capture_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "catalog/remedy.h"
#include "util/check.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace stele::catalog {
namespace {

constexpr std::string_view kHead = "STELE-ROWS 2   \n";
static_assert(kHead.size() == kCaptureLogHeadSize);
constexpr std::size_t kEntryHeadSize = 8;
constexpr std::size_t kFirstReadBytes = 64 << 10;  // mostly, little is new
constexpr std::size_t kReadBytes = 2 << 20;
constexpr std::size_t kBlockBytes = 16 << 10;  // what is kept in the cache for the next rows
static_assert(kReadBytes > kCaptureRowBytesMax + kEntryHeadSize + 1);

std::uint32_t EntrySum(std::string_view body, std::uint64_t offset) {
  return static_cast<std::uint32_t>(ChecksumOf(body, offset));
}

void AppendEntryHead(std::string_view body, std::uint64_t offset, std::string& out) {
  PutFixed32(out, static_cast<std::uint32_t>(body.size()));
  PutFixed32(out, EntrySum(body, offset));
}

// The body of the entry at the front of `bytes`, which lie at `offset` of the file; nothing when it
// is not complete or not good.
std::optional<std::string_view> BodyAt(std::string_view bytes, std::uint64_t offset) {
  ByteReader reader(bytes);
  const std::uint32_t length = reader.Fixed32();
  const std::uint32_t sum = reader.Fixed32();
  if (length == 0 || length > kCaptureRowBytesMax + 1) return std::nullopt;
  const std::string_view body = reader.Bytes(length);
  if (!reader.good() || EntrySum(body, offset) != sum) return std::nullopt;
  return body;
}

}  // namespace

void AppendLogRow(const Capture& capture, std::uint64_t offset, std::string& log) {
  const std::size_t begin = log.size();
  log.resize(begin + kEntryHeadSize);
  log += 'r';
  AppendCaptureRow(capture, log);
  const std::string_view body = std::string_view(log).substr(begin + kEntryHeadSize);
  Check(body.size() <= kCaptureRowBytesMax + 1);
  std::string head;
  AppendEntryHead(body, offset + begin, head);
  std::copy(head.begin(), head.end(), log.begin() + static_cast<std::ptrdiff_t>(begin));
}

Result<std::unique_ptr<CaptureLogWriter>> CaptureLogWriter::Create(io::FileSystem& fs,
                                                                   std::string path) {
  Result<std::unique_ptr<io::WritableFile>> file = fs.Create(path);
  if (!file) return file.error();
  std::unique_ptr<CaptureLogWriter> log(new CaptureLogWriter(std::move(*file)));
  if (const Status status = log->file_->Append(kHead); !status) return status.error();
  log->bytes_ = kHead.size();
  if (const Status status = fs.SyncDirectory(io::ParentDirectory(path)); !status) {
    return status.error();
  }
  return log;
}

Status CaptureLogWriter::Append(std::span<const Capture> captures,
                                std::vector<std::uint64_t>& offsets) {
  buffer_.clear();
  for (const Capture& capture : captures) {
    offsets.push_back(bytes_ + buffer_.size());
    AppendLogRow(capture, bytes_, buffer_);
  }
  if (const Status status = file_->Append(buffer_); !status) return status;
  bytes_ += buffer_.size();
  all_synced_ = false;
  return {};
}

Status CaptureLogWriter::Sync() {
  if (all_synced_) return {};
  if (const Status status = file_->Sync(); !status) return status;
  std::string entry;
  AppendEntryHead("s", bytes_, entry);
  entry += 's';
  if (const Status status = file_->Append(entry); !status) return status;
  bytes_ += entry.size();
  all_synced_ = true;
  return {};
}

Result<std::unique_ptr<CaptureLog>> CaptureLog::Open(io::FileSystem& fs, std::string path,
                                                     PageCache& cache) {
  Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(path);
  if (!file) return file.error();
  return std::unique_ptr<CaptureLog>(new CaptureLog(std::move(path), std::move(*file), cache));
}

CaptureLog::~CaptureLog() { cache_.Forget(number_, blocks_kept_); }

Error CaptureLog::Damage(std::uint64_t offset) const {
  return {ErrorCode::kCorrupt,
          fmt::format("{}: the row at byte {} is damaged; {}", path_, offset, kReindexRemedy)};
}

// What was written never changes; only the last block grows, and is not kept.
Result<Page> CaptureLog::Block(std::uint32_t block) const {
  if (Page known = cache_.Find(number_, block)) return known;
  auto bytes = std::make_shared<std::string>(kBlockBytes, '\0');
  const Result<std::size_t> read = file_->ReadAt(std::uint64_t{block} * kBlockBytes, *bytes);
  if (!read) return read.error();
  bytes->resize(*read);
  Page page = std::move(bytes);
  if (*read < kBlockBytes) return page;
  std::uint32_t kept = blocks_kept_;
  while (kept <= block && !blocks_kept_.compare_exchange_weak(kept, block + 1)) continue;
  cache_.Insert(number_, block, page);
  return page;
}

Result<HeldCapture> CaptureLog::Read(std::uint64_t offset) const {
  const Result<Page> block = Block(static_cast<std::uint32_t>(offset / kBlockBytes));
  if (!block) return block.error();
  const std::size_t begin = std::min<std::size_t>(offset % kBlockBytes, (*block)->size());
  const auto body = BodyAt(std::string_view(**block).substr(begin), offset);
  if (!body) return ReadAlone(offset);
  const Result<Capture> capture =
      body->front() == 'r' ? ParseCaptureRow(body->substr(1)) : Result<Capture>(Damage(offset));
  if (!capture) return Damage(offset);
  return HeldCapture{*capture, *block};
}

Result<HeldCapture> CaptureLog::ReadAlone(std::uint64_t offset) const {
  std::string bytes(1 << 10, '\0');
  std::optional<std::string_view> body;
  for (;;) {
    const Result<std::size_t> read = file_->ReadAt(offset, bytes);
    if (!read) return read.error();
    const std::string_view there = std::string_view(bytes).substr(0, *read);
    body = BodyAt(there, offset);
    if (body || *read < bytes.size() || bytes.size() > kCaptureRowBytesMax) break;
    // Most rows are short; one that is not says how long it is.
    const std::uint64_t length = kEntryHeadSize + ByteReader(there).Fixed32();
    if (length <= bytes.size() || length > kCaptureRowBytesMax + kEntryHeadSize + 1) break;
    bytes.resize(length);
  }
  if (!body || body->front() != 'r') return Damage(offset);
  HeldCapture held;
  held.bytes = std::make_shared<const std::string>(body->substr(1));
  const Result<Capture> capture = ParseCaptureRow(*held.bytes);
  if (!capture) return Damage(offset);
  held.row = *capture;
  return held;
}

Result<Capture> CaptureLog::RowIn(std::string_view log, std::uint64_t offset) {
  if (offset < log.size()) {
    const std::optional<std::string_view> body = BodyAt(log.substr(offset), offset);
    if (body && body->front() == 'r') return ParseCaptureRow(body->substr(1));
  }
  return Error{ErrorCode::kCorrupt, fmt::format("there is no row at byte {}", offset)};
}

Result<std::uint64_t> CaptureLog::Scan(std::uint64_t offset, const Take& take) const {
  std::string buffer(kFirstReadBytes, '\0');
  for (;; buffer.resize(kReadBytes)) {
    const Result<std::size_t> read = file_->ReadAt(offset, buffer);
    if (!read) return read.error();
    std::string_view rest = std::string_view(buffer).substr(0, *read);
    const std::uint64_t begin = offset;
    if (offset == 0) {
      if (!rest.starts_with(kHead)) return 0;
      rest.remove_prefix(kHead.size());
      offset += kHead.size();
    }
    while (const std::optional<std::string_view> body = BodyAt(rest, offset)) {
      if (body->front() == 'r') {
        const Result<Capture> capture = ParseCaptureRow(body->substr(1));
        if (!capture) return Damage(offset);
        take(*capture, offset);
      }
      rest.remove_prefix(kEntryHeadSize + body->size());
      offset += kEntryHeadSize + body->size();
    }
    if (*read < buffer.size()) return offset;
    if (offset == begin && buffer.size() == kReadBytes) return offset;
  }
}

Status CaptureLog::CheckTail(std::uint64_t offset) const {
  // The pieces overlap by one entry less a byte.
  constexpr std::size_t kMarkSize = kEntryHeadSize + 1;
  std::string buffer(kFirstReadBytes, '\0');
  for (std::uint64_t at = offset;; at += buffer.size() - kMarkSize + 1) {
    const Result<std::size_t> read = file_->ReadAt(at, buffer);
    if (!read) return read.error();
    const std::string_view bytes = std::string_view(buffer).substr(0, *read);
    for (std::size_t i = 0; i + kMarkSize <= bytes.size(); ++i) {
      if (bytes[i] != 1 || bytes[i + kEntryHeadSize] != 's') continue;
      if (BodyAt(bytes.substr(i, kMarkSize), at + i)) return Damage(offset);
    }
    if (*read < buffer.size()) return {};
  }
}

}  // namespace stele::catalog
