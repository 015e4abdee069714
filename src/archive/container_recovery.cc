// Only bytes that were never synced can be bad after a crash, so what is behind the last good
// record was acknowledged to nobody. A disk may have kept a later piece of what was not synced and
// lost an earlier one; nobody can tell that from damage, so nothing good is thrown away.
#include "archive/container_recovery.h"

#include <algorithm>

#include "archive/container_scan.h"
#include "formats/archive_file/archive_file.h"

namespace stele::archive {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 20;

// Whether the reader's record can be read to its end; then `end` is behind it.
Result<bool> ReadToEnd(record::RecordReader& reader, std::uint64_t& end) {
  for (;;) {
    Result<std::string_view> piece = reader.ReadBlock();
    if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
    if (!piece) return false;
    if (piece->empty()) break;
  }
  Result<record::Extent> extent = reader.Finish();
  if (!extent && extent.error().code != ErrorCode::kCorrupt) return extent.error();
  if (!extent) return false;
  end = extent->offset + extent->length;
  return true;
}

// Behind the last good record; 0 when there is none.
Result<std::uint64_t> GoodEnd(io::FileSystem& fs, const std::string& path) {
  Result<std::unique_ptr<archive_file::ArchiveFile>> file =
      archive_file::ArchiveFile::Open(fs, path);
  if (!file && file.error().code == ErrorCode::kInvalid) return std::uint64_t{0};
  if (!file) return file.error();
  record::RecordReader& reader = (*file)->reader();
  std::uint64_t good_end = 0;
  for (;;) {
    Result<const record::Record*> next = reader.Next();
    if (!next) return next.error();
    if (*next == nullptr) return good_end;
    const bool damaged = (*next)->damaged;
    std::uint64_t end = 0;
    Result<bool> whole = ReadToEnd(reader, end);
    if (!whole) return whole.error();
    if (*whole && !damaged) good_end = end;
  }
}

Status CopyTail(const io::ReadableFile& from, std::uint64_t begin, std::uint64_t end,
                io::WritableFile& to) {
  std::string buffer(kCopyBytes, '\0');
  while (begin < end) {
    const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), end - begin);
    Result<std::size_t> read = from.ReadAt(begin, std::span(buffer).first(wanted));
    if (!read) return read.error();
    if (*read == 0) break;
    if (const Status put = to.Append(std::string_view(buffer).substr(0, *read)); !put) return put;
    begin += *read;
  }
  return {};
}

// Copies what is behind `end` and takes it off.
Status SetAside(io::FileSystem& fs, const std::string& path, std::uint64_t end,
                const std::string& torn_path) {
  Result<std::unique_ptr<io::ReadableFile>> bytes = fs.OpenForReading(path);
  if (!bytes) return bytes.error();
  Result<std::uint64_t> size = (*bytes)->Size();
  if (!size) return size.error();
  Result<std::unique_ptr<io::WritableFile>> file = fs.OpenForAppending(path);
  if (!file) return file.error();
  if (*size > end) {
    const std::string unfinished = torn_path + ".new";
    Result<std::unique_ptr<io::WritableFile>> torn = fs.Create(unfinished);
    if (!torn) return torn.error();
    if (const Status copied = CopyTail(**bytes, end, *size, **torn); !copied) return copied;
    if (const Status synced = (*torn)->Sync(); !synced) return synced;
    if (const Status closed = (*torn)->Close(); !closed) return closed;
    if (const Status named = fs.Rename(unfinished, torn_path); !named) return named;
    const Status synced = fs.SyncDirectory(io::ParentDirectory(torn_path));
    if (!synced) return synced;
    if (const Status cut = (*file)->Truncate(end); !cut) return cut;
  }
  if (const Status synced = (*file)->Sync(); !synced) return synced;
  return (*file)->Close();
}

}  // namespace

Result<std::optional<ContainerSummary>> RecoverContainer(io::FileSystem& fs,
                                                         const std::string& path,
                                                         const std::string& rows_path,
                                                         const std::string& torn_path) {
  const Result<bool> there = fs.Exists(path);
  if (!there) return there.error();
  if (!*there) return std::optional<ContainerSummary>();
  Result<std::uint64_t> end = GoodEnd(fs, path);
  if (!end) return end.error();
  if (const Status aside = SetAside(fs, path, *end, torn_path); !aside) return aside.error();
  if (*end == 0) return std::optional<ContainerSummary>();
  // Its name may not have been durable, nor that of its directory.
  const std::string directory = io::ParentDirectory(path);
  for (const std::string& names : {directory, io::ParentDirectory(directory)}) {
    if (const Status synced = fs.SyncDirectory(names); !synced) return synced.error();
  }
  Result<ContainerSummary> summary = WriteContainerRows(fs, path, {}, rows_path);
  if (!summary) return summary.error();
  return std::optional(*std::move(summary));
}

}  // namespace stele::archive
