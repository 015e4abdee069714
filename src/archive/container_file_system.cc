#include "archive/container_file_system.h"

namespace stele::archive {
namespace {

class RemoteReadableFile final : public io::ReadableFile {
 public:
  RemoteReadableFile(RemoteVolumes& volumes, RemoteFile file)
      : volumes_(volumes), file_(std::move(file)) {}

  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    return volumes_.Read(file_, offset, out);
  }
  Result<std::uint64_t> Size() const override { return file_.bytes; }

 private:
  RemoteVolumes& volumes_;
  const RemoteFile file_;
};

}  // namespace

Result<std::unique_ptr<io::ReadableFile>> ContainerFileSystem::OpenForReading(
    const std::string& path) {
  std::optional<RemoteFile> remote = RemoteFile::FromPath(path);
  if (!remote) return base_.OpenForReading(path);
  return std::unique_ptr<io::ReadableFile>(
      std::make_unique<RemoteReadableFile>(volumes_, *std::move(remote)));
}

Result<bool> ContainerFileSystem::Exists(const std::string& path) {
  const std::optional<RemoteFile> remote = RemoteFile::FromPath(path);
  return remote ? volumes_.Has(*remote) : base_.Exists(path);
}

}  // namespace stele::archive
