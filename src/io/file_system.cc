#include "io/file_system.h"

namespace stele::io {

std::string ParentDirectory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<std::string> ReadFile(FileSystem& fs, const std::string& path) {
  Result<std::unique_ptr<ReadableFile>> file = fs.OpenForReading(path);
  if (!file) return file.error();
  Result<std::uint64_t> size = (*file)->Size();
  if (!size) return size.error();
  std::string content(*size, '\0');
  Result<std::size_t> read = (*file)->ReadAt(0, content);
  if (!read) return read.error();
  content.resize(*read);
  return content;
}

Status ReplaceFile(FileSystem& fs, const std::string& path, std::string_view content) {
  const std::string temporary = path + ".new";
  Result<std::unique_ptr<WritableFile>> file = fs.Create(temporary);
  if (!file) return file.error();
  Status status = (*file)->Append(content);
  if (status) status = (*file)->Sync();
  if (const Status closed = (*file)->Close(); status && !closed) status = closed;
  if (status) status = fs.Rename(temporary, path);
  if (!status) {
    // The first error is the one to report; the leftover is replaced by the next attempt.
    static_cast<void>(fs.Remove(temporary).ok());
    return status;
  }
  return fs.SyncDirectory(ParentDirectory(path));
}

}  // namespace stele::io
