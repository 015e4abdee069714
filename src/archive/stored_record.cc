#include "archive/stored_record.h"

#include <fmt/format.h>

#include "archive/wacz_file.h"

namespace stele::archive {
namespace {

// What has longer records has larger buffers, which nobody needs to keep.
constexpr std::uint64_t kKeptBlockMax = 256 << 10;

// Opens what the byte at `offset` belongs to.
Result<OpenedFile> OpenAround(io::FileSystem& fs, const std::string& path, std::uint64_t offset) {
  Result<std::unique_ptr<WaczFile>> wacz = OpenWacz(fs, path);
  if (!wacz) return wacz.error();
  const WaczFile::Part* part = *wacz == nullptr ? nullptr : (*wacz)->PartAt(offset);
  OpenedFile opened;
  if (part == nullptr) {
    Result<std::unique_ptr<archive_file::ArchiveFile>> file =
        archive_file::ArchiveFile::Open(fs, path);
    if (!file) return file.error();
    opened.file = *std::move(file);
    return opened;
  }
  Result<std::unique_ptr<io::ReadableFile>> slice = (*wacz)->OpenPart(*part);
  if (!slice) return slice.error();
  Result<std::unique_ptr<archive_file::ArchiveFile>> file = archive_file::ArchiveFile::Open(
      std::make_unique<io::FileSource>(*std::move(slice)), fmt::format("{}: {}", path, part->name));
  if (!file) return file.error();
  opened.file = *std::move(file);
  opened.begin = part->begin;
  opened.end = part->end;
  return opened;
}

}  // namespace

Result<std::unique_ptr<StoredRecord>> StoredRecord::Open(io::FileSystem& fs,
                                                         const std::string& path,
                                                         const catalog::CapturePlace& place,
                                                         const IsIt& is_it, OpenContainers* open) {
  std::unique_ptr<StoredRecord> stored(new StoredRecord(open));
  OpenContainers::Lent& lent = stored->lent_;
  if (open != nullptr) lent = open->Take(place.container, place.offset);
  if (lent.opened.file == nullptr) {
    Result<OpenedFile> opened = OpenAround(fs, path, place.offset);
    if (!opened) return opened.error();
    lent.opened = *std::move(opened);
  }
  record::RecordReader& reader = lent.opened.file->reader();
  const std::uint64_t begin = place.offset - lent.opened.begin;
  if (const Status moved = reader.SkipTo(begin); !moved) return moved.error();
  for (;;) {
    Result<const record::Record*> record = reader.Next();
    if (!record) return record.error();
    if (*record == nullptr || (*record)->offset != begin) break;
    if (!is_it(**record)) continue;
    stored->record_ = *record;
    stored->block_.emplace(reader, **record);
    return stored;
  }
  return Error{ErrorCode::kCorrupt,
               fmt::format("{}: what should begin at byte {} does not; run stele verify", path,
                           place.offset)};
}

StoredRecord::~StoredRecord() {
  const bool keep = open_ != nullptr && good_ && record_ != nullptr && !record_->damaged &&
                    record_->content_length <= kKeptBlockMax;
  if (keep) open_->GiveBack(std::move(lent_));
}

Result<std::string_view> StoredRecord::Read() {
  Result<std::string_view> piece = block_->Read();
  if (!piece) good_ = false;
  return piece;
}

Result<bool> StoredRecord::IsAlone() {
  if (!record_->at_member_start) return false;
  const std::uint64_t offset = record_->offset;
  record::RecordReader& reader = lent_.opened.file->reader();
  if (const Result<record::Extent> passed = reader.Finish(); !passed) return passed.error();
  const Result<const record::Record*> next = reader.Next();
  if (!next) return next.error();
  return *next == nullptr || (*next)->offset != offset;
}

}  // namespace stele::archive
