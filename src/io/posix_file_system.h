#pragma once

#include "io/file_system.h"

namespace stele::io {

// The machine's own files.
class PosixFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<ReadableFile>> OpenForReading(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> OpenForAppending(const std::string& path) override;
  Result<std::unique_ptr<UpdatableFile>> OpenForUpdating(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status MakeDirectory(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& directory) override;
  Result<bool> Exists(const std::string& path) override;
  Result<std::uint64_t> FreeBytes(const std::string& directory) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  Status SyncDirectory(const std::string& directory) override;
  Result<std::unique_ptr<Disk>> OpenDisk(const std::string& directory) override;
};

// What the operating system said about `what`, such as "cannot open a/b".
Error SystemError(std::string_view what, int error_number);

}  // namespace stele::io
