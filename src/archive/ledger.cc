// Each append is one record and one sync, so a record is written only when all before it are
// durable. Bytes that are no good record with one behind them are therefore damage, and so are
// those before a place up to which somebody knows that the ledger was durable; else, at the end of
// the file, they are what a crash left of an event that nobody was told of.
#include "archive/ledger.h"

#include <fmt/format.h>

#include "formats/archive_file/archive_file.h"
#include "formats/warc/warc_writer.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

using record::Record;

// A takedown names its captures one by one.
constexpr std::size_t kEventBytesMax = std::size_t{1} << 30;
// Behind each record.
constexpr std::string_view kSeparator = "\r\n\r\n";

// Of bytes behind the last good event.
Status CheckTail(const std::string& path, std::uint64_t end, std::uint64_t size,
                 std::uint64_t acknowledged) {
  if (size == end || end >= acknowledged) return {};
  return Error{ErrorCode::kCorrupt,
               fmt::format("{}: damaged at byte {}, where an event was; restore it from a backup",
                           path, end)};
}

Error Damage(const std::string& path, std::uint64_t offset) {
  return Error{ErrorCode::kCorrupt,
               fmt::format("{}: damaged at byte {}, with good events behind it; restore it from a "
                           "backup",
                           path, offset)};
}

// Reads the block of a record, as long as its head says. Nothing when it is not as it was written;
// else the offset behind the record. What stands behind it, which a crash may have left, has no
// say.
Result<std::optional<std::uint64_t>> ReadWhole(const io::ReadableFile& file, const Record& record,
                                               std::string& block) {
  std::optional<std::uint64_t> end;
  if (record.content_length > kEventBytesMax) return end;
  block.resize(record.content_length + kSeparator.size());
  const std::uint64_t begin = record.offset + record.head.size();
  Result<std::size_t> read = file.ReadAt(begin, block);
  if (!read) return read.error();
  if (*read != block.size() || !block.ends_with(kSeparator)) return end;
  block.resize(record.content_length);
  const std::optional<Digest> claim =
      Digest::Parse(record.fields.Find("WARC-Block-Digest").value_or(""));
  if (claim && DigestOf(claim->algorithm(), block) == *claim) {
    end = begin + block.size() + kSeparator.size();
  }
  return end;
}

struct LedgerScan {
  std::uint64_t end = 0;   // behind the last good event, or the head
  std::uint64_t size = 0;  // of the file
};

// Errors: as ReadLedger().
Result<LedgerScan> Scan(io::FileSystem& fs, const std::string& path, std::uint64_t offset,
                        const TakeEvent& take) {
  Result<std::unique_ptr<io::ReadableFile>> bytes = fs.OpenForReading(path);
  if (!bytes) return bytes.error();
  Result<std::uint64_t> size = (*bytes)->Size();
  if (!size) return size.error();
  Result<std::unique_ptr<io::ReadableFile>> events = fs.OpenForReading(path);
  if (!events) return events.error();
  LedgerScan scan{.end = offset, .size = *size};
  if (*size <= offset) return scan;
  Result<std::unique_ptr<archive_file::ArchiveFile>> file =
      archive_file::ArchiveFile::Open(std::make_unique<io::FileSource>(std::move(*bytes)), path);
  // Not even its first record was written.
  if (!file && file.error().code == ErrorCode::kInvalid && offset == 0) return scan;
  if (!file) return file.error();
  record::RecordReader& reader = (*file)->reader();
  if (offset > 0) {
    if (const Status moved = reader.SkipTo(offset); !moved) return moved.error();
  }
  bool bad = false;
  std::string block;
  for (;;) {
    Result<const Record*> next = reader.Next();
    if (!next) return next.error();
    if (*next == nullptr) break;
    const Record& record = **next;
    bad = bad || record.offset != scan.end;
    const bool is_head = record.offset == 0;
    bad = bad ||
          record.type != (is_head ? record::RecordType::kWarcinfo : record::RecordType::kMetadata);
    Result<std::optional<std::uint64_t>> end = ReadWhole(**events, record, block);
    if (!end) return end.error();
    if (*end && bad) return Damage(path, scan.end);
    bad = bad || !*end;
    if (bad) continue;
    const std::uint64_t begin = scan.end;
    scan.end = **end;
    if (const Status moved = reader.SkipTo(scan.end); !moved) return moved.error();
    if (is_head) continue;
    Result<LedgerEvent> event = ParseLedgerEvent(block);
    if (!event) {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("{}: at byte {}: {}", path, begin, event.error().text)};
    }
    if (const Status taken = take(*event, scan.end); !taken) return taken.error();
  }
  return scan;
}

