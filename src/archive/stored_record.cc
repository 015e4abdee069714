#include "archive/stored_record.h"

#include <fmt/format.h>

#include <limits>

#include "archive/wacz_file.h"
#include "io/part_source.h"

namespace stele::archive {
namespace {

// What has longer records has larger buffers, which nobody needs to keep.
constexpr std::uint64_t kKeptBlockMax = 256 << 10;

// What a byte of a container belongs to: the container's file, or one that is in it.
struct Surroundings {
  std::string name;
  std::unique_ptr<io::ReadableFile> file;
  // Instead of `file` where only reading from begin to end is possible: from the byte on.
  std::unique_ptr<io::Source> rest;
  // Where in the container it lies.
  std::uint64_t begin = 0;
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
};

Result<Surroundings> FindAround(io::FileSystem& fs, const std::string& path, std::uint64_t offset) {
  Result<std::unique_ptr<WaczFile>> wacz = OpenWacz(fs, path);
  if (!wacz) return wacz.error();
  const WaczFile::Part* part = *wacz == nullptr ? nullptr : (*wacz)->PartAt(offset);
  Surroundings around;
  around.name = path;
  if (part != nullptr) {
    around.name = fmt::format("{}: {}", path, part->name);
    around.begin = part->begin;
    around.end = part->end;
  }
  if (part != nullptr && part->is_packed) {
    Result<std::unique_ptr<io::Source>> unpacked = (*wacz)->ReadPart(*part);
    if (!unpacked) return unpacked.error();
    around.rest = std::make_unique<io::PartSource>(*std::move(unpacked), offset - part->begin,
                                                   part->end - offset);
    around.begin = offset;
    return around;
  }
  Result<std::unique_ptr<io::ReadableFile>> file =
      part == nullptr ? fs.OpenForReading(path) : (*wacz)->OpenPart(*part);
  if (!file) return file.error();
  around.file = *std::move(file);
  return around;
}

Result<OpenedFile> OpenAround(io::FileSystem& fs, const std::string& path, std::uint64_t offset) {
  Result<Surroundings> around = FindAround(fs, path, offset);
  if (!around) return around.error();
  std::unique_ptr<io::Source> source = std::move(around->rest);
  if (source == nullptr) source = std::make_unique<io::FileSource>(std::move(around->file));
  Result<std::unique_ptr<archive_file::ArchiveFile>> file =
      archive_file::ArchiveFile::Open(std::move(source), around->name);
  if (!file) return file.error();
  return OpenedFile{*std::move(file), around->begin, around->end};
}

bool CanBeReadAnywhere(const OpenedFile& opened) { return opened.file->size().has_value(); }

}  // namespace

Result<std::unique_ptr<io::Source>> OpenBytes(io::FileSystem& fs, const std::string& path,
                                              std::uint64_t offset, std::uint64_t length) {
  Result<Surroundings> around = FindAround(fs, path, offset);
  if (!around) return around.error();
  std::unique_ptr<io::Source> source = std::move(around->rest);
  if (source == nullptr) {
    source = std::make_unique<io::FileSource>(std::move(around->file), offset - around->begin);
  }
  return std::unique_ptr<io::Source>(
      std::make_unique<io::PartSource>(std::move(source), 0, length));
}

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
  if (CanBeReadAnywhere(lent.opened)) {
    if (const Status moved = reader.SkipTo(begin, place.length); !moved) return moved.error();
  }
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
                    record_->content_length <= kKeptBlockMax && CanBeReadAnywhere(lent_.opened);
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
