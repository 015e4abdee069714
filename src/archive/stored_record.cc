#include "archive/stored_record.h"

#include <fmt/format.h>

#include "archive/wacz_file.h"

namespace stele::archive {
namespace {

// Opens what the byte at `offset` belongs to, and makes `offset` one of that.
Result<std::unique_ptr<archive_file::ArchiveFile>> OpenAround(io::FileSystem& fs,
                                                              const std::string& path,
                                                              std::uint64_t& offset) {
  Result<std::unique_ptr<WaczFile>> wacz = OpenWacz(fs, path);
  if (!wacz) return wacz.error();
  const WaczFile::Part* part = *wacz == nullptr ? nullptr : (*wacz)->PartAt(offset);
  if (part == nullptr) return archive_file::ArchiveFile::Open(fs, path);
  Result<std::unique_ptr<io::ReadableFile>> slice = (*wacz)->OpenPart(*part);
  if (!slice) return slice.error();
  offset -= part->begin;
  return archive_file::ArchiveFile::Open(std::make_unique<io::FileSource>(*std::move(slice)),
                                         fmt::format("{}: {}", path, part->name));
}

}  // namespace

Result<std::unique_ptr<StoredRecord>> StoredRecord::Open(io::FileSystem& fs,
                                                         const std::string& path,
                                                         std::uint64_t offset, const IsIt& is_it) {
  std::unique_ptr<StoredRecord> stored(new StoredRecord);
  std::uint64_t begin = offset;
  Result<std::unique_ptr<archive_file::ArchiveFile>> file = OpenAround(fs, path, begin);
  if (!file) return file.error();
  stored->file_ = std::move(*file);
  record::RecordReader& reader = stored->file_->reader();
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
  return Error{
      ErrorCode::kCorrupt,
      fmt::format("{}: what should begin at byte {} does not; run stele verify", path, offset)};
}

Result<std::string_view> StoredRecord::Read() { return block_->Read(); }

Result<bool> StoredRecord::IsAlone() {
  if (!record_->at_member_start) return false;
  const std::uint64_t offset = record_->offset;
  record::RecordReader& reader = file_->reader();
  if (const Result<record::Extent> passed = reader.Finish(); !passed) return passed.error();
  const Result<const record::Record*> next = reader.Next();
  if (!next) return next.error();
  return *next == nullptr || (*next)->offset != offset;
}

}  // namespace stele::archive