// Copies what is behind `scan.end` to a file of its own and takes it off.
Status SetAside(io::FileSystem& fs, const std::string& path, const LedgerScan& scan,
                io::WritableFile& file) {
  Result<std::unique_ptr<io::ReadableFile>> bytes = fs.OpenForReading(path);
  if (!bytes) return bytes.error();
  std::string tail(scan.size - scan.end, '\0');
  Result<std::size_t> read = (*bytes)->ReadAt(scan.end, tail);
  if (!read) return read.error();
  tail.resize(*read);
  if (const Status kept = io::ReplaceFile(fs, path + ".torn", tail); !kept) return kept;
  if (const Status cut = file.Truncate(scan.end); !cut) return cut;
  return file.Sync();
}

}  // namespace

Result<std::uint64_t> ReadLedger(io::FileSystem& fs, const std::string& path, std::uint64_t offset,
                                 const TakeEvent& take, std::uint64_t acknowledged) {
  Result<LedgerScan> scan = Scan(fs, path, offset, take);
  if (!scan) return scan.error();
  const Status whole = CheckTail(path, scan->end, scan->size, acknowledged);
  return whole ? Result<std::uint64_t>(scan->end) : whole.error();
}

Result<std::unique_ptr<LedgerWriter>> LedgerWriter::Open(
    io::FileSystem& fs, const std::string& path, const io::Clock& clock, io::Random& random,
    const TakeEvent& take, std::uint64_t acknowledged, const std::function<Status()>& may_begin) {
  Result<LedgerScan> scan = Scan(fs, path, 0, take);
  if (!scan && scan.error().code != ErrorCode::kNotFound) return scan.error();
  const bool is_new = !scan;
  const Status whole = is_new ? Status() : CheckTail(path, scan->end, scan->size, acknowledged);
  if (!whole) return whole.error();
  const std::uint64_t end = is_new ? 0 : scan->end;
  if (end == 0 && may_begin) {
    if (const Status may = may_begin(); !may) return may.error();
  }
  Result<std::unique_ptr<io::WritableFile>> file = fs.OpenForAppending(path);
  if (!file) return file.error();
  if (!is_new && scan->size > scan->end) {
    if (const Status aside = SetAside(fs, path, *scan, **file); !aside) return aside.error();
  }
  std::unique_ptr<LedgerWriter> ledger(new LedgerWriter(std::move(*file), end, clock, random));
  if (end == 0) {
    const Status begun = ledger->AppendRecord(
        "warcinfo", "software: Stele\r\ndescription: ledger of an archive\r\n", clock.Now());
    if (!begun) return begun.error();
  }
  // Whoever made it may have been killed before its name was durable.
  if (const Status synced = fs.SyncDirectory(io::ParentDirectory(path)); !synced) {
    return synced.error();
  }
  return ledger;
}

Status LedgerWriter::Append(LedgerEvent& event) {
  if (event.time == Timestamp{}) event.time = clock_.Now();
  return AppendRecord("metadata", FormatLedgerEvent(event), event.time);
}

Status LedgerWriter::AppendRecord(std::string_view type, std::string_view block, Timestamp time) {
  if (failed_) {
    return Error{ErrorCode::kIo, "the ledger could not be written before; open the archive again"};
  }
  failed_ = true;  // until it is known to be durable
  io::StringSink bytes;
  warc::WriterOptions plain;
  plain.compression = record::Compression::kNone;
  Result<std::unique_ptr<warc::WarcWriter>> writer = warc::WarcWriter::Create(bytes, plain);
  if (!writer) return writer.error();
  warc::FieldList fields;
  fields.Add("WARC-Type", type);
  fields.Add("WARC-Record-ID", fmt::format("<urn:uuid:{}>", io::NewUuid(random_)));
  fields.Add("WARC-Date", FormatIsoMillis(time));
  fields.Add("WARC-Block-Digest", DigestOf(DigestAlgorithm::kSha256, block).Labelled());
  fields.Add("Content-Type", "application/warc-fields");
  Result<record::Extent> extent = (*writer)->Write(fields, block);
  if (!extent) return extent.error();
  if (const Status appended = file_->Append(bytes.content()); !appended) return appended;
  if (const Status synced = file_->Sync(); !synced) return synced;
  end_ += extent->length;
  failed_ = false;
  return {};
}

}  // namespace stele::archive
