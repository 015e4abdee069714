#include "archive/durable_file.h"

#include "io/stream.h"
#include "util/digest.h"

namespace stele::archive {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

}  // namespace

Status WriteDurably(io::FileSystem& fs, const std::string& path,
                    const std::function<Status(io::WritableFile&)>& write) {
  const std::string directory = io::ParentDirectory(path);
  if (const Status made = fs.MakeDirectory(directory); !made) return made;
  Result<std::unique_ptr<io::WritableFile>> file = fs.Create(path);
  if (!file) return file.error();
  if (const Status written = write(**file); !written) return written;
  if (const Status synced = (*file)->Sync(); !synced) return synced;
  if (const Status closed = (*file)->Close(); !closed) return closed;
  if (const Status synced = fs.SyncDirectory(directory); !synced) return synced;
  return fs.SyncDirectory(io::ParentDirectory(directory));
}

Result<FileFacts> FactsOf(io::FileSystem& fs, const std::string& path,
                          const std::function<void(std::uint64_t bytes)>& progress) {
  Result<std::unique_ptr<io::ReadableFile>> file = fs.OpenForReading(path);
  if (!file) return file.error();
  io::FileSource source(std::move(*file));
  Hasher hasher(DigestAlgorithm::kSha256);
  FileFacts facts;
  std::string buffer(kReadBytes, '\0');
  for (;;) {
    Result<std::size_t> read = source.Read(buffer);
    if (!read) return read.error();
    if (*read == 0) break;
    hasher.Update(std::string_view(buffer).substr(0, *read));
    facts.bytes += *read;
    if (progress) progress(*read);
  }
  facts.sha256 = hasher.Finish().Text();
  return facts;
}

}  // namespace stele::archive
