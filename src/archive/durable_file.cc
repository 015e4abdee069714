#include "archive/durable_file.h"

#include "util/digest.h"

namespace stele::archive {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

}  // namespace

Status RemoveTree(io::FileSystem& fs, const std::string& path) {
  if (const Result<std::vector<std::string>> names = fs.List(path); names) {
    for (const std::string& name : *names) {
      if (const Status removed = RemoveTree(fs, path + '/' + name); !removed) return removed;
    }
  }
  const Status removed = fs.Remove(path);
  if (!removed && removed.error().code != ErrorCode::kNotFound) return removed;
  return {};
}

Status MakeDirectories(io::FileSystem& fs, const std::string& path) {
  const Result<bool> there = fs.Exists(path);
  if (!there) return there.error();
  if (*there) return {};
  const std::string parent = io::ParentDirectory(path);
  if (const Status made = MakeDirectories(fs, parent); !made) return made;
  if (const Status made = fs.MakeDirectory(path); !made) return made;
  return fs.SyncDirectory(parent);
}

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

Result<FileFacts> CopyTo(io::Source& source, io::WritableFile& out,
                         const std::function<void(std::uint64_t)>& progress) {
  Hasher hasher(DigestAlgorithm::kSha256);
  std::string buffer(kReadBytes, '\0');
  FileFacts copied;
  for (;;) {
    Result<std::size_t> read = source.Read(buffer);
    if (!read) return read.error();
    if (*read == 0) break;
    const std::string_view bytes = std::string_view(buffer).substr(0, *read);
    hasher.Update(bytes);
    if (const Status appended = out.Append(bytes); !appended) return appended.error();
    copied.bytes += bytes.size();
    if (progress) progress(bytes.size());
  }
  copied.sha256 = hasher.Finish().Text();
  return copied;
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
