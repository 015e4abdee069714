#include "net/spool_file.h"

namespace stele::net {

Result<std::unique_ptr<SpoolFile>> SpoolFile::Make(io::FileSystem& fs, const std::string& path) {
  Result<std::unique_ptr<io::WritableFile>> writer = fs.Create(path);
  if (!writer) return writer.error();
  Result<std::unique_ptr<io::ReadableFile>> reader = fs.OpenForReading(path);
  const Status removed = fs.Remove(path);
  if (!reader) return reader.error();
  if (!removed) return removed.error();
  return std::unique_ptr<SpoolFile>(new SpoolFile(std::move(*writer), std::move(*reader)));
}

Status SpoolFile::Append(std::string_view bytes) {
  Status done = writer_->Append(bytes);
  if (done) size_ += bytes.size();
  return done;
}

}  // namespace stele::net
