#include "archive/stored_record.h"

#include <fmt/format.h>

namespace stele::archive {

Result<std::unique_ptr<StoredRecord>> StoredRecord::Open(io::FileSystem& fs,
                                                         const std::string& path,
                                                         std::uint64_t offset, const IsIt& is_it) {
  std::unique_ptr<StoredRecord> stored(new StoredRecord);
  Result<std::unique_ptr<archive_file::ArchiveFile>> file =
      archive_file::ArchiveFile::Open(fs, path);
  if (!file) return file.error();
  stored->file_ = std::move(*file);
  record::RecordReader& reader = stored->file_->reader();
  if (const Status moved = reader.SkipTo(offset); !moved) return moved.error();
  for (;;) {
    Result<const record::Record*> record = reader.Next();
    if (!record) return record.error();
    if (*record == nullptr || (*record)->offset != offset) break;
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

}  // namespace stele::archive
